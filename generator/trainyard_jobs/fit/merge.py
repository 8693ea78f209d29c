"""Strategic merge of pod templates, as far as a job may change them.

Source: kubernetes/apimachinery:pkg/util/strategicpatch with the merge keys of
kubernetes/api:core/v1/types.go.
"""

from __future__ import annotations

from typing import Any

_KEYS = {
    "containers": "name",
    "env": "name",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
"""Lists that are merged by a key of their members; any other list is replaced."""


def merged(base: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Return an object after a strategic merge patch; a null removes a field."""
    result = dict(base)
    for name, value in change.items():
        old = result.get(name)
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            result[name] = merged(old if isinstance(old, dict) else {}, value)
        elif name in _KEYS and isinstance(value, list) and isinstance(old, list):
            result[name] = _by_key(old, value, _KEYS[name])
        else:
            result[name] = value
    return result


def _by_key(base: list[Any], change: list[Any], key: str) -> list[Any]:
    """Return a list whose members with a known key are merged and whose new ones are added."""
    by_name = {member.get(key): member for member in base if isinstance(member, dict)}
    for member in change:
        if isinstance(member, dict):
            by_name[member.get(key)] = merged(by_name.get(member.get(key), {}), member)
    return list(by_name.values())
