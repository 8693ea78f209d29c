"""What `trainyard diff` says about a change, as facts that a control plane can show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_address, ip_network
from itertools import product
from typing import Any, NamedTuple

from tests.change.impact.paths import Path
from trainyard.change.impact.access import RoleChange
from trainyard.change.impact.compare import compare
from trainyard.change.impact.model import ClusterImpact
from trainyard.change.impact.objects import ObjectChange
from trainyard.change.impact.policies import EGRESS, NAME
from trainyard.change.impact.reaction import Effect
from trainyard.change.objects import Objects, Sides, of_kind
from trainyard.model import names
from trainyard.model.identity import Identity, identity
from trainyard.model.lookup import mappings, text
from trainyard.model.manifest import UNLISTED
from trainyard.model.permissions import Permission, permissions
from trainyard.model.platform import Site
from trainyard.render.site import render_site

_STOPS = {Effect.UNCOUNTS, Effect.RECLAIMS, Effect.EVICTS}
_SEGMENT = re.compile(
    r"(?P<segment>(?:partition|VLAN) \S+) of fabric (?P<fabric>\S+), "
    r"rails? (?P<first>\d+)(?:-(?P<last>\d+))?, .*"
)
_PATH = re.compile(
    r"(?P<side>egress|ingress)(?: (?:of|to) (?P<own>jobs|MPIJobs|workspaces))? (?:to|from) "
    r"(?P<peer>(?:(?:\w+ )?of (?:its own namespace|[\w-]+(?:, [a-z][\w-]*)*))"
    r"|[\d./]+(?:, [\d./]+)*)"
    r"(?P<ports>(?:, (?:[A-Z]+ )?[\d-]+)*)"
)

_EVERYTHING = re.compile(r"all traffic (?P<side>from|to) (?P<own>all pods|\w+)")

Object = tuple[str, str, str]
"""Kind, namespace and name."""


class Held(NamedTuple):
    """A permission that somebody has, or not.

    Args:
        subject: ``group nlp`` or ``service account team-nlp/ci-runner``.
        namespace: where it counts; empty for the whole cluster.
    """

    subject: str
    namespace: str
    permission: Permission


def sides(old: Site, new: Site) -> Sides:
    """Return a cluster before and after a change."""
    before, after = ({identity(each): each for each in render_site(site)} for site in (old, new))
    return Sides(new.name, old, new, before, after)


def impact_of(both: Sides) -> ClusterImpact:
    """Return what `diff` says about a cluster."""
    clusters = compare([both], None).clusters
    return clusters[0] if clusters else ClusterImpact(both.name, "changed")


def evicted(impact: ClusterImpact) -> frozenset[str]:
    """Return the teams whose jobs may be stopped."""
    stops = (each for each in impact.disruptions if each.effect in _STOPS)
    return frozenset(team for each in stops for team in each.teams)


def key_of(each: Identity) -> Object:
    """Return an object's kind, namespace and name."""
    return each.kind, each.namespace, each.name


def left_behind(impact: ClusterImpact) -> set[Object]:
    """Return the objects that leave the tree and stay on the cluster."""
    return {key_of(each.identity) for each in impact.objects if each.change == "left behind"}


def objects(both: Sides, impact: ClusterImpact) -> dict[Object, str]:
    """Return what becomes of each object that Argo CD syncs."""
    found: dict[Object, str] = {}
    left = []
    for each in impact.objects:
        if each.scope == "artifact":
            continue
        found[key_of(each.identity)] = _fate(both, each)
        if "left behind" in each.reason:
            left.append(each)
    # Of an object that takes the place of another, only the new one is listed.
    for key, manifest in both.before.items():
        if key not in both.after and key_of(key) not in found and manifest.unit not in UNLISTED:
            found[key_of(key)] = "left behind" if left else "deleted"
    return {key: fate for key, fate in found.items() if fate != "left behind"}


def _fate(both: Sides, change: ObjectChange) -> str:
    is_new = change.change == "recreated" and change.identity not in both.before
    return "created" if is_new else change.change


def segments(impact: ClusterImpact) -> dict[tuple[object, ...], bool]:
    """Return the rails that a namespace is attached to, or no more."""
    found: dict[tuple[object, ...], bool] = {}
    for each in impact.network:
        if match := _SEGMENT.fullmatch(each.path):
            first, last = int(match["first"]), int(match["last"] or match["first"])
            for namespace, rail in product(each.namespaces, range(first, last + 1)):
                found[namespace, match["fabric"], match["segment"], rail] = each.opened
    return found


def is_opened(impact: ClusterImpact, namespace: str, direction: str, path: Path) -> bool | None:
    """Return whether a path is opened or closed; None where nothing is said about it."""
    for each in impact.network:
        is_here = namespace in each.namespaces and not _SEGMENT.fullmatch(each.path)
        if is_here and _is_of(each.path, namespace, direction, path):
            return each.opened
    return None


def _is_of(line: str, namespace: str, direction: str, path: Path) -> bool:
    """Return whether a path is one of those that a line has."""
    own = _group(path.own)
    if every := _EVERYTHING.fullmatch(line):
        is_side = every["side"] == ("from" if direction == EGRESS else "to")
        return is_side and every["own"] in {"all pods", own}
    match = _PATH.fullmatch(line)
    assert match, f"no path that this test reads: {line}"
    if match["side"] != direction.lower() or match["own"] not in {None, own}:
        return False
    return _is_port(match["ports"], path) and _is_peer(match["peer"], namespace, path)


def _group(labels: Mapping[str, str]) -> str:
    if names.JOB_LABEL in labels:
        return "jobs"
    return "MPIJobs" if names.MPI_JOB_LABEL in labels else "workspaces"


def _is_port(ports: str, path: Path) -> bool:
    protocol = ""
    for part in filter(None, ports.split(", ")):
        *named, numbers = part.split()
        protocol = named[0] if named else protocol
        first, _, last = numbers.partition("-")
        if protocol == path.protocol and int(first) <= path.port <= int(last or first):
            return True
    return not ports


def _is_peer(peer: str, namespace: str, path: Path) -> bool:
    pods, of, spaces = peer.partition("of ")
    if not of:
        ranges = map(ip_network, peer.split(", "))
        return path.namespace is None and any(ip_address(path.address) in each for each in ranges)
    if path.namespace is None:
        return False
    wanted = [namespace] if spaces == "its own namespace" else spaces.split(", ")
    is_group = pods.strip() in {"pods", "", _group(path.pod)}
    return path.namespace[NAME.label] in wanted and is_group


class Rights:
    """Who may do what: as a tree states it, and as `diff` says that it changes."""

    def __init__(self, tree: Objects, others: Objects) -> None:
        self._held = set(_held(tree))
        self._rules = dict(_rules(others)) | dict(_rules(tree))

    def changed(self, impact: ClusterImpact, after: Objects) -> Rights:
        """Return the rights after a change, of which only what `diff` says is known."""
        result = Rights(after, {})
        result._held = set(self._held)
        for each in impact.access:
            for roles, change in ((each.lost, set.discard), (each.gained, set.add)):
                for bound in roles:
                    for namespace in bound.namespaces or ("",):
                        change(result._held, (each.subject, bound.role, namespace))
        new = dict(_rules(after))
        result._rules = {**new, **self._rules}
        for role in impact.roles:
            result._rules[role.role] = _edited(result._rules[role.role], role)
        return result

    def permit(self, held: Held) -> bool:
        """Return whether somebody has a permission."""
        for subject, role, namespace in self._held:
            is_there = subject == held.subject and namespace in {"", held.namespace}
            if is_there and any(each.covers(held.permission) for each in self._rules.get(role, ())):
                return True
        return False

    @property
    def subjects(self) -> set[str]:
        """Everybody who has a role."""
        return {subject for subject, _, _ in self._held}

    @property
    def of_all(self) -> set[Permission]:
        """What all roles permit."""
        return self.of_roles(self._rules)

    def of_roles(self, roles: Iterable[str]) -> set[Permission]:
        """Return what some roles permit."""
        return {each for role in roles for each in self._rules.get(role, ())}


def _edited(rules: frozenset[Permission], change: RoleChange) -> frozenset[Permission]:
    """Return what a role permits after what is said about it."""
    lost = set(_read(change.lost))
    return frozenset(each for each in rules if each not in lost) | set(_read(change.gained))


def _read(lines: Iterable[str]) -> Iterator[Permission]:
    """Yield the permissions of lines such as ``get, list pods of GROUP named NAME``."""
    for line in lines:
        match = re.fullmatch(
            r"((?:\S+, )*\S+) ((?:\S+, )*\S+?)(?: of (\S+))?(?: named (.+))?", line
        )
        assert match, line
        verbs, resources, group, of = match.groups()
        for verb in verbs.split(", "):
            for resource in resources.split(", "):
                for name in (of or "").split(", "):
                    yield Permission(verb, group or "", resource, name)


def _held(tree: Objects) -> Iterator[tuple[str, str, str]]:
    for binding in of_kind(tree, "ClusterRoleBinding", "RoleBinding"):
        kind, name = text(binding.body, "roleRef", "kind"), text(binding.body, "roleRef", "name")
        for subject in mappings(binding.body, "subjects"):
            role = name if kind == "ClusterRole" else f"Role {name}"
            yield _subject(subject, binding.namespace), role, binding.namespace


def _subject(subject: Mapping[str, Any], namespace: str) -> str:
    kind, name = text(subject, "kind"), text(subject, "name")
    if kind == "ServiceAccount":
        return f"service account {text(subject, 'namespace') or namespace}/{name}"
    return f"{kind.lower()} {name}"


def _rules(tree: Objects) -> Iterator[tuple[str, frozenset[Permission]]]:
    for role in of_kind(tree, "ClusterRole", "Role"):
        name = role.name if role.kind.name == "ClusterRole" else f"Role {role.name}"
        yield name, permissions(name, mappings(role.body, "rules"))
