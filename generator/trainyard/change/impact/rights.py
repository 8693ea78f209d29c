"""Compare what two roles permit, rights for a time, and what shows dashboards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, NamedTuple

from trainyard.change.impact.values import differing_or_absent
from trainyard.change.objects import Sides
from trainyard.model.lookup import texts
from trainyard.model.people import described
from trainyard.model.platform import Site
from trainyard.model.tenant import Tenant

_ANY = "*"
"""Permits every verb, group, resource or path."""


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


def permissions(rules: Iterable[Mapping[str, Any]]) -> frozenset[Permission]:
    """Return each permission of a role's rules."""
    return frozenset(chain.from_iterable(map(_expanded, rules)))


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


def _expanded(rule: Mapping[str, Any]) -> Iterator[Permission]:
    verbs = texts(rule, "verbs")
    for verb, path in product(verbs, texts(rule, "nonResourceURLs")):
        yield Permission(verb, "", f"/{path.removeprefix('/')}", "")
    names = texts(rule, "resourceNames") or ("",)
    for verb, group, resource, name in product(
        verbs, texts(rule, "apiGroups"), texts(rule, "resources"), names
    ):
        yield Permission(verb, group, resource, name)


def _matches(pattern: str, other: str) -> bool:
    """Return whether a resource or path of a rule includes another."""
    if other.startswith("/"):
        is_prefix = pattern.endswith(_ANY) and other.startswith(pattern.rstrip(_ANY))
        return pattern.startswith("/") and (pattern == other or is_prefix)
    parent, _, subresource = pattern.partition("/")
    is_any = _ANY in {pattern, parent} and other.endswith(f"/{subresource}")
    return pattern in {_ANY, other} or is_any


@dataclass(frozen=True, slots=True)
class TermChange:
    """A right whose last day differs; only the profile of a team has this day.

    Args:
        subject: ``group nccl-experts``, or ``team nlp`` for all who submit its jobs.
        right: what the subject may do, e.g. ``create MPIJobs``.
        before, after: ISO date of the last day; empty where the subject lacks the right.
    """

    subject: str
    right: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ViewerChange:
    """A program that shows dashboards from now on, or no more.

    Args:
        viewer: as the cluster's profile names it.
    """

    viewer: str
    added: bool


def term_changes(sides: Sides) -> tuple[TermChange, ...]:
    """Return each right for a time that is given, ended, or has another last day, sorted.

    A team that leaves the cluster is left out: its bindings show who keeps what.
    """
    if sides.new is None or not sides.are_comparable:
        return ()
    before, after = (dict(_terms(tenants)) for tenants in sides.tenants)
    stay = sides.tenants[1]
    changes = differing_or_absent(before, after, "")
    return tuple(TermChange(*right, *days) for (team, *right), *days in changes if team in stay)


def _terms(tenants: Mapping[str, Tenant]) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Yield team, subject and right of each right that the teams' profiles give; its last day."""
    for name, tenant in tenants.items():
        if debuggers := tenant.team.debuggers:
            right = f"run commands in the pods of team {name}"
            for group in debuggers.groups:
                yield (name, described(group), right), debuggers.until
        if mpi_jobs := tenant.spaces[0].mpi_jobs:
            yield (name, f"team {name}", "create MPIJobs"), mpi_jobs.until


def viewer_changes(sides: Sides) -> tuple[ViewerChange, ...]:
    """Return the program that shows dashboards no more, and the one that does from now on."""
    before, after = _viewer(sides.old), _viewer(sides.new)
    changes = []
    if before and before != after:
        changes.append(ViewerChange(before, added=False))
    if after and before != after:
        changes.append(ViewerChange(after, added=True))
    return tuple(changes)


def _viewer(site: Site | None) -> str:
    return site.cluster.viewer if site else ""
