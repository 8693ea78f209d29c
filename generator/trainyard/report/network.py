"""The section with network paths: between namespaces of teams, and to what is outside of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from htpy import Element, Node, caption, code, details, h3, h4, summary, table, tbody, td, th, tr

from trainyard.change.impact.network import lines
from trainyard.change.impact.policies import EGRESS, INGRESS, NAME
from trainyard.change.impact.sets import Box, Values
from trainyard.model.neighbours import neighbours
from trainyard.model.platform import Site
from trainyard.report.classes import Class, classes
from trainyard.report.content import Cluster, Content
from trainyard.report.elements import box, columns, grid, items, note, part
from trainyard.report.policies import Namespace, namespaces, paths

_NAMED = 4  # namespaces that a cell lists at once


@dataclass(frozen=True, slots=True)
class _Owned:
    """What the profiles say of a namespace.

    Args:
        segments: (fabric, partition or VLAN) that its pods attach to.
    """

    team: str
    segments: frozenset[tuple[str, str]]


def network(content: Content) -> Element:
    """Return the section."""
    return part(
        "network",
        "Network paths",
        note(
            "Computed from the generated NetworkPolicies and from the partitions or VLANs. RDMA "
            "bypasses NetworkPolicies, so it is listed by itself."
        ),
        map(_cluster, content.clusters),
    )


def _cluster(cluster: Cluster) -> Iterator[Node]:
    yield h3[cluster.name]
    owned = _owned(cluster.site)
    found = [space for space in namespaces(cluster.manifests) if space.name in owned]
    grouped = classes(found, _bonds(owned))
    if not grouped:
        yield note("No team has a namespace here.")
        return
    if cluster.site.cluster.release.isolates_jobs:
        yield note(
            "Trainer also admits the pods of one job to each other, by a policy of that job, which "
            "is not in the tree."
        )
    yield _matrix(cluster.name, grouped, owned)
    for group in grouped:
        if len(group.members) > 1:
            yield _members(group)
    yield h4["To and from what is outside of teams"]
    yield _outside(cluster.name, found)


def _owned(site: Site) -> dict[str, _Owned]:
    owned = {}
    groups = [*neighbours(site)]
    for tenant in site.tenants:
        for space in tenant.spaces:
            segments = {
                (group.fabric.name, group.name) for group in groups if tenant in group.tenants
            }
            for network in space.networks:
                segment = f"{network.fabric.link.segment} {network.display}"
                segments.add((network.fabric.name, segment))
            owned[space.namespace] = _Owned(tenant.name, frozenset(segments))
    return owned


def _bonds(owned: Mapping[str, _Owned]) -> dict[str, set[str]]:
    """Return the fabrics of each namespace, and the other namespaces that it shares a segment with.

    So namespaces of one class all have a segment of their own, or none.
    """
    holders: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name, namespace in owned.items():
        for segment in namespace.segments:
            holders[segment].add(name)
    bonds: dict[str, set[str]] = {name: set() for name in owned}
    for (fabric, _), names in holders.items():
        for name in names:
            bonds[name].add(f"{fabric} {' '.join(sorted(names - {name}))}")
    return bonds


def _members(group: Class) -> Element:
    about = f"All {len(group.members)} namespaces: {group.name}"
    return details[summary[about], items((code[each.name] for each in group.members), "many")]


def _matrix(cluster: str, grouped: Sequence[Class], owned: Mapping[str, _Owned]) -> Element:
    about = f"Paths between namespaces of {cluster}, from the row to the column"
    return box(about)[
        table(".matrix")[
            caption[about],
            columns(["from / to", "its own namespace", *map(_other, grouped)]),
            tbody[(_row(group, grouped, owned) for group in grouped)],
        ]
    ]


def _other(group: Class) -> str:
    """Return the head of a column; a class of several is also another one for its own members."""
    return group.name if len(group.members) == 1 else f"another of {group.name}"


def _row(group: Class, grouped: Sequence[Class], owned: Mapping[str, _Owned]) -> Element:
    first = group.members[0]
    inside = _paths(first, first, owned)
    return tr[
        th(scope="row")[group.name],
        td(".own")[inside or "none"],
        (_cell(first, other.members[-1], owned) for other in grouped),
    ]


def _cell(source: Namespace, target: Namespace, owned: Mapping[str, _Owned]) -> Element:
    if source.name == target.name:
        return td(".self")["itself"]
    found = _paths(source, target, owned)
    if not found:
        return td(".none")["none"]
    if owned[source.name].team == owned[target.name].team:
        return td(".own")[f"same team: {found}"]
    return td(".open")[found]


def _paths(source: Namespace, target: Namespace, owned: Mapping[str, _Owned]) -> str:
    """Return the open paths between two namespaces in a few words; empty for none."""
    shared = owned[source.name].segments & owned[target.name].segments
    rdma = (f"RDMA on {fabric}" for fabric, _ in sorted(shared))
    return "; ".join((*paths(source, target), *rdma))


def _outside(cluster: str, found: Sequence[Namespace]) -> Element:
    """Return a table of the paths that lead to or from something else than teams' own pods."""
    names: dict[str, list[str]] = defaultdict(list)
    for namespace in found:
        for direction, boxes in ((INGRESS, namespace.ingress), (EGRESS, namespace.egress)):
            beyond = [path for path in boxes if not _stays_inside(path, namespace.name)]
            for line in lines(beyond, direction, namespace.name):
                names[line].append(namespace.name)
    rows = ((line, _listed(some, len(found))) for line, some in sorted(names.items()))
    return grid(f"Paths of {cluster} beyond a namespace", ("path", "namespaces"), rows)


def _stays_inside(box: Box, namespace: str) -> bool:
    return box.get(NAME) == Values(frozenset({namespace}))


def _listed(names: Sequence[str], every: int) -> Node:
    if len(names) == every:
        return f"all {every}"
    if len(names) <= _NAMED:
        return ", ".join(names)
    return details[summary[f"{len(names)} of {every}"], ", ".join(names)]
