"""What a role permits, and what another one does not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

from trainyard.diagnostics import TreeError
from trainyard.model.lookup import texts

_ANY = "*"
"""Permits every verb, group, resource or path."""
_MOST = 100_000
"""Permissions of one role: four lists of a few KiB have billions together."""


class Permission(NamedTuple):
    """One verb on one resource, or on one path of the API server.

    Args:
        group: of the API; empty for the core group and for a path.
        resource: e.g. ``pods/log``; or the path, which begins with a slash.
        name: of the only object; empty for every object.
    """

    verb: str
    group: str
    resource: str
    name: str

    def covers(self, other: Permission) -> bool:
        """Return whether this permits all that another one does.

        Source: kubernetes/kubernetes:pkg/apis/rbac/v1/evaluation_helpers.go@v1.36.0.
        """
        return (
            self.verb in {_ANY, other.verb}
            and self.group in {_ANY, other.group}
            and _matches(self.resource, other.resource)
            and self.name in {"", other.name}
        )


def permissions(role: str, rules: Iterable[Mapping[str, Any]]) -> frozenset[Permission]:
    """Return each permission of a role's rules.

    Raises:
        TreeError: it has too many; the error names it.
    """
    found: set[Permission] = set()
    counted = 0
    for rule in rules:
        verbs, paths = texts(rule, "verbs"), texts(rule, "nonResourceURLs")
        names = texts(rule, "resourceNames") or ("",)
        lists = (verbs, texts(rule, "apiGroups"), texts(rule, "resources"), names)
        counted += prod(map(len, lists)) + len(verbs) * len(paths)
        if counted > _MOST:
            raise TreeError(f"{role} has more than {_MOST:,} permissions")
        found.update(map(Permission._make, product(*lists)))
        for verb, path in product(verbs, paths):
            found.add(Permission(verb, "", f"/{path.removeprefix('/')}", ""))
    return frozenset(found)


def beyond(more: frozenset[Permission], less: frozenset[Permission]) -> tuple[str, ...]:
    """Return what a role permits and another one does not, as sorted lines.

    Args:
        more: permissions of the first role.
        less: permissions of the second.
    """
    verbs: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for permission in sorted(more - less):
        if not any(other.covers(permission) for other in less):
            verbs[permission[1:]].append(permission.verb)
    return tuple(sorted(_lines(verbs)))


def _lines(verbs: Mapping[tuple[str, str, str], Sequence[str]]) -> Iterator[str]:
    """Yield one line for all resources of a group, and all names, with the same verbs."""
    names: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for (group, resource, name), allowed in verbs.items():
        names[", ".join(allowed), group, resource].append(name)
    resources: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for (allowed_verbs, group, resource), each in names.items():
        named = f" named {', '.join(each)}" if any(each) else ""
        resources[allowed_verbs, group, named].append(resource)
    for (allowed_verbs, group, named), every in resources.items():
        api = f" of {group}" if group else ""
        yield f"{allowed_verbs} {', '.join(every)}{api}{named}"


def _matches(pattern: str, other: str) -> bool:
    """Return whether a resource or path of a rule includes another."""
    if other.startswith("/"):
        is_prefix = pattern.endswith(_ANY) and other.startswith(pattern.rstrip(_ANY))
        return pattern.startswith("/") and (pattern == other or is_prefix)
    parent, _, subresource = pattern.partition("/")
    is_any = _ANY in {pattern, parent} and other.endswith(f"/{subresource}")
    return pattern in {_ANY, other} or is_any
