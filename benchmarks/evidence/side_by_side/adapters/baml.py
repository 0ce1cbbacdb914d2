"""BAML's runtime parser, offline: a class from the schema, ``parse_llm_response`` with the arguments as text."""

import json
from functools import partial
from itertools import count
from types import ModuleType

from baml_py import BamlRuntime
from baml_py.baml_py import BamlError
from loop import RefusedError, serve

from benchmarks.signatures import UnsupportedError

_SCALARS = {"string": "string", "integer": "int", "number": "float", "boolean": "bool", "null": "null"}
_CHECKS = {
    "minimum": "this >= {}",
    "maximum": "this <= {}",
    "minLength": "this|length >= {}",
    "minItems": "this|length >= {}",
}


class _Source:
    """BAML source for one schema, with the name that each field stands for."""

    def __init__(self, root) -> None:
        self.root = root
        self.classes = []
        self.names = {}
        self.numbers = count()
        self.open = {}

    def type_of(self, node):
        if "$ref" in node:
            return self.referred(node["$ref"])
        if "const" in node or "enum" in node:
            return self.literals(node.get("enum") or [node["const"]])
        branches = node.get("anyOf") or node.get("oneOf")
        if branches:
            return "(" + " | ".join(map(self.type_of, branches)) + ")"
        if "allOf" in node or "prefixItems" in node or "patternProperties" in node or "pattern" in node:
            raise UnsupportedError("allOf, prefixItems, patternProperties, pattern")
        kinds = node.get("type") or []
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if not kinds:
            raise UnsupportedError("a schema without a type")
        return kinds[0] and "(" + " | ".join(self.typed(kind, node) for kind in kinds) + ")"

    def referred(self, reference):
        if reference not in self.open:
            node = self.root
            for part in reference[2:].split("/"):
                node = node[part]
            if "properties" not in node:
                return self.type_of(node)
            self.open[reference] = f"Class{next(self.numbers)}"
            self.add_class(self.open[reference], node)
        return self.open[reference]

    def literals(self, values):
        if not all(isinstance(value, (str, int)) for value in values):
            raise UnsupportedError("a literal that is not a string, integer or boolean")
        return "(" + " | ".join(json.dumps(value, ensure_ascii=False) for value in values) + ")"

    def typed(self, kind, node):
        if kind == "array":
            if "items" not in node:
                raise UnsupportedError("a list of anything")
            return f"{self.type_of(node['items'])}[]"
        if kind != "object":
            return _SCALARS[kind]
        more = node.get("additionalProperties", True)
        if not node.get("properties"):
            if not isinstance(more, dict):
                raise UnsupportedError("a free-form object")
            return f"map<string, {self.type_of(more)}>"
        if more is not False:
            raise UnsupportedError("an object with further keys")
        name = f"Class{next(self.numbers)}"
        self.add_class(name, node)
        return name

    def add_class(self, name, node):
        lines, fields = [], {}
        for key, child in node["properties"].items():
            field = f"field{next(self.numbers)}"
            optional = key not in node.get("required", ())
            checks = " ".join(
                f"@assert(c{next(self.numbers)}, {{{{ {text.format(child[bound])} }}}})"
                for bound, text in _CHECKS.items()
                if bound in child
            )
            lines.append(
                f"  {field} {self.type_of(child)}{'?' if optional else ''} @alias({json.dumps(key, ensure_ascii=False)}) {checks}"
            )
            fields[field] = (key, optional and not _nullable(child))
        self.names[name] = fields
        self.classes.append("class " + name + " {\n" + "\n".join(lines) + "\n}\n")


def _nullable(node):
    return any(branch.get("type") == "null" for branch in node.get("anyOf", ())) or "null" in (
        node.get("type") or ()
    )


class _Made(dict):
    """The BAML class of an object schema."""


def build(schemas, _request):
    """Return calls with one runtime per schema."""
    return [_parser(schema) for schema in schemas]


def _parser(schema):
    source = _Source(schema)
    if schema.get("additionalProperties", True) is not False or not schema["properties"]:
        raise UnsupportedError("an object with further keys")
    source.add_class("Arguments", schema)
    text = "".join(source.classes) + (
        "function Call(text: string) -> Arguments {\n"
        '  client "openai/unused"\n'
        '  prompt #"{{ text }} {{ ctx.output_format }}"#\n}\n'
    )
    try:
        runtime = BamlRuntime.from_files("baml_src", {"main.baml": text}, {})
    except Exception as error:
        raise UnsupportedError(f"no BAML source: {str(error)[:200]}") from error
    module = ModuleType("types")
    for name, fields in source.names.items():
        setattr(module, name, type(name, (), {"model_validate": classmethod(partial(_made, fields))}))
    return partial(_call, runtime, runtime.create_context_manager(), module)


def _made(fields, _kind, values):
    named = _Made()
    for field, value in values.items():
        key, left_out = fields[field]
        if value is not None or not left_out:
            named[key] = value
    return named


def _call(runtime, context, module, arguments):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    try:
        return runtime.parse_llm_response(
            "Call", text, module, module, module, False, context, None, None, {}
        )
    except (BamlError, OverflowError):
        raise RefusedError from None


if __name__ == "__main__":
    serve(build, dict, ("baml-py",))
