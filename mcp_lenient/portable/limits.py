"""What providers and clients reject or ignore in a tool: a table of facts, each with its source and date."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from mcp_lenient.schema.drafts import NAMED, ONE, SEVERAL
from mcp_lenient.schema.references import resolve
from mcp_lenient.types import Path
from mcp_lenient.values.json_values import pointer

Effect = Literal["request_fails", "tool_dropped", "call_fails", "ignored"]
"""What happens: the whole request fails, the tool is missing, its calls fail, or a keyword is ignored."""
Place = tuple[Path, Mapping[str, Any]]
Find = Callable[[Mapping[str, Any]], Iterator[Path]]


@dataclass(frozen=True, slots=True)
class Limit:
    """One fact about a provider or client.

    Attributes:
        of: Who has the limit.
        rule: What it asks for.
        effect: What happens otherwise.
        source: Where this is said.
        date: When it was last seen, as year and month.
        find: Returns the paths of the schema that break it; for a limit of names, of nothing.
        name: The regular expression that a tool's name must match; None for a limit of schemas.
    """

    of: str
    rule: str
    effect: Effect
    source: str
    date: str
    find: Find
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A place of a tool that breaks a limit: a JSON Pointer into its input schema, ``""`` for the tool itself."""

    limit: Limit
    pointer: str


def rejections(name: str, schema: Mapping[str, Any], of: str) -> list[Rejection]:
    """Return what one provider or client rejects or ignores in a tool."""
    found = []
    for limit in LIMITS:
        if limit.of != of:
            continue
        if limit.name is not None and re.fullmatch(limit.name, name) is None:
            found.append(Rejection(limit, ""))
        found += [Rejection(limit, pointer(path)) for path in limit.find(schema)]
    return found


# --- finding places ---------------------------------------------------------------------------------------


def places(schema: Any) -> Iterator[Place]:
    """Yield each schema in a schema, with its path."""
    waiting: list[tuple[Path, Any]] = [((), schema)]
    while waiting:
        path, each = waiting.pop()
        if not isinstance(each, Mapping):
            continue
        yield path, each
        for keyword, value in each.items():
            if keyword in NAMED and isinstance(value, Mapping):
                waiting += [((*path, keyword, name), sub) for name, sub in value.items()]
            elif isinstance(value, list) and (keyword in SEVERAL or keyword == "items"):
                waiting += [((*path, keyword, at), sub) for at, sub in enumerate(value)]
            elif keyword in ONE:
                waiting.append(((*path, keyword), value))


def _nothing(_schema: Mapping[str, Any]) -> Iterator[Path]:
    yield from ()


def _where(test: Callable[[Mapping[str, Any]], bool], schema: Mapping[str, Any]) -> Iterator[Path]:
    return (path for path, each in places(schema) if test(each))


def _each(test: Callable[[Mapping[str, Any]], bool]) -> Find:
    return partial(_where, test)


def _keywords(words: str) -> Find:
    forbidden = frozenset(words.split())

    def find(schema: Mapping[str, Any]) -> Iterator[Path]:
        return ((*path, word) for path, each in places(schema) for word in sorted(forbidden & each.keys()))

    return find


def _keywords_but(words: str) -> Find:
    allowed = frozenset(words.split())

    def find(schema: Mapping[str, Any]) -> Iterator[Path]:
        return ((*path, word) for path, each in places(schema) for word in each if word not in allowed)

    return find


def _at_root(words: str) -> Find:
    forbidden = frozenset(words.split())
    return lambda schema: ((word,) for word in sorted(forbidden & schema.keys()))


def _root_is_no_object(schema: Mapping[str, Any]) -> Iterator[Path]:
    if schema.get("type") != "object":
        yield ()


def _root_without_properties(schema: Mapping[str, Any]) -> Iterator[Path]:
    if "properties" not in schema:
        yield ()


def _property_names(pattern: str) -> Find:
    allowed = re.compile(pattern)

    def find(schema: Mapping[str, Any]) -> Iterator[Path]:
        names = schema.get("properties") or {}
        return (("properties", name) for name in names if allowed.fullmatch(name) is None)

    return find


def _invalid(schema: Mapping[str, Any]) -> Iterator[Path]:
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    yield from (tuple(fault.absolute_path) for fault in validator.iter_errors(schema))


def _dangling(schema: Mapping[str, Any]) -> Iterator[Path]:
    for path, each in places(schema):
        reference = each.get("$ref")
        if isinstance(reference, str) and resolve(schema, reference) is None:
            yield (*path, "$ref")


def _types(schema: Mapping[str, Any]) -> list[Any]:
    named = schema.get("type")
    return named if isinstance(named, list) else [named]


def _without_items(schema: Mapping[str, Any]) -> bool:
    return "array" in _types(schema) and not {"items", "prefixItems"} & schema.keys()


def _untyped_items(schema: Mapping[str, Any]) -> bool:
    items = schema.get("items")
    return "array" in _types(schema) and not (
        isinstance(items, Mapping) and {"type", "anyOf", "$ref"} & items.keys()
    )


def _no_text_enum(schema: Mapping[str, Any]) -> bool:
    values = schema.get("enum")
    if not isinstance(values, list):
        return False
    return schema.get("type") != "string" or not all(isinstance(each, str) and each for each in values)


def _object_words_elsewhere(schema: Mapping[str, Any]) -> bool:
    return bool({"properties", "required"} & schema.keys()) and schema.get("type") != "object"


def _undeclared_required(schema: Mapping[str, Any]) -> bool:
    return not set(schema.get("required") or ()) <= set(schema.get("properties") or ())


def _union_with_siblings(schema: Mapping[str, Any]) -> bool:
    return "anyOf" in schema and len(schema) > 1


def _type_beside_union(schema: Mapping[str, Any]) -> bool:
    return {"anyOf", "type"} <= schema.keys()


def _type_list(schema: Mapping[str, Any]) -> bool:
    return isinstance(schema.get("type"), list)


def _type_list_with_more(schema: Mapping[str, Any]) -> bool:
    return _type_list(schema) and bool(schema.keys() - {"type", "description", "title"})


def _untyped_enum(schema: Mapping[str, Any]) -> bool:
    kinds = {type(each) for each in schema.get("enum") or () if each is not None}
    return "enum" in schema and ("type" not in schema or len(kinds) != 1)


def _reference_siblings(schema: Mapping[str, Any]) -> bool:
    return "$ref" in schema and len(schema) > 1


def _other_reference(schema: Mapping[str, Any]) -> bool:
    reference = schema.get("$ref", "#")
    return not (reference == "#" or re.fullmatch(r"#/\$defs/[^/]+", str(reference)))


def _boolean_extra(schema: Mapping[str, Any]) -> bool:
    return isinstance(schema.get("additionalProperties"), bool)


def _open(schema: Mapping[str, Any]) -> bool:
    is_object = "object" in _types(schema) or "properties" in schema
    return is_object and schema.get("additionalProperties") is not False


def _not_all_required(schema: Mapping[str, Any]) -> bool:
    return set(schema.get("properties") or ()) != set(schema.get("required") or ())


def _loose_pattern(schema: Mapping[str, Any]) -> bool:
    pattern = schema.get("pattern", "^$")
    is_anchored = isinstance(pattern, str) and pattern.startswith("^") and pattern.endswith("$")
    return not is_anchored or re.search(r"\(\?[=!<]", pattern) is not None


def _long(least: int) -> Callable[[Mapping[str, Any]], bool]:
    def test(schema: Mapping[str, Any]) -> bool:
        bounds = (schema.get("maxLength"), schema.get("maxItems"))
        return any(isinstance(bound, int) and bound >= least for bound in bounds)

    return test


def _other_format(formats: str) -> Find:
    allowed = formats.split()
    return _each(lambda schema: schema.get("format", allowed[0]) not in allowed)


_TYPED: Final = frozenset("type anyOf oneOf allOf $ref".split())


def _untyped_property(schema: Mapping[str, Any]) -> Iterator[Path]:
    for path, each in places(schema):
        if len(path) > 1 and path[-2] == "properties" and _TYPED.isdisjoint(each):
            yield path


def _untyped(schema: Mapping[str, Any]) -> Iterator[Path]:
    return (
        path
        for path, each in places(schema)
        if path and _TYPED.isdisjoint(each) and "$defs" not in path[-2:-1]
    )


def _reserved_names(schema: Mapping[str, Any]) -> Iterator[Path]:
    reserved = {"$defs", "$ref", "anyOf", "required", "additionalProperties"}
    for path, each in places(schema):
        yield from ((*path, "properties", name) for name in reserved & (each.get("properties") or {}).keys())


def _deeper_than(levels: int) -> Find:
    def find(schema: Mapping[str, Any]) -> Iterator[Path]:
        for path, _ in places(schema):
            words = ("properties", "items", "anyOf", "oneOf", "additionalProperties")
            if sum(part in words for part in path) > levels:
                yield path
                return

    return find


def _optional_without_null(schema: Mapping[str, Any]) -> Iterator[Path]:
    for path, each in places(schema):
        if not {"if", "then", "else", "not"}.isdisjoint(path):
            continue
        required = each.get("required") or ()
        for name, sub in (each.get("properties") or {}).items():
            if name not in required and isinstance(sub, Mapping) and not _says_null(sub):
                yield (*path, "properties", name)


def _says_null(schema: Mapping[str, Any]) -> bool:
    branches = schema.get("anyOf", schema.get("oneOf", ()))
    return "null" in _types(schema) or any(
        isinstance(each, Mapping) and _says_null(each) for each in branches
    )


# --- the table --------------------------------------------------------------------------------------------

_GEMINI_WORDS: Final = (
    "type format title description nullable enum maxItems minItems properties required minProperties maxProperties "
    "minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum"
)
_ROOT: Final = "oneOf anyOf allOf not if then else enum"
_PLAIN: Final = r"[a-zA-Z0-9_-]{1,%d}"


def _gemini(of: str) -> Iterator[Limit]:
    def limit(rule: str, source: str, date: str, find: Find) -> Limit:
        return Limit(of, rule, "request_fails", source, date, find)

    yield limit(
        f"only the keywords {_GEMINI_WORDS.replace(' ', ', ')}",
        "https://github.com/zed-industries/zed/issues/29400, https://github.com/promptfoo/promptfoo/issues/6902",
        "2026-08",
        _keywords_but(_GEMINI_WORDS),
    )
    yield limit(
        "type is one name",
        "https://github.com/akitaonrails/ai-memory/issues/735",
        "2026-09",
        _each(_type_list),
    )
    yield limit(
        "enum holds texts that are not empty, on type string only",
        "https://github.com/sbroenne/mcp-server-excel/issues/607, https://github.com/github/copilot-cli/issues/4835",
        "2026-09",
        _each(_no_text_enum),
    )
    yield limit(
        "arrays have typed items",
        "https://github.com/DEEIX-AI/DEEIX-Chat/issues/546",
        "2026-07",
        _each(_untyped_items),
    )
    yield limit(
        "properties and required only on type object",
        "https://github.com/anomalyco/opencode/issues/11889",
        "2026-02",
        _each(_object_words_elsewhere),
    )
    yield limit(
        "required names are declared",
        "https://github.com/anomalyco/opencode/issues/11889",
        "2026-02",
        _each(_undeclared_required),
    )
    yield limit(
        "each property has a type",
        "https://github.com/google-gemini/gemini-cli/issues/5694",
        "2025-08",
        _untyped_property,
    )
    yield Limit(
        of,
        "tool names have letters, digits and _ : . -, at most 64",
        "request_fails",
        "https://pub.dev/packages/google_cloud_ai_generativelanguage_v1beta",
        "2026-01",
        _nothing,
        r"[a-zA-Z_][a-zA-Z0-9_:.-]{0,63}",
    )


def _anthropic(of: str, effect: Effect = "request_fails") -> Iterator[Limit]:
    yield Limit(
        of,
        "no oneOf, anyOf or allOf at the root",
        effect,
        "https://github.com/anthropics/claude-code/issues/4753, https://github.com/anomalyco/opencode/issues/46628",
        "2026-09",
        _at_root("oneOf anyOf allOf"),
    )
    yield Limit(
        of,
        "the root has type object",
        effect,
        "https://pypi.org/project/litellm/1.109.1/",
        "2026-01",
        _root_is_no_object,
    )
    yield Limit(
        of,
        "parameters are named with letters, digits and _ . -, at most 64",
        effect,
        "https://github.com/ComposioHQ/composio/issues/3500, https://github.com/decocms/studio/issues/6874",
        "2026-09",
        _property_names(r"[a-zA-Z0-9_.-]{1,64}"),
    )
    yield Limit(
        of,
        "valid JSON Schema 2020-12",
        effect,
        "https://github.com/anomalyco/opencode/issues/2082",
        "2025-08",
        _invalid,
    )
    yield Limit(
        of,
        "each $ref has its target",
        effect,
        "https://github.com/perforce/p4mcp-server/issues/3",
        "2026-01",
        _dangling,
    )
    yield Limit(
        of,
        "tool names have letters, digits and _ -, at most 64 (128 in parts)",
        effect,
        "https://github.com/anomalyco/opencode/issues/3354, https://github.com/cloudflare/skills/issues/11",
        "2026-01",
        _nothing,
        _PLAIN % 64,
    )


def _openai(of: str) -> Iterator[Limit]:
    yield Limit(
        of,
        f"the root has type object, and none of {_ROOT.replace(' ', ', ')}",
        "request_fails",
        "https://github.com/langchain-ai/langchainjs/issues/9804",
        "2026-01",
        lambda schema: iter((*_root_is_no_object(schema), *_at_root(_ROOT)(schema))),
    )
    yield Limit(
        of,
        "arrays have items",
        "request_fails",
        "https://github.com/Automattic/wordpress-mcp/issues/103, https://github.com/garrytan/gbrain/issues/1028",
        "2026-05",
        _each(_without_items),
    )
    yield Limit(
        of,
        "the root has properties",
        "request_fails",
        "https://github.com/github/copilot-cli/issues/1825, https://github.com/anomalyco/opencode/issues/32568",
        "2026-06",
        _root_without_properties,
    )
    yield Limit(
        of,
        "valid JSON Schema",
        "request_fails",
        "https://github.com/smallmain/vscode-unify-chat-provider/issues/162",
        "2026-05",
        _invalid,
    )
    yield Limit(
        of,
        "tool names have letters, digits and _ -, at most 64",
        "request_fails",
        "https://github.com/microsoft/vscode/issues/243602",
        "2025-03",
        _nothing,
        _PLAIN % 64,
    )


def _moonshot() -> Iterator[Limit]:
    def limit(rule: str, source: str, date: str, find: Find, name: str | None = None) -> Limit:
        return Limit("moonshot", rule, "request_fails", source, date, find, name)

    walle = "https://github.com/MoonshotAI/walle/blob/main/docs/walle.md"
    yield limit(
        "no type beside anyOf",
        "https://github.com/MoonshotAI/kimi-cli/issues/2531",
        "2026-08",
        _each(_type_beside_union),
    )
    yield limit(
        "$ref leads to # or #/$defs/name",
        "https://github.com/MoonshotAI/kimi-cli/issues/2061",
        "2026-06",
        _each(_other_reference),
    )
    yield limit(
        "nothing beside $ref",
        "https://github.com/MoonshotAI/kimi-cli/issues/2061",
        "2026-06",
        _each(_reference_siblings),
    )
    yield limit(
        "each place has a type", "https://github.com/MoonshotAI/kimi-cli/issues/1595", "2026-03", _untyped
    )
    yield limit("enum has a type, and values of one", walle, "2026-06", _each(_untyped_enum))
    yield limit("only a description beside a type list", walle, "2026-06", _each(_type_list_with_more))
    yield limit(
        "no parameter is called $defs, $ref, anyOf, required or additionalProperties",
        walle,
        "2026-06",
        _reserved_names,
    )
    yield limit("at most 30 nested schemas", walle, "2026-06", _deeper_than(30))
    yield limit(
        "none of oneOf, allOf, not, const, format, prefixItems, exclusiveMinimum, exclusiveMaximum, propertyNames, $schema",
        "https://github.com/MoonshotAI/walle/blob/main/docs/mfjs-walle-vs-draft-2020-12.md",
        "2026-06",
        _keywords(
            "oneOf allOf not const format prefixItems exclusiveMinimum exclusiveMaximum propertyNames $schema"
        ),
    )
    yield limit(
        "tool names start with a letter",
        "https://github.com/MoonshotAI/kimi-cli/issues/2531",
        "2026-07",
        _nothing,
        r"[a-zA-Z].*",
    )


_STRICT_WORDS: Final = (
    "oneOf allOf not dependentRequired dependentSchemas if then else minLength maxLength patternProperties propertyNames "
    "minProperties maxProperties uniqueItems contains default"
)


def _strict() -> Iterator[Limit]:
    profile = "https://jsonschemaprofiles.unitvectorylabs.com/schemas/openai"
    sdk = "https://pypi.org/project/pydantic-ai-slim/2.68.0/"
    rows: tuple[tuple[str, str, str, Find], ...] = (
        ("objects have additionalProperties false", profile, "2026-02", _each(_open)),
        ("each property is required", profile, "2026-02", _each(_not_all_required)),
        (f"none of {_STRICT_WORDS.replace(' ', ', ')}", sdk, "2026-11", _keywords(_STRICT_WORDS)),
        ("nothing beside $ref", sdk, "2026-11", _each(_reference_siblings)),
        (
            "known formats only",
            sdk,
            "2026-11",
            _other_format("date-time time date duration email hostname ipv4 ipv6 uuid"),
        ),
        ("at most 10 levels", profile, "2026-02", _deeper_than(10)),
        ("each place has a type", profile, "2026-02", _untyped),
    )
    for rule, source, date, find in rows:
        yield Limit("openai-strict", rule, "request_fails", source, date, find)
    words = "oneOf minimum maximum minLength maxLength pattern maxItems minItems"
    anthropic = "https://pypi.org/project/anthropic/2.12.0/"
    yield Limit(
        "anthropic-strict",
        "objects have additionalProperties false",
        "request_fails",
        anthropic,
        "2026-01",
        _each(_open),
    )
    yield Limit(
        "anthropic-strict",
        f"none of {words.replace(' ', ', ')}",
        "request_fails",
        anthropic,
        "2026-01",
        _keywords(words),
    )


def _others() -> Iterator[Limit]:
    """Yield the limits of those that have few."""
    rows: tuple[tuple[str, str, Effect, str, str, Find], ...] = (
        (
            "vertex",
            "anyOf stands alone at its place",
            "request_fails",
            "https://github.com/vercel/ai/issues/19000, https://github.com/BerriAI/litellm/issues/11164",
            "2026-08",
            _each(_union_with_siblings),
        ),
        (
            "google-genai",
            "additionalProperties is not a boolean",
            "request_fails",
            "https://github.com/googleapis/python-genai/issues/2393, https://github.com/googleapis/python-genai/issues/2476",
            "2026-11",
            _each(_boolean_extra),
        ),
        (
            "bedrock",
            "no bound of 2^31 and more",
            "request_fails",
            "https://github.com/tailcallhq/forgecode/issues/3307",
            "2026-05",
            _each(_long(2**31)),
        ),
        (
            "mistral",
            "valid JSON Schema",
            "request_fails",
            "https://github.com/SylphxAI/pdf-reader-mcp/issues/63",
            "2025-05",
            _invalid,
        ),
        (
            "groq",
            "a parameter that may be left out may be null",
            "call_fails",
            "https://github.com/HolmesGPT/holmesgpt/issues/2217, https://github.com/vierisid/jarvis/issues/199",
            "2026-06",
            _optional_without_null,
        ),
        (
            "xai",
            "none of minLength, maxLength, minItems, maxItems, minContains, maxContains",
            "request_fails",
            "https://github.com/openclaw/openclaw/commit/00347bda",
            "2026-01",
            _keywords("minLength maxLength minItems maxItems minContains maxContains"),
        ),
        (
            "ollama",
            "only type, items, description, enum, properties and required; other keywords go unread",
            "ignored",
            "https://github.com/ollama/ollama/issues/11444, https://github.com/ollama/ollama/issues/6377",
            "2025-07",
            _keywords_but("type $defs items required properties description enum"),
        ),
        (
            "llama.cpp",
            "patterns begin with ^, end with $, and have no lookaround",
            "request_fails",
            "https://github.com/containers/kubernetes-mcp-server/issues/758, https://github.com/codefuturist/email-mcp/issues/58",
            "2026-07",
            _each(_loose_pattern),
        ),
        (
            "llama.cpp",
            "maxLength and maxItems are below 2,000",
            "request_fails",
            "https://github.com/ggml-org/llama.cpp/issues/25746, https://github.com/firecrawl/firecrawl/issues/4512",
            "2026-09",
            _each(_long(2000)),
        ),
        (
            "llama.cpp",
            "each $ref has its target",
            "request_fails",
            "https://github.com/Epistates/turbovault/issues/51",
            "2026-08",
            _dangling,
        ),
        (
            "cursor",
            "type is one name",
            "call_fails",
            "https://github.com/cursor/cursor/issues/3778",
            "2025-11",
            _each(_type_list),
        ),
        (
            "vscode",
            "arrays have items",
            "request_fails",
            "https://github.com/agentscope-ai/ReMe/issues/84, https://github.com/DollhouseMCP/mcp-server/issues/1566",
            "2026-01",
            _each(_without_items),
        ),
        (
            "vscode",
            "each $ref has its target, outside of $defs",
            "request_fails",
            "https://github.com/PrefectHQ/fastmcp/issues/2808",
            "2026-01",
            _keywords("$ref"),
        ),
        (
            "vscode",
            f"none of {_ROOT.replace(' ', ', ')} at the root",
            "ignored",
            "https://github.com/microsoft/vscode-copilot-chat/blob/main/src/extension/tools/common/toolSchemaNormalizer.ts",
            "2026-01",
            _at_root(_ROOT),
        ),
        (
            "codex",
            "only type, description, enum, items, properties, required, additionalProperties and anyOf",
            "ignored",
            "https://github.com/openai/codex/blob/main/codex-rs/tools/src/json_schema.rs",
            "2026-09",
            _keywords_but("type description enum items properties required additionalProperties anyOf title"),
        ),
        (
            "gemini-cli",
            "each property has a type",
            "tool_dropped",
            "https://github.com/google-gemini/gemini-cli/issues/5694, https://github.com/google/mcp-security/issues/148",
            "2026-05",
            _untyped_property,
        ),
        (
            "gemini-cli",
            "neither $schema nor $ref",
            "tool_dropped",
            "https://github.com/google-gemini/gemini-cli/issues/13326, https://github.com/google-gemini/gemini-cli/issues/14970",
            "2026-01",
            _keywords("$schema $ref"),
        ),
        (
            "n8n",
            "no $ref",
            "ignored",
            "https://github.com/n8n-io/n8n/issues/25964",
            "2026-02",
            _keywords("$ref"),
        ),
        (
            "librechat",
            "the root has properties",
            "request_fails",
            "https://github.com/unclecode/crawl4ai/issues/2207",
            "2026-08",
            _root_without_properties,
        ),
    )
    for of, rule, effect, source, date, find in rows:
        yield Limit(of, rule, effect, source, date, find)
    desktop = "https://github.com/anthropics/claude-code/issues/34960"
    yield Limit(
        "claude-desktop",
        "tool names have letters, digits and _ -, at most 64",
        "tool_dropped",
        desktop,
        "2026-08",
        _nothing,
        _PLAIN % 64,
    )
    bedrock = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html"
    yield Limit(
        "bedrock",
        "tool names have letters, digits and _ -, at most 64",
        "request_fails",
        bedrock,
        "2026-04",
        _nothing,
        _PLAIN % 64,
    )
    deepseek = "https://docs.rs/ds-api/0.10.7"
    yield Limit(
        "deepseek",
        "tool names have letters, digits and _ -, at most 64",
        "request_fails",
        deepseek,
        "2026-01",
        _nothing,
        _PLAIN % 64,
    )


LIMITS: Final = (
    *_anthropic("anthropic"),
    *_anthropic("bedrock"),
    *_anthropic("claude-code", "tool_dropped"),
    *_openai("openai"),
    *_gemini("gemini"),
    *_gemini("vertex"),
    *_moonshot(),
    *_strict(),
    *_others(),
)
"""Every limit, provider by provider."""
STRICT: Final = frozenset({"openai-strict", "anthropic-strict"})
"""Modes that a client asks for, with limits of their own."""


def providers() -> list[str]:
    """Return who has limits, in the order of the table."""
    return list(dict.fromkeys(limit.of for limit in LIMITS))
