"""Find the schema that a reference names: by JSON Pointer, address or anchor, within the schema; nothing is fetched."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urljoin

from mcp_lenient.schema.references import pointed_at
from mcp_lenient.types import Path
from mcp_lenient.values.json_values import tokens_of

_LONGEST: Final = 2_000
"""Characters of an address: each reference is joined with one."""
_DYNAMIC: Final = {"2020-12": '"$dynamicRef": "#meta"', "2019-09": '"$recursiveRef": "#"'}
"""How the vocabularies of a draft refer to its metaschema, by the only way that leads to them."""


class Resource(NamedTuple):
    """A published schema that its references start from, and its address: the whole schema, or one with an ``$id``."""

    schema: Mapping[str, Any]
    address: str | None = ""


class FoundSchema(NamedTuple):
    """What a reference leads to, if it is a schema; the resource that it is in, and its path there."""

    schema: Any
    resource: Resource
    path: Path = ()


class NamedSchemas:
    """The addresses and anchors of a published schema, noted as its schemas are entered from the top down."""

    def __init__(self) -> None:
        self._resources: dict[str, Resource] = {}
        self._anchors: dict[tuple[int, str], FoundSchema] = {}
        """The schema of an anchor, by the id of the resource's schema."""
        self._dynamic_anchors: dict[str, list[FoundSchema]] = {}
        self._root_schema: Mapping[str, Any] | None = None

    def enter(self, schema: Mapping[str, Any], resource: Resource) -> Resource:
        """Return the resource that a schema is in, and note its names."""
        anchors = [schema.get("$anchor"), schema.get("$dynamicAnchor")]
        if isinstance(address := schema.get("$id"), str):
            if address.startswith("#"):  # an anchor until draft 7
                anchors.append(address[1:])
            else:
                resource = Resource(schema, _joined(resource.address, address.partition("#")[0]))
        if self._root_schema is None:
            self._root_schema = resource.schema
        if resource.address is not None:
            self._resources.setdefault(resource.address, resource)
        target = FoundSchema(schema, resource)
        for anchor in anchors:
            if isinstance(anchor, str):
                self._anchors.setdefault((id(resource.schema), anchor), target)
        if isinstance(anchors[1], str):
            self._dynamic_anchors.setdefault(anchors[1], []).append(target)
        return resource

    def target_of(self, reference: Any, resource: Resource, *, is_dynamic: bool) -> FoundSchema | None:
        """Return what a reference leads to; None if that is not in the schema, or depends on the way to the reference."""
        if not isinstance(reference, str):
            return None
        address, _, fragment = reference.partition("#")
        there = self._resource(_joined(resource.address, address)) if address else resource
        if there is None:
            return None
        fragment = unquote(fragment)
        if fragment[:1] in ("", "/"):
            return FoundSchema(pointed_at(there.schema, fragment), there, tuple(tokens_of(fragment)))
        target = self._anchors.get((id(there.schema), fragment))
        if not is_dynamic or target is None or target.schema.get("$dynamicAnchor") != fragment:
            return target
        # The outermost resource on the way counts: the whole schema, or the only one that there is.
        same = self._dynamic_anchors[fragment]
        outermost = [other for other in same if other.resource.schema is self._root_schema] or same
        return outermost[0] if len(outermost) == 1 else None

    def _resource(self, address: str | None) -> Resource | None:
        if address is not None and address not in self._resources:
            from jsonschema_specifications import REGISTRY

            if (standard := REGISTRY.get(address)) is not None:
                self._resources[address] = Resource(_without_dynamic_refs(standard.contents), address)
        return None if address is None else self._resources.get(address)


def _without_dynamic_refs(schema: Any) -> Any:
    """Return a copy of a metaschema, or of a vocabulary, that refers to the metaschema by its address."""
    text = json.dumps(schema)
    for draft, keyword in _DYNAMIC.items():
        if f"/{draft}/" in schema.get("$id", ""):  # `id` in draft 4
            text = text.replace(keyword, f'"$ref": "https://json-schema.org/draft/{draft}/schema"')
    return json.loads(text)


def _joined(base: str | None, address: str) -> str | None:
    """Return an address relative to another one; None if it is none."""
    if base is None or len(base) + len(address) > _LONGEST:
        return None
    try:
        return urljoin(base, address)
    except ValueError:
        return None
