"""Write the draft of a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.adoption.fabrics import Drafted
from trainyard.adoption.model import Pool
from trainyard.adoption.queues import cohort_of
from trainyard.adoption.quota import MOST_WEIGHT, Site, parents_of
from trainyard.adoption.storage import Adopted
from trainyard.adoption.wording import choose, fit, is_fit, quoted, said
from trainyard.model.facts import Body, Facts, named, place_of
from trainyard.model.lookup import mapping, mappings, text, texts
from trainyard.model.names import ADOPTED_CLASS
from trainyard.model.quantity import counted, whole_number
from trainyard.model.readable import (
    CLUSTER_QUEUES,
    COHORTS,
    KUEUE_FILE,
    KUEUE_OPERATOR,
    PRIORITIES,
    TOPOLOGIES,
)
from trainyard.model.topology import HOSTNAME
from trainyard.yaml_io.scalars import inline

_OWN = frozenset({"BatchJob", "JobSet", "TrainJob"})
"""Frameworks that a cluster has without stating any."""
_FRAMEWORKS = {
    "batch/job": "BatchJob",
    "jobset.x-k8s.io/jobset": "JobSet",
    "trainer.kubeflow.org/trainjob": "TrainJob",
    "kubeflow.org/mpijob": "MPIJob",
    "kubeflow.org/paddlejob": "PaddleJob",
    "kubeflow.org/pytorchjob": "PyTorchJob",
    "kubeflow.org/tfjob": "TFJob",
    "kubeflow.org/xgboostjob": "XGBoostJob",
    "ray.io/raycluster": "RayCluster",
    "ray.io/rayjob": "RayJob",
    "workload.codeflare.dev/appwrapper": "AppWrapper",
    "leaderworkerset.x-k8s.io/leaderworkerset": "LeaderWorkerSet",
    "pod": "Pod",
    "deployment": "Deployment",
    "statefulset": "StatefulSet",
}
"""Kinds as the profile names them, by Kueue's own names."""
_MOST = 1_000_000
"""Largest value of a priority, and of a weight, as in the schema of clusters."""


def pool_lines(
    site: Site, hardware: Mapping[str, str], fabrics: Sequence[Drafted], open_: Sequence[str]
) -> Iterator[str]:
    """Yield the pools.

    Args:
        site: what is drafted.
        fabrics: those of the cluster.
        hardware: name of the hardware profile of each pool.
        open_: what is left to choose about pools.
    """
    yield "pools:"
    for pool in site.pools.values():
        parts = [] if hardware[pool.name] == pool.name else [f"hardware: {hardware[pool.name]}"]
        parts.append(f"nodes: {pool.count}")
        parts += [f"fabric: {each.name}" for each in fabrics if pool.name in each.pools]
        if pool.kind.topology:
            parts.append(f"topology: {inline(fit(pool.kind.topology, 'topology'))}")
        yield said(f"  {inline(pool.name)}: {{{', '.join(parts)}}}", _nodes(pool))
    yield from (choose(text_, "  ") for text_ in open_)


def _nodes(pool: Pool) -> str:
    first, last = place_of(pool.kind.nodes[0])[1], place_of(pool.kind.nodes[-1])[1]
    nodes = f"{counted(pool.count, 'node')}, {first}" + (f" to {last}" if last != first else "")
    flavors = ", ".join(pool.kind.flavors)
    return f"{nodes}; ResourceFlavor {flavors}" if flavors else f"{nodes}; no flavor selects them"


def topology_lines(facts: Facts, used: set[str]) -> Iterator[str]:
    """Yield the topologies that flavors name, without the host, which every one gets."""
    bodies = named(facts.of(TOPOLOGIES))
    if found := sorted(used & bodies.keys()):
        yield "topologies:"
    yield from (_topology(name, bodies[name]) for name in found)
    for name in sorted(used - bodies.keys()):
        yield choose(f"topologies: Topology {name} of a flavor is not in the dump: its levels")


def _topology(name: str, body: Body) -> str:
    levels = [text(each, "nodeLabel") for each in mappings(dict(body), "spec", "levels")]
    listed = ", ".join(inline(label) for label in levels if label != HOSTNAME)
    fields = f"levels: [{listed}]" if listed else ""
    line = f"  {inline(fit(name, 'topology'))}: {{{fields}}}"
    return said(line, f"spec.levels of Topology {name}")


def cohort_names(facts: Facts) -> dict[str, str]:
    """Return the name that each cohort gets, by the one that the site has."""
    parents = parents_of(facts.of(COHORTS))
    every = {place_of(body)[1] for body in facts.of(COHORTS)} | {*parents.values()}
    every |= {cohort_of(body) for body in facts.of(CLUSTER_QUEUES)} - {""}
    found: dict[str, str] = {}
    for name in sorted(every):
        found[name] = fit(name, "cohort", set(found.values()))
    return found


def cohort_lines(facts: Facts, names: Mapping[str, str]) -> Iterator[str]:
    """Yield the cohorts, each with its parent and its weight."""
    parents = parents_of(facts.of(COHORTS))
    weights = {
        place_of(body)[1]: mapping(dict(body), "spec", "fairSharing").get("weight", 1)
        for body in facts.of(COHORTS)
    }
    if names:
        yield "cohorts:"
    for site_name, name in names.items():
        parts = []
        if site_name in parents:
            parts.append(f"parent: {inline(names[parents[site_name]])}")
        weight = str(weights.get(site_name, 1))
        number = whole_number(weight) or 0
        if 1 < number <= MOST_WEIGHT:
            parts.append(f"weight: {number}")
        yield said(f"  {inline(name)}: {{{', '.join(parts)}}}", f"cohort {site_name}")
        if not 1 <= number <= MOST_WEIGHT:
            yield choose(f"{name}.weight: it is {weight}, and a whole number from 1 to 1000", "  ")


def sharing_lines(facts: Facts, kueue: Mapping[str, Any]) -> Iterator[str]:
    """Yield how queues share, and what Kueue queues, by its configuration or its operator's."""
    if kueue:
        where = f"ConfigMap {'/'.join(KUEUE_FILE.only or ())}"
        fair = kueue.get("fairSharing")
        is_fair = isinstance(fair, dict) and fair.get("enable") is not False
        yield said(f"sharing: {'fair' if is_fair else 'classical'}", f"fairSharing in {where}")
        yield from _frameworks(texts(dict(kueue), "integrations", "frameworks"), where)
        return
    yield choose("sharing: fair or classical; Kueue's configuration is not in the dump")
    stated = [
        texts(dict(body), "spec", "config", "integrations", "frameworks")
        for body in facts.of(KUEUE_OPERATOR)
    ]
    if stated:
        yield from _frameworks(stated[0], "spec.config of the operator's Kueue")
    else:
        yield choose("frameworks: the kinds that Kueue queues, if there are more than usual")


def _frameworks(stated: Sequence[str], where: str) -> Iterator[str]:
    """Yield the kinds that Kueue queues, by Kueue's own names or by those of its operator."""
    every = {**_FRAMEWORKS, **{name.lower(): name for name in _FRAMEWORKS.values()}}
    names = {each: every.get(each.lower(), "") for each in sorted(set(stated))}
    if names:
        listed = ", ".join(sorted({*names.values(), *_OWN} - {""}))
        yield said(f"frameworks: [{listed}]", f"integrations.frameworks in {where}, and TrainJobs")
    for each in (each for each, name in names.items() if not name):
        yield choose(f"frameworks: Kueue queues {each}, which no profile names")


def priority_lines(facts: Facts) -> Iterator[str]:
    """Yield the priority classes."""
    bodies, drafted = sorted(facts.of(PRIORITIES), key=place_of), drafted_priorities(facts)
    if bodies:
        yield "priorities:"
    for body in bodies:
        name, value = place_of(body)[1], body.get("value")
        if body in drafted:
            yield said(f"  {inline(name)}: {value}", f"WorkloadPriorityClass {name}")
        else:
            yield choose(f"{name}: no class can have this name, or its value {value}", "  ")


def drafted_priorities(facts: Facts) -> list[Body]:
    """Return the priority classes that a profile can have as they are."""
    return [
        body
        for body in facts.of(PRIORITIES)
        if is_fit(place_of(body)[1])
        and type(value := body.get("value")) is int
        and abs(value) <= _MOST
    ]


def storage_lines(claims: Sequence[Adopted]) -> Iterator[str]:
    """Yield the storage that adopted claims need."""
    names = sorted({each.claim for each in claims})
    if names:
        yield "storage:"
    for name in names:
        own = [each for each in claims if each.claim == name]
        teams = ", ".join(sorted({each.team for each in own}))
        if own[0].stays:
            line = f"  {inline(name)}: {{class: {inline(own[0].meets)}}}"
            yield said(line, f"claims of team {teams}, which stay bound")
        else:
            line = f"  {inline(name)}: {{adopted: {{class: {ADOPTED_CLASS}}}}}"
            yield said(line, f"claims of team {teams}; free each volume first")


def release_lines(
    release: str, nearest: str, found: Mapping[str, str], installed: Mapping[str, str]
) -> Iterator[str]:
    """Yield the release, which somebody names, and the versions that differ from it.

    Args:
        release: that somebody named; empty without one.
        nearest: with most of the versions that run.
        found: versions that run.
        installed: those that the release does not have.
    """
    runs = ", ".join(f"{name} {version}" for name, version in found.items()) or "nothing known"
    if not release:
        proposal = f"; proposal: {nearest}" if nearest else ""
        yield choose(f"release: this runs: {runs}{proposal}")
        return
    yield said(f"release: {inline(release)}", f"named by `--release`; this runs: {runs}")
    if installed:
        pairs = ", ".join(f'{name}: "{version}"' for name, version in installed.items())
        yield said(
            f"installed: {{{pairs}}}", "the newest kubelet, and tags of the controllers' images"
        )


def closing_lines(
    fabrics: Sequence[Drafted], claims: Sequence[Adopted], daemons: Sequence[str]
) -> Iterator[str]:
    """Yield what no dump has: networks, roles, and who owns what the tree needs.

    Args:
        fabrics: those of the cluster.
        claims: that teams keep.
        daemons: namespaces of daemons on the nodes of pools.
    """
    if daemons:
        yield choose(
            f"systemNamespaces: proposal [{', '.join(daemons)}]; daemons of these run on nodes of "
            "pools, and the tree's policies refuse their next start unless they are listed"
        )
    yield choose(
        "server: the address at which Argo CD reaches the API server, if it runs elsewhere"
    )
    yield choose("networks: {pods: RANGE, services: RANGE, machines: RANGE}; no object has them")
    yield choose("monitoring: the Prometheus that scrapes the platform; without it, no alerts")
    yield choose("roles: {operator: [GROUP], auditor: [GROUP]}: who runs the platform")
    needs = [name for fabric in fabrics for name in fabric.needs]
    needs += sorted({f"StorageClass/{each.meets}" for each in claims if each.stays})
    if needs:
        yield choose(f"external: the owners of {', '.join(map(quoted, needs))}")
