"""Lay the values of a cluster over a committed object: what means the same, stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.model.facts import Body, Resource
from trainyard.model.lookup import mapping, mappings, text
from trainyard.model.quantity import parse_amount
from trainyard.model.readable import is_compared

Schema = Mapping[str, Any]
"""Part of a CRD's OpenAPI schema; empty for the kinds of Kubernetes itself."""

_DEFAULTS = {
    "apiGroup": ("",),
    "matchPolicy": ("Equivalent",),
    "protocol": ("TCP",),
    "scope": ("*",),
}
"""What the API server fills in where the tree states nothing
(kubernetes/kubernetes:pkg/apis/{networking,rbac,admissionregistration}/v1/defaults.go@v1.36.3)."""
_EMPTY: tuple[Any, ...] = (None, False, 0, "", [])
"""Values that the API server leaves out. An empty mapping is none: a selector of everything."""
_VARIABLES = "env"
_MISSING = object()


def overlaid(resource: Resource, want: Body, have: Body, schema: Schema) -> dict[str, Any]:
    """Return a committed object with what the cluster has in the fields that are compared.

    Args:
        resource: its kind, which names these fields.
        want: the committed object.
        have: that of the cluster.
        schema: of the kind on the cluster.
    """
    overlay = _Overlay(is_open=resource.is_open)
    result = dict(want)
    for path in resource.compared:
        overlay.lay(result, have, path.split("."), schema)
    result["metadata"] = _metadata(mapping(dict(want), "metadata"), mapping(dict(have), "metadata"))
    return result


def schema_of(crd: Body, version: str) -> Schema:
    """Return the schema of a kind's version in its CRD; empty where it has none."""
    for each in mappings(dict(crd), "spec", "versions"):
        if each.get("name") == version:
            return mapping(each, "schema", "openAPIV3Schema")
    return {}


def _metadata(want: dict[str, Any], have: dict[str, Any]) -> dict[str, Any]:
    """Return metadata with the cluster's labels, and its annotations that are compared.

    Labels and annotations that the tree does not have are others' affair.
    """
    result = dict(want)
    for field in ("labels", "annotations"):
        known = mapping(have, field)
        if field in want:
            result[field] = dict(_texts(want[field], known, is_label=field == "labels"))
    return result


def _texts(
    want: Mapping[str, str], have: Mapping[str, Any], *, is_label: bool
) -> Iterator[tuple[str, Any]]:
    for key, value in want.items():
        if not (is_label or is_compared(key)):
            yield key, value
        elif key in have:
            yield key, have[key]


@dataclass(frozen=True, slots=True)
class _Overlay:
    """Lays values of the cluster over those of the tree.

    Args:
        is_open: whether what the tree lacks is left out.
    """

    is_open: bool

    def lay(self, result: dict[str, Any], have: Any, path: list[str], schema: Schema) -> None:
        """Replace the field at a path, in a copy of the mappings that lead to it."""
        step, *rest = path
        below = _property(schema, step)
        known = have.get(step, _MISSING) if isinstance(have, Mapping) else _MISSING
        if rest:
            inner = result.get(step)
            if not isinstance(inner, dict):
                if not isinstance(known, Mapping):
                    return
                inner = {}
            inner = dict(inner)
            self.lay(inner, known, rest, below)
            if inner or step in result:
                result[step] = inner
            return
        self._field(result, step, known, below)

    def _field(self, result: dict[str, Any], key: str, known: Any, schema: Schema) -> None:
        """Give a field the value that the cluster has."""
        if key not in result:
            if known is not _MISSING and not self._is_filled_in(key, known, schema):
                result[key] = known
        elif known is _MISSING:
            if not _is_empty(result[key]):
                del result[key]
        elif key == _VARIABLES:
            result[key] = _variables(result[key], known)
        else:
            result[key] = self._value(result[key], known, schema)

    def _is_filled_in(self, key: str, value: Any, schema: Schema) -> bool:
        """Return whether a field that the tree lacks is a default, or others may set it."""
        is_default = "default" in schema and schema["default"] == value
        return self.is_open or _is_empty(value) or is_default or value in _DEFAULTS.get(key, ())

    def _value(self, want: Any, have: Any, schema: Schema) -> Any:
        if isinstance(want, dict) and isinstance(have, Mapping):
            result = dict(want)
            for key in dict.fromkeys((*want, *have)):
                self._field(result, key, have.get(key, _MISSING), _property(schema, key))
            return result
        if isinstance(want, list) and isinstance(have, list):
            return self._list(want, have, schema)
        return want if _are_same(want, have) else have

    def _list(self, want: list[Any], have: list[Any], schema: Schema) -> list[Any]:
        """Return the members of a list on the cluster, each laid over the one that it was."""
        items = mapping(dict(schema), "items")
        keys = tuple(schema.get("x-kubernetes-list-map-keys") or ("name",))
        left, found = list(enumerate(want)), []
        for place, member in enumerate(have):
            origin = self._origin(left, place, member, items) or _near(left, member, keys)
            if origin is None and len(want) == len(have) and not _has_keys(member, keys):
                origin = next((each for each in left if each[0] == place), None)
            if origin is not None:
                left.remove(origin)
                found.append(self._value(origin[1], member, items))
            elif not self.is_open:
                found.append(member)
        if self.is_open and _is_set(schema):
            return want if not left else found
        return found

    def _origin(
        self, left: list[tuple[int, Any]], place: int, member: Any, items: Schema
    ) -> tuple[int, Any] | None:
        """Return the tree's member that another one equals, that of the same place first."""
        ordered = sorted(left, key=lambda each: each[0] != place)
        same = (each for each in ordered if self._value(each[1], member, items) == each[1])
        return next(same, None)


def _near(
    left: list[tuple[int, Any]], member: Any, keys: tuple[str, ...]
) -> tuple[int, Any] | None:
    """Return the tree's member with the same merge keys."""
    if not _has_keys(member, keys):
        return None
    wanted = [member.get(key) for key in keys]
    same = (each for each in left if _has_keys(each[1], keys))
    return next((each for each in same if [each[1].get(key) for key in keys] == wanted), None)


def _has_keys(member: Any, keys: tuple[str, ...]) -> bool:
    return isinstance(member, Mapping) and all(key in member for key in keys)


def _is_set(schema: Schema) -> bool:
    return schema.get("x-kubernetes-list-type") == "set"


def _variables(want: Any, have: Any) -> list[Any]:
    """Return the variables of a container by their names: no fact has a value of one."""
    known = {text(each, "name"): each for each in want if isinstance(each, dict)}
    names = [text(each, "name") for each in have] if isinstance(have, list) else []
    return [known.get(name, {"name": name}) for name in names]


def _property(schema: Schema, key: str) -> Schema:
    properties = schema.get("properties")
    found = properties.get(key) if isinstance(properties, Mapping) else None
    if found is None:
        found = schema.get("additionalProperties")
    return found if isinstance(found, Mapping) else {}


def _is_empty(value: Any) -> bool:
    """Return whether the API server leaves a value out."""
    return any(value == each for each in _EMPTY)


def _are_same(want: Any, have: Any) -> bool:
    """Return whether two values mean the same: quantities have several forms."""
    if want == have or (_is_empty(want) and _is_empty(have)):
        return True
    try:
        return parse_amount(str(want)) == parse_amount(str(have))
    except ValueError:
        return False
