"""Write `adopt` of the cluster: the first merge spares what runs, and takes over its names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from trainyard.adoption.cluster import cohort_names, drafted_priorities
from trainyard.adoption.quota import Site
from trainyard.adoption.storage import Adopted
from trainyard.adoption.wording import choose, fit, said
from trainyard.model.facts import Facts, named, place_of
from trainyard.model.importable import NETWORK_POLICIES
from trainyard.model.readable import COHORTS, FLAVORS, TOPOLOGIES
from trainyard.yaml_io.scalars import inline

POLICIES = frozenset({"default-deny", "dns", "jobs"})
"""NetworkPolicies that each namespace of a team has, at any stage."""
WORKSPACES = "workspaces"
"""Another one, where the release has the feature of this name."""
MOST = 2000
"""Objects that a profile lists, as the schema of clusters says."""

_CONFIGURATION = "kueue-configuration"
"""Feature of releases whose tree has Kueue's configuration."""


def adopt_lines(
    facts: Facts, site: Site, claims: Sequence[Adopted], features: Collection[str] | None
) -> Iterator[str]:
    """Yield what the first merge spares and takes over; until which day is somebody's choice.

    Args:
        facts: of the cluster.
        site: what is drafted.
        claims: that teams keep.
        features: of the release; None where somebody chooses it later.
    """
    yield "adopt:"
    yield said("  pods: audit", "pods of others on the pools go on; the audit log has them")
    if features is None:
        yield choose("queues: site, if the release has Kueue's configuration", "  ")
    elif _CONFIGURATION in features:
        yield said("  queues: site", "Kueue goes on with the queues of all namespaces")
    yield choose("until: the last day of the move, quoted", "  ")
    yield choose("reason: what is still there, and where it goes", "  ")
    found = sorted({*_of_cluster(facts, site), *_of_teams(facts, site, claims, features or ())})
    if found:
        yield "  objects: # they have names of the tree's, and Argo CD takes them over"
    yield from (f"    - {inline(each)}" for each in found[:MOST])
    if len(found) > MOST:
        text = f"objects: {len(found) - MOST} more, from {found[MOST]} on; a profile lists {MOST}"
        yield choose(f"{text}: give some teams namespaces of other names", "    ")


def stage_lines() -> Iterator[str]:
    """Yield the stage of a team on the first merge: nothing of its workloads is refused or cut."""
    yield "adopt:"
    yield said("  stage: observe", "at `observe` workloads go on, and the new queues are held")
    yield choose("until: the last day of the team's move, quoted", "  ")
    yield choose("reason: what is still to be changed, and by whom", "  ")


def _of_cluster(facts: Facts, site: Site) -> Iterator[str]:
    """Yield the objects outside of namespaces that the drafts give the name that they have."""
    cohorts = cohort_names(facts)
    topologies = {pool.kind.topology for pool in site.pools.values()}
    drafts: Mapping[str, set[str]] = {
        "Cohort": named(facts.of(COHORTS)).keys() & _same(cohorts),
        "ResourceFlavor": named(facts.of(FLAVORS)).keys() & site.pools.keys(),
        "Topology": named(facts.of(TOPOLOGIES)).keys()
        & _same({name: fit(name, "topology") for name in topologies}),
        "WorkloadPriorityClass": set(named(drafted_priorities(facts))),
    }
    yield from (f"{kind}/{name}" for kind, names in drafts.items() for name in names)


def _same(names: Mapping[str, str]) -> set[str]:
    return {name for name, becomes in names.items() if name == becomes}


def _of_teams(
    facts: Facts, site: Site, claims: Sequence[Adopted], features: Collection[str]
) -> Iterator[str]:
    """Yield the namespaces that keep their names, and what in them has a name of the tree's.

    No LocalQueue: nobody can lead it to another queue, so it is deleted when the team moves.
    """
    spaces = {each for crew in site.crews for each in crew.namespaces if crew.kept(each) == each}
    yield from (f"Namespace/{namespace}" for namespace in spaces)
    names = POLICIES | ({WORKSPACES} & {*features})
    yield from (f"NetworkPolicy/{each}" for each in sorted(_policies(facts, spaces, names)))
    yield from (f"PersistentVolumeClaim/{each.at}" for each in claims if each.stays)


def _policies(facts: Facts, spaces: Collection[str], names: Collection[str]) -> Iterator[str]:
    """Yield namespace and name of each policy that has a name of the tree's."""
    for namespace, name in map(place_of, facts.of(NETWORK_POLICIES)):
        if namespace in spaces and name in names:
            yield f"{namespace}/{name}"
