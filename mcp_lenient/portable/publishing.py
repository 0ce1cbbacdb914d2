"""Turn an author's schema into a published one, with the way back."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import pairwise
from typing import Any, Final, cast
from urllib.parse import unquote

from mcp_lenient.portable.codecs import (
    JSON_KEY,
    SAME,
    Branch,
    Codec,
    Entries,
    Fields,
    Items,
    JsonObject,
    JsonText,
    Later,
    Property,
    ReadBack,
    Union,
)
from mcp_lenient.portable.forms import CONDITIONS, ROOT_COMBINATORS, Form
from mcp_lenient.rules.policy import face_named
from mcp_lenient.schema.compile import ReadableSchema, readable
from mcp_lenient.schema.drafts import DEFINITIONS, UNREAD
from mcp_lenient.schema.node import Node, Tree
from mcp_lenient.schema.references import resolve
from mcp_lenient.types import Path
from mcp_lenient.values.json_values import json_type, plain, pointer

Schema = dict[str, Any]
Converted = tuple[Any, Codec]
"""A published schema, and how its values are said."""
_MOST_SCHEMAS: Final = 5_000
"""Schemas made of one; beyond them a value is JSON text."""
_LONGEST_NOTE: Final = 160
_LONGEST_SCHEMA: Final = 300
_LONGEST_NAME: Final = 64
_MOST_WAYS: Final = 12
_NULL: Final = {"type": "null"}
_ANY_SCALARS: Final = ("string", "number", "boolean")
_NEVER: Final[Mapping[str, Any]] = {"not": {}}
_SCALARS: Final = frozenset({"string", "integer", "number", "boolean"})
_TYPES: Final = _SCALARS | {"null", "array", "object"}
_DESCRIBED: Final = frozenset(
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems"
    " minProperties maxProperties pattern format default examples example enum propertyNames patternProperties contains"
    " not if then else dependentRequired dependentSchemas".split()
)
"""Keywords that the description has where the schema may not."""
_OF_CONTAINERS: Final = frozenset("properties additionalProperties items prefixItems".split())
"""Keywords that hold the schemas of what is in a container."""
_HOLDERS: Final = {"items": "array", "prefixItems": "array"} | dict.fromkeys(
    ("properties", "required", "patternProperties", "additionalProperties"), "object"
)
"""Keywords for what a container holds, by its type."""
_PLACES: Final = frozenset("properties items prefixItems anyOf oneOf allOf additionalProperties".split())
_ABOUT: Final = frozenset("title description default examples example deprecated readOnly writeOnly".split())
_HEADER: Final = "x-mcp-header"
"""The keyword of a parameter that a request repeats in an HTTP header; the SDK compares the two by the listed schema."""
_NOT_ADDED: Final = frozenset("properties required title additionalProperties unevaluatedProperties".split())
"""Keywords of a part of ``allOf`` that do not hold for the whole, or are added by name."""


@dataclass(frozen=True, slots=True)
class Change:
    """A transformation that was applied, and the JSON Pointer of its place in the author's schema."""

    name: str
    pointer: str


@dataclass(frozen=True, slots=True)
class Published:
    """A schema in another form, and how values are said in it.

    Attributes:
        form: The form.
        schema: What is published.
        changes: What was changed.
        secret: Parameters, by both names, whose values are secret or JSON text that may hold one.
        only_value: Parameters in which only one value was allowed at a place whose published schema does not say it.
        lost: Why this schema cannot have the form without losing calls, and is published as it is; None if it has it.
        codec: How values are said; None if they are the same in both forms.
    """

    form: Form
    schema: Mapping[str, Any]
    changes: tuple[Change, ...] = ()
    lost: str | None = None
    secret: frozenset[str] = frozenset()
    only_value: frozenset[str] = frozenset()
    codec: Codec | None = field(default=None, repr=False)

    def say(self, arguments: Mapping[str, Any]) -> Any:
        """Return arguments of the author's schema in the published form.

        Raises:
            CannotSayError: When it has no words for them.
        """
        return arguments if self.codec is None else self.codec.encode(arguments)

    def published_path(self, path: Path, sent: Any = None) -> Path:
        """Return where a value of the author's form is in arguments that were sent, or the nearest place around it."""
        return path if self.codec is None else self.codec.published_path(path, sent)


def publish(schema: Mapping[str, Any], form: str | Form) -> Published:
    """Return a schema in a form that a provider or client takes; the schema is not modified.

    >>> published = publish({"type": "object", "properties": {"n": {"type": ["integer", "null"], "default": None}}}, "portable")
    >>> published.schema
    {'type': 'object', 'properties': {'n': {'type': 'integer'}}}

    Args:
        schema: The author's input schema, of any draft; nothing is fetched.
        form: The form, or its name.

    Raises:
        PolicyError: When there is no such form.
        SchemaError: When the schema is not a JSON object.
    """
    wanted = cast("Form", face_named(form))
    if wanted == Form(name=wanted.name):
        return Published(wanted, schema)
    if wanted.tolerant:
        published = publish(schema, replace(wanted, tolerant=False))
        return replace(published, form=wanted, schema=loosened(published.schema))
    conversion = _Conversion(readable(schema), wanted)
    try:
        listed, codec = conversion.result()
        _refuse_too_many(listed, wanted)
    except _LostError as error:
        return Published(wanted, schema, lost=str(error))
    changes = tuple(conversion.changes)
    is_same = {**schema, "$schema": None} == {**listed, "$schema": None}
    if not changes and is_same and ("$schema" not in schema or wanted.allows("$schema")):
        return Published(wanted, schema)
    return Published(
        wanted,
        listed,
        changes,
        secret=frozenset(conversion.secret),
        only_value=frozenset(conversion.only_value),
        codec=codec if conversion.changes_values else None,
    )


def loosened(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema by which a client that validates calls itself sends nearly right ones.

    Each parameter may also be a text, or null where it may be left out; its description has its values and limits, and
    other names are allowed. What is inside a parameter, and a parameter that a header repeats, stays as it is.

    >>> loosened({"properties": {"n": {"type": "integer", "minimum": 1}}, "additionalProperties": False})
    {'properties': {'n': {'description': '(minimum: 1)', 'type': ['integer', 'string', 'null']}}}
    """
    properties, required = schema.get("properties"), _list(schema, "required")
    if not isinstance(properties, Mapping):
        return schema
    listed = {
        name: _loosened(schema, sub, is_optional=name not in required) for name, sub in properties.items()
    }
    closing = ("additionalProperties",) if schema.get("additionalProperties") is False else ()
    return {**_except(schema, *closing), "properties": listed}


def _loosened(root: Mapping[str, Any], sub: Any, *, is_optional: bool) -> Any:
    """Return the schema of a parameter that may also be a text, and null if it is optional."""
    author = _target(root, sub)
    if not isinstance(author, Mapping) or _has_header(author) or not author.keys() - _ABOUT:
        return sub
    about, asserted = _only(author, *_ABOUT), _except(author, *_ABOUT)
    word = next((word for word in ("anyOf", "oneOf") if _list(author, word)), None)
    branches = [asserted] if word is None else [_target(root, branch) for branch in author[word]]
    types: list[str | None] = [kind for branch in branches for kind in _types(branch) or (None,)]
    also = ["string", "null"] if is_optional else ["string"]
    if None in types or len(types) > len(set(types)) or (word is not None and len(asserted) > 1):
        branches = author["anyOf"] if word == "anyOf" and len(asserted) == 1 else [asserted]
        others = ({"type": kind} for kind in also)
        return {**about, "anyOf": [*branches, *(branch for branch in others if branch not in branches)]}
    for branch in branches:
        _describe_limits(about, branch)
    wanted = list(dict.fromkeys([*types, *also]))
    return {**about, "type": wanted if len(wanted) > 1 else wanted[0]}


def _target(root: Mapping[str, Any], schema: Any) -> Any:
    """Return the schema that a reference leads to, with what is beside it."""
    reference = schema.get("$ref") if isinstance(schema, Mapping) else None
    target = resolve(root, reference) if isinstance(reference, str) else None
    return _together(target, _except(schema, "$ref")) if isinstance(target, Mapping) else schema


def _types(branch: Any) -> list[str] | None:
    """Return the types of all values that a schema takes; None if it does not say them itself."""
    if not isinstance(branch, Mapping) or _combines(branch) or "$ref" in branch:
        return None
    values = [branch["const"]] if "const" in branch else _list(branch, "enum")
    types = _list(branch, "type") or list(map(json_type, values))
    types = [branch["type"]] if isinstance(branch.get("type"), str) else types
    types = [*types, "null"] if types and branch.get("nullable") is True else types
    are_types = all(isinstance(kind, str) and kind in _TYPES for kind in types)
    return list(dict.fromkeys(types)) if types and are_types else None


def _list(schema: Mapping[str, Any], keyword: str) -> list[Any]:
    """Return what a keyword lists; nothing where a stranger's schema has another value."""
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def _describe_limits(listed: Schema, branch: Mapping[str, Any]) -> None:
    """Add a branch to a schema of several types: what its containers hold, and its values and limits as a description."""
    kinds = _types(branch) or ()
    for keyword, value in branch.items():
        if keyword in _ABOUT or _HOLDERS.get(keyword) in kinds:
            listed.setdefault(keyword, value)
        elif keyword == "const" or (keyword in _DESCRIBED and value not in (None, {}, [], False)):
            _add_note(listed, _keyword_note(keyword, value, _LONGEST_SCHEMA))


def read_back(published: Published, arguments: Mapping[str, Any]) -> ReadBack:
    """Return arguments of the published form in the author's; the author's own form stays as it is.

    >>> schema = {"type": "object", "properties": {"labels": {"type": "object", "additionalProperties": {"type": "string"}}}}
    >>> read_back(publish(schema, "portable"), {"labels": [{"key": "a", "value": "b"}]}).arguments
    {'labels': {'a': 'b'}}

    ``{"json": "..."}`` for any value is always of the published form, in which the same object is said as JSON text.
    """
    read = spelled_back(published, arguments)
    return read if read.arguments is arguments else replace(read, arguments=plain(read.arguments))


def spelled_back(published: Published, arguments: Mapping[str, Any]) -> ReadBack:
    """Return what :func:`read_back` does, with the source spelling of numbers in JSON text."""
    if published.codec is None:
        return ReadBack(arguments)
    faults: list[Any] = []
    read = published.codec.decode(arguments, (), faults)
    return ReadBack(read, tuple(faults))


def is_any_value(schema: Mapping[str, Any]) -> bool:
    """Return whether a published schema says any value: a scalar, or another one as JSON text in an object."""
    *scalars, other = schema.get("anyOf") or [None]
    is_object = isinstance(other, Mapping) and (other.get("properties") or {}).keys() == {JSON_KEY}
    return is_object and tuple(branch.get("type") for branch in scalars) == _ANY_SCALARS


class _LostError(Exception):
    """Raised where a form cannot say every call; the message is why."""


def _refuse_too_many(schema: Schema, form: Form) -> None:
    """Raise where a schema has more optional properties or unions than a form takes."""
    if form.most_optional is None and form.most_unions is None:
        return
    from mcp_lenient.portable.provider_limits import ListedTool, optional_properties, unions

    tool = ListedTool("", schema)
    for count, most, what in (
        (len(list(optional_properties(tool))), form.most_optional, "parameters that may be left out"),
        (unions(tool), form.most_unions, "unions"),
    ):
        if most is not None and count > most:
            msg = f"it has {count} {what}, of which at most {most} are taken"
            raise _LostError(msg)


def _only(schema: Mapping[str, Any], *keywords: str) -> Schema:
    return {name: entry for name, entry in schema.items() if name in keywords}


def _except(schema: Mapping[str, Any], *keywords: str) -> Schema:
    return {name: entry for name, entry in schema.items() if name not in keywords}


def _short(value: Any, limit: int = _LONGEST_NOTE) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _add_note(schema: Schema, text: str) -> None:
    description = schema.get("description")
    description = description if isinstance(description, str) else ""
    if text not in description:
        schema["description"] = f"{description} ({text})".lstrip()


def _keyword_note(keyword: str, value: Any, limit: int = _LONGEST_NOTE) -> str:
    return f"{keyword}: {_short(value, limit)}"


class _Conversion:
    """The conversion of one schema."""

    def __init__(self, read: ReadableSchema, form: Form) -> None:
        self.changes: list[Change] = []
        self.changes_values = False
        self.secret: set[str] = set()
        self.only_value: set[str] = set()
        self._root = read.root
        self._tree = Tree(read)
        self._form = form
        self._count = 0
        self._codecs = 0
        self._unions = 0
        self._alternatives: dict[int, Any] = {}
        self._open: list[str] = []
        self._definitions: dict[tuple[str, bool], tuple[str, Later]] = {}
        self._published: dict[str, Any] = {}

    def result(self) -> Converted:
        """Return the published schema."""
        root = dict(self._root)
        if root.get("type") != "object" and not ("$ref" in root or _combines(root)):
            root["type"] = "object"
        listed, codec = self._schema(root, (), is_root=True)
        return self._complete({**listed, "$defs": self._published} if self._published else listed), codec

    def _complete(self, listed: Schema) -> Schema:
        """Add the definitions that kept parts refer to as the author wrote them."""
        waiting: list[Any] = [listed]
        while waiting:
            part = waiting.pop()
            waiting += part.values() if isinstance(part, Mapping) else part if isinstance(part, list) else ()
            reference = part.get("$ref") if isinstance(part, Mapping) else None
            if not isinstance(reference, str) or resolve(listed, reference) is not None:
                continue
            _, word, *name = reference.split("/")
            target = resolve(self._root, reference)
            if word in DEFINITIONS and len(name) == 1:
                listed = {**listed, word: {**listed.get(word, {}), unquote(name[0]): target}}
                waiting.append(target)
        return listed

    def _use(self, name: str, at: Path) -> None:
        self.changes.append(Change(name, pointer(at)))

    def _recode(self, name: str, at: Path) -> None:
        """Note a change by which values differ as well."""
        self._use(name, at)
        self.changes_values = True
        self._codecs += 1

    # One place

    def _schema(self, schema: Any, at: Path, *, is_root: bool = False) -> Converted:
        """Return the published schema of a place, and how its values are said."""
        self._count += 1
        if isinstance(schema, bool) or not isinstance(schema, Mapping):
            return self._any_value({}, at) if schema is not False else (dict(_NEVER), SAME)
        deepest, levels = self._form.deepest, sum(part in _PLACES for part in at)
        is_deep = levels > deepest or len(at) > 4 * deepest or self._count > _MOST_SCHEMAS
        if is_deep and not is_root and not _is_scalar(schema):
            return self._as_text(schema, at, "deep")
        if schema.get("writeOnly") is True or schema.get("format") == "password":
            self._mark_secret(at)
        author = _except(schema, UNREAD, *DEFINITIONS)
        if "$ref" not in author:
            author = self._rewritten(author, at, is_root=is_root)
        if "$ref" in author:
            return self._reference(author, at, is_root=is_root)
        for word in ("anyOf", "oneOf"):
            if word in author:
                return self._union(author, word, at)
        return self._typed(author, at, is_root=is_root)

    def _mark_secret(self, at: Path) -> None:
        names = [name for word, name in pairwise(at) if word == "properties"]
        self.secret.update(map(str, names[-1:]))

    def _typed(self, author: Schema, at: Path, *, is_root: bool) -> Converted:
        kind = author.get("type")
        if kind == "object":
            return self._object(author, at, is_root=is_root)
        if kind == "array":
            return self._array(author, at)
        if kind is None and not author.keys() & {"enum", "const", "oneOf", "allOf", "not", "if"}:
            return self._any_value(author, at)
        return self._allowed(author, at), SAME

    def _rewritten(self, author: Schema, at: Path, *, is_root: bool) -> Schema:
        """Return a schema with the keywords that the form has another one for."""
        form = self._form
        at_root = is_root and not form.root_combinators and ROOT_COMBINATORS & author.keys()
        if at_root or self._must_merge(author):
            author = self._merged(author, at, is_root=is_root)
        if "oneOf" in author and not form.allows("oneOf"):
            self._use("one_of_to_any_of", at)
            more = author.pop("oneOf")
            author.pop("discriminator", None)
            author.setdefault("anyOf", more)
        if "const" in author and not form.allows("const"):
            self._use("const_to_enum", at)
            author["enum"] = [author.pop("const")]
        self._with_implied_type(author, at)
        return self._without_lists(author, at)

    def _must_merge(self, author: Schema) -> bool:
        """Return whether combinators beside properties must become one object."""
        form, is_object = self._form, author.get("type") == "object" or "properties" in author
        if "allOf" in author and not form.allows("allOf"):
            return True
        unions = author.keys() & {"anyOf", "oneOf"}
        is_apart = form.any_of_alone or form.closed or not form.allows("oneOf")
        return bool(unions) and ("properties" in author or (is_object and is_apart))

    def _with_implied_type(self, author: Schema, at: Path) -> None:
        if "type" in author or _combines(author) or not self._form.types_required:
            return
        if author.keys() & {"properties", "additionalProperties", "required"}:
            implied = ["object"]
        elif author.keys() & {"items", "prefixItems"}:
            implied = ["array"]
        elif isinstance(values := [author["const"]] if "const" in author else author.get("enum"), list):
            implied = list(dict.fromkeys(map(json_type, values)))
        else:
            return
        if {"integer", "number"} <= set(implied):
            implied.remove("integer")
        self._use("type_added", at)
        author["type"] = implied[0] if len(implied) == 1 else implied

    def _without_lists(self, author: Schema, at: Path) -> Schema:
        """Return a schema whose type is one name, and the others are branches."""
        types = author.get("type")
        if not isinstance(types, list):
            return author
        if len(types) == 1:
            return {**author, "type": types[0]}
        has_container = not {"array", "object"}.isdisjoint(types)
        is_apart = self._form.closed or self._form.items_required or not _OF_CONTAINERS.isdisjoint(author)
        if self._form.type_lists and not (has_container and is_apart):
            return author
        self._use("type_list_to_any_of", at)
        outside = _only(author, *_ABOUT)
        inside = _except(author, "type", *_ABOUT)
        return {**outside, "anyOf": [_of_type(inside, kind) for kind in types if _of_type(inside, kind)]}

    def _allowed(self, author: Schema, at: Path) -> Schema:
        """Return the keywords that the form allows; the description says the others."""
        listed: Schema = {}
        notes: list[str] = []
        for keyword, value in author.items():
            if keyword in _OF_CONTAINERS or keyword in ("anyOf", "oneOf"):
                continue
            if self._stays(keyword, value, author):
                listed[keyword] = value
                continue
            is_described = keyword in _DESCRIBED and value not in (None, {}, [], False)
            self._use(f"{keyword}_{'to_description' if is_described else 'dropped'}", at)
            if keyword in ("const", "enum") and (keyword == "const" or len(value) == 1):
                self.only_value.update(map(str, at[1:2]))
            if is_described:
                notes.append(_keyword_note(keyword, value))
        for text in notes:
            _add_note(listed, text)
        return listed

    def _stays(self, keyword: str, value: Any, author: Schema) -> bool:
        form = self._form
        if keyword in ("type", _HEADER):
            return True
        if not form.allows(keyword):
            return False
        if keyword == "format":
            return form.formats is None or value in form.formats
        if keyword == "pattern" and form.anchored_patterns:
            is_anchored = isinstance(value, str) and value.startswith("^") and value.endswith("$")
            return is_anchored and re.search(r"\(\?[=!<]", value) is None
        if keyword in ("maxLength", "maxItems") and form.longest is not None:
            return isinstance(value, int) and value < form.longest
        if keyword == "enum" and not value:
            return False
        if keyword == "enum" and form.enums == "texts":
            return author.get("type") == "string" and all(isinstance(text, str) and text for text in value)
        return True

    def _any_value(self, author: Schema, at: Path) -> Converted:
        form = self._form
        if form.any_value and not form.types_required:
            return self._allowed(author, at), SAME
        self._recode("any_value_to_scalar_or_json", at)
        about = self._allowed(_except(author, "type"), at)
        branches: list[Schema] = [{"type": kind} for kind in _ANY_SCALARS]
        branches.append(self._json_object("any other value, as JSON text"))
        return self._beside(about, "anyOf", branches), JsonObject(scalars=True)

    def _json_object(self, description: str) -> Schema:
        listed = {
            "type": "object",
            "description": description,
            "properties": {JSON_KEY: {"type": "string"}},
            "required": [JSON_KEY],
        }
        return {**listed, "additionalProperties": False} if self._form.closed else listed

    def _as_text(self, author: Mapping[str, Any], at: Path, why: str, authors: Any = None) -> Converted:
        """Return a text that holds the value as JSON; an object with it where a text may be another value of the author's."""
        self._recode(f"{why}_to_json_text", at)
        self._mark_secret(at)
        listed: Schema = {"type": "string"}
        if isinstance(author.get("description"), str):
            listed["description"] = author["description"]
        rest = _except(author, UNREAD, *DEFINITIONS, *_ABOUT)
        if isinstance(rest.get("additionalProperties"), bool):
            del rest["additionalProperties"]
        kind = f"a JSON {author['type']}" if author.get("type") in ("object", "array") else "JSON"
        wanted = (
            f", of this schema: {_short(rest, _LONGEST_SCHEMA)}" if rest.keys() - {"type", "$ref"} else ""
        )
        _add_note(listed, f"{kind} as text{wanted}")
        node = self._tree.node(authors or author)
        if self._unions or node.accepts_any_type or "string" in node.accepted_types:
            return self._json_object(listed["description"]), JsonObject()
        return listed, JsonText()

    def _beside(self, about: Schema, word: str, branches: list[Schema]) -> Schema:
        """Return a union; its description is on the branches where nothing may stand beside it."""
        if not self._form.any_of_alone:
            return {**about, word: branches}
        text = about.get("description")
        for branch in branches if isinstance(text, str) else ():
            if "$ref" not in branch:
                branch["description"] = " ".join(filter(None, (text, branch.get("description"))))
        return {word: branches}

    # References

    def _reference(self, author: Schema, at: Path, *, is_root: bool) -> Converted:
        reference = author["$ref"]
        beside = _except(author, "$ref")
        target = resolve(self._root, reference) if isinstance(reference, str) else None
        if not isinstance(target, Mapping):
            return self._schema(beside or (target if isinstance(target, bool) else {}), at, is_root=is_root)
        form, is_plain = self._form, not (beside.keys() - {"description", "title", "default"})
        if form.allows("$ref") and not is_root and is_plain and (form.beside_reference or not beside):
            return self._defined(reference, target, beside)
        if reference in self._open:
            about = _only({**target, **beside}, "description", "title")
            return self._as_text(about, at, "recursion", target)
        self._use("reference_inlined", at)
        self._open.append(reference)
        converted = self._schema(_together(target, beside), at, is_root=is_root)
        self._open.pop()
        return converted

    def _defined(self, reference: str, target: Mapping[str, Any], beside: Schema) -> Converted:
        """Return a reference to a published definition, whose values may differ."""
        self._codecs += 1
        key = reference, self._unions > 0
        if key not in self._definitions:
            name = re.sub(r"[^A-Za-z0-9_.-]", "_", reference.rpartition("/")[2]).strip("_") or "schema"
            taken = {name for name, _ in self._definitions.values()}
            while name in taken:
                name += "_"
            later = Later()
            self._definitions[key] = name, later
            self._published[name], later.codec = self._schema(target, ("$defs", name))
        name, later = self._definitions[key]
        beside_reference = {word: entry for word, entry in beside.items() if self._form.allows(word)}
        return {"$ref": f"#/$defs/{name}", **beside_reference}, later

    # Unions

    def _union(self, author: Schema, word: str, at: Path) -> Converted:
        members = [branch for branch in author[word] if branch not in (False, _NEVER)]
        around = _except(author, word)
        about, inside = _only(around, *_ABOUT), _except(around, *_ABOUT)
        if len(members) == 1 and len(members) < len(author[word]):
            self._use("branch_dropped", at)
            return self._schema(_together(members[0], around), at)
        if inside and (self._form.any_of_alone or not _OF_CONTAINERS.isdisjoint(inside)):
            self._use("moved_into_any_of", at)
            members = [_together(member, inside, is_outside=True) for member in members]
            inside = {}
        codecs, is_union = self._codecs, sum(not _is_null(member) for member in members) > 1
        self._unions += is_union
        converted = [self._schema(member, (*at, word, str(place))) for place, member in enumerate(members)]
        self._unions -= is_union
        about = self._allowed({**inside, **about}, at)
        listed = self._beside(about, word, [schema for schema, _ in converted])
        return listed, SAME if self._codecs == codecs else Union(tuple(map(self._branch, members, converted)))

    def _branch(self, member: Any, converted: Converted) -> Branch:
        schema, codec = converted

        @cache
        def published() -> Node:
            return Tree(readable({**schema, "$defs": self._published} if self._published else schema)).top

        author = partial(self._tree.node, member)
        return Branch(lambda value: author().accepts(value), lambda value: published().accepts(value), codec)

    # Arrays

    def _array(self, author: Schema, at: Path) -> Converted:
        first, items = author.get("prefixItems"), author.get("items")
        if isinstance(first, list) and not self._form.allows("prefixItems"):
            return self._as_text(author, at, "tuple")
        listed, form = self._allowed(author, at), self._form
        converted = [self._schema(item, (*at, "prefixItems", str(n))) for n, item in enumerate(first or ())]
        if first is not None:
            listed["prefixItems"] = [schema for schema, _ in converted]
        elif items is None and (form.types_required or not form.any_value):
            items = {}
        elif items is None and form.items_required:
            self._use("items_added", at)
            listed["items"] = {}
        rest: Codec = SAME
        if first is not None and isinstance(items, bool):
            listed["items"] = items
        elif items is not None:
            listed["items"], rest = self._schema(items, (*at, "items"))
        return listed, Items(rest, tuple(codec for _, codec in converted))

    # Objects

    def _object(self, author: Schema, at: Path, *, is_root: bool) -> Converted:
        properties = author.get("properties")
        declared = {name: sub for name, sub in (properties or {}).items() if sub not in (False, _NEVER)}
        others = _others(author)
        if self._unions and not self._stays_object(author, declared, at):
            return self._as_text(author, at, "object")
        if not declared and not is_root:
            if isinstance(others, Mapping) and others.keys() - _ABOUT and not self._form.maps:
                return self._entries(author, others, at)
            if not self._form.free_objects and (others is not False or "patternProperties" in author):
                return self._as_text(author, at, "free_object")
        listed = self._allowed(_except(author, "required"), at)
        listed_properties, published = self._properties(author, declared, at)
        required = self._required(author, published, listed, at)
        others_codec = self._undeclared(author, listed, at)
        if properties is not None or listed_properties or self._form.properties_required:
            if properties is None and not listed_properties:
                self._use("properties_added", at)
            listed["properties"] = listed_properties
        if required or self._form.all_required:
            listed["required"] = required
        if not is_root and not listed_properties and not self._form.free_objects:
            return self._as_text(author, at, "free_object")
        return listed, Fields(published, others_codec)

    def _stays_object(self, author: Schema, declared: Schema, at: Path) -> bool:
        """Return whether the form has the author's names for these properties, and leaves out what may be left out."""
        is_nested = "properties" in at
        is_complete = not self._form.all_required or declared.keys() <= set(author.get("required") or ())
        return is_complete and all(
            self._keeps_name(name, sub, is_nested=is_nested) for name, sub in declared.items()
        )

    def _properties(
        self, author: Schema, declared: Mapping[str, Any], at: Path
    ) -> tuple[Schema, dict[str, Property]]:
        required = author.get("required") or ()
        listed: Schema = {}
        published: dict[str, Property] = {}
        taken = {*declared, *(name for name in required if isinstance(name, str))}
        for name, sub in declared.items():
            here = (*at, "properties", name)
            keeps_name = self._keeps_name(name, sub, is_nested="properties" in at)
            listed_name = name if keeps_name else self._renamed(name, taken, here)
            is_alternative = id(sub) in self._alternatives
            self._unions += is_alternative
            schema, entry = self._property(sub, listed_name, here, is_required=name in required)
            self._unions -= is_alternative
            if name in self.secret:
                self.secret.add(listed_name)
            if listed_name != name:
                _note_everywhere(schema, f"this is {name!r}")
            listed[listed_name], published[name] = schema, entry
        return listed, published

    def _keeps_name(self, name: str, sub: Any, *, is_nested: bool) -> bool:
        """Return whether the form takes the name of a property, or a header has its value."""
        form = self._form
        pattern = form.property_names if form.nested_names or not is_nested else None
        is_right = pattern is None or re.fullmatch(pattern, name) is not None
        return (is_right and name not in form.reserved_names) or _has_header(sub)

    def _renamed(self, name: str, taken: set[str], at: Path) -> str:
        """Return another name for a property, that no other one has."""
        self._recode("property_renamed", at)
        listed_name = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_") or "parameter"
        if len(listed_name) > _LONGEST_NAME - 2:
            listed_name = f"{listed_name[: _LONGEST_NAME - 12]}_{hashlib.sha256(name.encode(errors='replace')).hexdigest()[:8]}"
        while listed_name in taken or listed_name in self._form.reserved_names:
            listed_name += "_"
        taken.add(listed_name)
        return listed_name

    def _property(self, sub: Any, name: str, at: Path, *, is_required: bool) -> tuple[Schema, Property]:
        """Return the published schema of a property, and how it is said and left out."""
        form, takes_null = self._form, self._takes_null(sub)
        default = sub.get("default", ...) if isinstance(sub, Mapping) else ...
        is_same = takes_null and not is_required and default is None
        if is_same and not form.optional_null and isinstance(sub, Mapping):
            without = self._without_null(sub)
            if without is not None:
                self._recode("null_to_absent", at)
                schema, codec = self._schema(without, at)
                return schema, Property(name, codec, drops_null=True)
        schema, codec = self._schema(sub, at)
        if form.all_required and not is_required and _has_header(sub):
            msg = f"at {pointer(at)}, a header has the value, which cannot be null"
            raise _LostError(msg)
        if form.all_required and not is_required and (takes_null or self._unions) and not is_same:
            msg = f"at {pointer(at)}, null and leaving it out mean different things"
            raise _LostError(msg)
        takes_null_for_absent = form.null_for_absent and not (takes_null or _has_header(sub))
        if is_required or not (form.all_required or takes_null_for_absent):
            return schema, Property(name, codec)
        self._recode("absent_to_null", at)
        if not takes_null or not ("$ref" in schema or self._takes_null(schema)):
            schema = _nullable(schema)
            _note_everywhere(schema, "null to leave it out")
        return schema, Property(
            name,
            codec,
            null_is_absent=not self._unions,  # in a union another branch may take the null
            is_required=form.all_required,
        )

    def _required(
        self, author: Schema, by_name: Mapping[str, Property], listed: Schema, at: Path
    ) -> list[str]:
        names = [name for name in author.get("required") or () if isinstance(name, str)]
        if self._form.all_required:
            return [entry.name for entry in by_name.values()]
        required = [by_name[name].name for name in names if name in by_name]
        undeclared = [name for name in names if name not in by_name]
        if undeclared and self._form.undeclared_required:
            return required + undeclared
        if undeclared:
            self._use("undeclared_required_to_description", at)
            _add_note(listed, f"also needs {_short(', '.join(undeclared))}")
        return required

    def _undeclared(self, author: Schema, listed: Schema, at: Path) -> Codec | None:
        """Return how the values of undeclared names are said, which stay as they are; None where the form forbids such names."""
        others = author.get("additionalProperties")
        if self._form.closed:
            listed["additionalProperties"] = False
            if others is not False:
                self._use("closed", at)
            return None
        if self._form.allows("additionalProperties") and self._form.maps:
            if isinstance(others, Mapping) and _others(author) is not True:
                self._unions += "patternProperties" in author  # a name of a pattern may have another value
                listed["additionalProperties"], codec = self._schema(others, (*at, "additionalProperties"))
                self._unions -= "patternProperties" in author
                return codec
            if others is not None:
                # A form without the patterns would forbid the names that match them.
                lacks_patterns = "patternProperties" in author and not self._form.allows("patternProperties")
                listed["additionalProperties"] = others is not False or lacks_patterns
        elif others is not None:
            self._use("additionalProperties_dropped", at)
            if others is not False:
                _add_note(listed, _keyword_note("additionalProperties", others))
        return SAME

    def _entries(self, author: Schema, values: Any, at: Path) -> Converted:
        """Return a list of names and values; JSON text in a union, where a list may be another value."""
        if self._unions:
            return self._as_text({**author, "additionalProperties": values}, at, "map")
        self._recode("map_to_entries", at)
        bounds = ("minProperties", "maxProperties")
        listed = self._allowed(_except(author, "type", "required", *bounds), at)
        for keyword, bound in _only(author, *bounds).items():
            _add_note(listed, _keyword_note(keyword, bound))
        _add_note(listed, "a list of names and values")
        schema, codec = self._schema(values, (*at, "additionalProperties"))
        item: Schema = {
            "type": "object",
            "properties": {"key": {"type": "string"}, "value": schema},
            "required": ["key", "value"],
        }
        if self._form.closed:
            item["additionalProperties"] = False
        return {"type": "array", **listed, "items": item}, Entries(codec)

    # Null

    def _takes_null(self, schema: Any) -> bool:
        return self._tree.node(schema).accepts(None)

    def _without_null(self, sub: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return a schema without its null; None if null is all it takes, or it is said elsewhere."""
        if "$ref" in sub:
            return None
        changed = dict(sub)
        if changed.get("default", ...) is None:
            del changed["default"]
        if isinstance(changed.get("enum"), list):
            changed["enum"] = [member for member in changed["enum"] if member is not None]
        if isinstance(changed.get("type"), list):
            types = [kind for kind in changed["type"] if kind != "null"]
            changed["type"] = types[0] if len(types) == 1 else types
        word = next((keyword for keyword in ("anyOf", "oneOf") if keyword in changed), None)
        if word is not None:
            branches = [branch for branch in changed[word] if branch != _NULL and not _is_null(branch)]
            if len(branches) == 1 and isinstance(branches[0], Mapping):
                del changed[word]
                changed = _together(branches[0], changed)
            else:
                changed[word] = branches
        takes_more = changed.get("type", True) not in ([], "null") and changed.get("enum", True) != []
        return changed if takes_more and not self._takes_null(changed) else None

    # Combinators

    def _merged(self, author: Schema, at: Path, *, is_root: bool) -> Schema:
        """Return a schema with its combinators as plain properties: wider, so that every valid call stays."""
        self._use("combinators_merged", at)
        words = ROOT_COMBINATORS if is_root else {"anyOf", "oneOf", "allOf"}
        listed = _except(author, *words)
        listed["properties"] = dict(listed.get("properties") or {})
        required = list(listed.get("required") or ())
        for member in self._members(author.get("allOf", ()), is_root=is_root):
            _add_member(listed, member)
            required += [name for name in member.get("required", ()) if name not in required]
        for word in ("anyOf", "oneOf"):
            members = list(self._members(author.get(word, ()), is_root=is_root))
            if members and not (is_root or listed["properties"] or any(map(_is_of_objects, members))):
                listed[word] = author[word]
            else:
                required += self._add_branches(listed, members, required, is_one=word == "oneOf")
        for word, condition in _only(author, *CONDITIONS & words).items():
            _add_note(listed, _keyword_note(word, condition))
        conditional = [author[word] for word in ("then", "else") if is_root and word in author]
        for member in self._members(conditional, is_root=True):
            for name, sub in (member.get("properties") or {}).items():
                listed["properties"].setdefault(name, self._alternative(sub))
        if is_root or listed["properties"]:
            listed["type"] = "object"
        elif listed.get("type") != "object":
            del listed["properties"]
        return {**listed, "required": required} if required else listed

    def _members(self, members: Any, *, is_root: bool) -> Iterator[Schema]:
        """Yield the object schemas of a combinator, with references followed and their own ``allOf`` merged."""
        for entry in members if isinstance(members, list) else ():
            member = self._followed(entry)
            if isinstance(member, Mapping) and member != _NEVER:
                self._count += 1
                nested = member.keys() & {"allOf", "anyOf", "oneOf"} and self._count < _MOST_SCHEMAS
                yield self._merged(dict(member), ("allOf",), is_root=is_root) if nested else dict(member)

    def _followed(self, schema: Any) -> Any:
        for _ in range(16):
            if not isinstance(schema, Mapping) or "$ref" not in schema:
                return schema
            beside = _except(schema, "$ref")
            target = resolve(self._root, schema["$ref"])
            schema = _together(target, beside) if isinstance(target, Mapping) else beside
        return {}

    def _alternative(self, schema: Any) -> Any:
        """Note that a property's schema holds for some of the accepted objects only, as a branch of a union does."""
        self._alternatives[id(schema)] = schema  # kept alive, so that its id is not reused
        return schema

    def _add_branches(
        self, listed: Schema, members: list[Schema], required: list[str], *, is_one: bool
    ) -> list[str]:
        """Add the properties of alternatives; return the names that all of them require."""
        required_names = (member.get("required", ()) for member in members)
        lists = [[name for name in names if isinstance(name, str)] for names in required_names]
        common = [name for name in lists[0] if all(name in names for names in lists)] if lists else []
        for member in members:
            for name, sub in (member.get("properties") or {}).items():
                listed["properties"][name] = self._alternative(_either(listed["properties"].get(name), sub))
        required_anyway = {*common, *required}
        sets = [", ".join(name for name in names if name not in required_anyway) for names in lists]
        if any(sets):
            choices = "; or ".join(names or "none of these" for names in dict.fromkeys(sets[:_MOST_WAYS]))
            number = "exactly" if is_one else "at least"
            _add_note(listed, f"needs {number} one of: {_short(choices, _LONGEST_SCHEMA)}")
        return [name for name in common if name not in required]


def _has_header(schema: Any) -> bool:
    return isinstance(schema, Mapping) and _HEADER in schema


def _combines(schema: Mapping[str, Any]) -> bool:
    return not {"anyOf", "oneOf", "allOf"}.isdisjoint(schema)


def _together(schema: Any, beside: Mapping[str, Any], *, is_outside: bool = False) -> Any:
    """Return a schema with the keywords beside it, which add what it does not say, and tell what it is about unless ``is_outside``."""
    if not isinstance(schema, Mapping):
        return schema
    bare = _except(schema, *DEFINITIONS)
    if "$ref" in bare and beside.keys() - _ABOUT:
        return {**beside, "allOf": [*beside.get("allOf", ()), bare]}
    lasting = bare.keys() if is_outside else bare.keys() - _ABOUT
    return {**bare, **beside, **{name: bare[name] for name in lasting}}


def _of_type(inside: Mapping[str, Any], kind: Any) -> Schema | None:
    """Return the branch of a type list for one type; None if its values are none of the enum."""
    others = {
        "object": {"properties", "required", "additionalProperties", "patternProperties", "propertyNames"}
        | {"minProperties", "maxProperties"},
        "array": {"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"},
        "string": {"minLength", "maxLength", "pattern", "format"},
        "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    }
    keywords = others.get("number" if kind == "integer" else kind, set())
    foreign = set().union(*others.values()) - keywords
    branch = {"type": kind, **_except(inside, *foreign)}
    if isinstance(branch.get("enum"), list):
        of_kind = {"number": ("integer", "number")}.get(kind, (kind,))
        branch["enum"] = [member for member in branch["enum"] if json_type(member) in of_kind]
        if not branch["enum"]:
            return None
        if kind == "null":
            del branch["enum"]
    return branch


def _others(author: Mapping[str, Any]) -> Any:
    """Return what an object says of undeclared names: None, a boolean or a schema."""
    others = author.get("additionalProperties")
    return True if isinstance(others, Mapping) and not others.keys() - _ABOUT - {UNREAD} else others


def _is_null(schema: Any) -> bool:
    return isinstance(schema, Mapping) and (
        schema.get("type") == "null" or schema.get("enum") == [None] or schema.get("const", ...) is None
    )


def _is_scalar(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") in (*_SCALARS, "null") and not (_combines(schema) or "$ref" in schema)


def _is_of_objects(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "object" or "properties" in schema or "required" in schema


def _add_member(whole: Schema, member: Mapping[str, Any]) -> None:
    """Add what a part of ``allOf`` says."""
    for name, sub in (member.get("properties") or {}).items():
        if whole["properties"].get(name) in (None, True, {}):
            whole["properties"][name] = sub
    for keyword, value in member.items():
        if keyword in CONDITIONS:
            _add_note(whole, _keyword_note(keyword, value))
        elif keyword not in _NOT_ADDED:
            whole.setdefault(keyword, value)


def _either(one: Any, other: Any) -> Any:
    """Return a schema for a property that alternatives declare."""
    if one in (None, True, {}) or one == other:
        return other
    if other in (True, {}):
        return one
    branches = one["anyOf"] if isinstance(one, Mapping) and one.keys() == {"anyOf"} else [one]
    return one if other in branches else {"anyOf": [*branches, other]}


def _nullable(schema: Schema) -> Schema:
    types = schema.get("type")
    if isinstance(types, str) and types in _SCALARS and "enum" not in schema and "const" not in schema:
        return {**schema, "type": [types, "null"]}
    if "anyOf" in schema and not schema.keys() - {"anyOf", "description", "title"}:
        return {**schema, "anyOf": [*schema["anyOf"], dict(_NULL)]}
    about = {} if "$ref" in schema else _only(schema, "description")
    return {**about, "anyOf": [_except(schema, *about), dict(_NULL)]}


def _note_everywhere(schema: Any, text: str) -> None:
    """Add a note to a schema, or to its branches where it has no description of its own."""
    if not isinstance(schema, dict) or "$ref" in schema:
        return
    if schema.keys() == {"anyOf"}:
        for branch in schema["anyOf"]:
            _note_everywhere(branch, text)
    else:
        _add_note(schema, text)
