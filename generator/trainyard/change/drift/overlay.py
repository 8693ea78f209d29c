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
        known = have.get(step, _MISSING) if isinstance(have, Mapping) else _MISSING
        below = _property(schema, step)
        if not rest:
            self._field(result, step, known, below)
            return
        inner = dict(result.get(step, {}))
        self.lay(inner, known, rest, below)
        if inner or step in result:
            result[step] = inner

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
        items, found = mapping(dict(schema), "items"), []
        left = _Left(dict(enumerate(want)), is_alike=len(want) == len(have))
        for place, member in enumerate(have):
            origin = self._origin(left, place, member, schema)
            if origin is not None:
                found.append(self._value(left.members.pop(origin), member, items))
            elif not self.is_open:
                found.append(member)
        has_all = self.is_open and not left.members
        return want if has_all and _is_set(schema) else found

    def _origin(self, left: _Left, place: int, member: Any, schema: Schema) -> int | None:
        """Return the place of the tree's member that another one was; None for an added one.

        It is an equal one, that of the same place first; or else one with the same merge keys, or
        without such keys in the same place.
        """
        items = mapping(dict(schema), "items")
        for index in sorted(left.members, key=lambda each: each != place):
            if self._value(left.members[index], member, items) == left.members[index]:
                return index
        return left.near(place, member, schema)


@dataclass(frozen=True, slots=True)
class _Left:
    """The members of the tree's list that no member on the cluster was laid over yet.

    Args:
        members: by their places.
        is_alike: whether both lists have the same number of members.
    """

    members: dict[int, Any]
    is_alike: bool

    def near(self, place: int, member: Any, schema: Schema) -> int | None:
        """Return the place of the member with the same merge keys, or without any the same."""
        keys = tuple(schema.get("x-kubernetes-list-map-keys") or ("name",))
        values = _keyed(member, keys)
        if values is None:
            return place if self.is_alike and place in self.members else None
        same = (index for index, each in self.members.items() if _keyed(each, keys) == values)
        return next(same, None)


def _keyed(member: Any, keys: tuple[str, ...]) -> list[Any] | None:
    """Return the values of a member's merge keys; None where it lacks one."""
    if not isinstance(member, Mapping) or not all(key in member for key in keys):
        return None
    return [member[key] for key in keys]


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
