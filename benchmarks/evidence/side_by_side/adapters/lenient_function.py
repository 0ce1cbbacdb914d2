"""mcp-lenient as a function: ``normalize`` with the schema."""

from functools import partial

from loop import RefusedError, serve

from mcp_lenient import Policy, normalize

DEFAULT = Policy()


def policy_for(request):
    """Return the request's policy; without declarations always the same object, as users would have."""
    declared = request.get("declared") or {}
    if not declared and not request.get("destructive"):
        return DEFAULT
    return Policy(
        aliases={name: tuple(others) for name, others in declared.get("aliases", {}).items()},
        drop=frozenset(declared.get("drop", ())),
        destructive=request.get("destructive"),
    )


def build(schemas, request):
    """Return calls with one partial per schema."""
    return [partial(_call, schema, policy_for(request)) for schema in schemas]


def _call(schema, policy, arguments):
    result = normalize(schema, arguments, policy)
    if result.violations:
        raise RefusedError([violation.code for violation in result.violations])
    return result.arguments


if __name__ == "__main__":
    serve(build, dict, ("mcp-lenient",), declares=True)
