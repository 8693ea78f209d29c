"""Names that the profiles' names become on the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model import names
from trainyard.model.ids import UIDS
from trainyard.model.platform import Platform, Site
from trainyard.model.space import Space
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check

RESERVED_POOLS = frozenset({"control-plane", "master", "worker"})
"""Pools of machines that OpenShift makes and owns."""

RESERVED_TEAM = Rule(
    id="names/reserved-team",
    severity=Severity.ERROR,
    summary="No team is called like a part of the platform.",
    why=(
        "Folders, applications and queues are named after the team: reviewers and selectors would take it for the"
        " platform."
    ),
    fix="Rename the team's file.",
)
RESERVED_POOL = Rule(
    id="names/reserved-pool",
    severity=Severity.ERROR,
    summary="No node pool is called like one of OpenShift's own machine pools.",
    why=(
        "The pool becomes a MachineConfigPool of that name: Argo CD would overwrite the platform's own, and the"
        " operator would drain and reboot every node in it."
    ),
    fix="Rename the pool, e.g. after its hardware.",
)
RESERVED_FABRIC = Rule(
    id="names/reserved-fabric",
    severity=Severity.ERROR,
    summary="No fabric is called `uids`.",
    why=(
        "In `profiles/allocations.yaml` the cluster's fabrics stand beside `uids`, the user ids of its namespaces: what"
        " teams hold on the fabric would be read as those, and `add team` would write lines that are refused."
    ),
    fix="Rename the fabric, before any team holds something on it.",
)
TOO_LONG = Rule(
    id="names/too-long",
    severity=Severity.ERROR,
    summary="Every name that is composed from profiles' names is short enough for the cluster.",
    why=(
        "The API server refuses label values beyond 63 characters. A TrainJob beyond 44, or 33 with a dataset"
        " initializer, is accepted, admitted and holds its quota, and never starts: `JobSet name is too long, pod names"
        " generated for this JobSet will exceed 63 characters` (seen with JobSet 0.11.0, in Trainer's log only)."
    ),
    fix="Shorten the longest of the names that it is composed of.",
)
CLASHING_NAMES = Rule(
    id="names/clashing-names",
    severity=Severity.ERROR,
    summary="No two objects get the same name from different profiles' names.",
    why="One object would overwrite the other: e.g. two teams would share one volume and read each other's files.",
    fix="Rename one of the two.",
)


@dataclass(frozen=True, slots=True)
class _Name:
    """A name as the cluster sees it.

    Args:
        kind, scope: within both the name must be unique.
        parts: what it is composed of; the same parts mean the same object.
        budget: most characters.
    """

    kind: str
    scope: str
    name: str
    parts: tuple[str, ...]
    at: Pointer
    budget: int = names.LABEL_BUDGET


def reserved_team(platform: Platform) -> Iterator[Diagnostic]:
    """Find teams with names of the platform's."""
    for team in platform.teams:
        if team.name in names.RESERVED_TEAMS or team.name.startswith(("kube-", "openshift-")):
            yield RESERVED_TEAM.at(team.at, f"a team can't be called `{team.name}`")


def reserved_pool(platform: Platform) -> Iterator[Diagnostic]:
    """Find pools with names of OpenShift's."""
    for site in platform.sites:
        for pool in site.cluster.pools:
            if pool.name in RESERVED_POOLS:
                yield RESERVED_POOL.at(pool.at.key(), f"a pool can't be called `{pool.name}`: OpenShift has one")


def reserved_fabric(platform: Platform) -> Iterator[Diagnostic]:
    """Find fabrics with the name of another part of the ledger."""
    for site in platform.sites:
        for fabric in site.cluster.fabrics:
            if fabric.name == UIDS:
                yield RESERVED_FABRIC.at(fabric.at.key(), f"a fabric can't be called `{UIDS}`")


def too_long(platform: Platform) -> Iterator[Diagnostic]:
    """Measure every composed name."""
    for each in _composed(platform):
        if len(each.name) > each.budget:
            message = f"the {each.kind} `{each.name}` has {len(each.name)} characters; {each.budget} are allowed"
            yield TOO_LONG.at(each.at, message)


def clashing_names(platform: Platform) -> Iterator[Diagnostic]:
    """Find names that two different objects get."""
    known: dict[tuple[str, str, str], _Name] = {}
    for each in _composed(platform):
        first = known.setdefault((each.kind, each.scope, each.name), each)
        if first.parts != each.parts:
            message = f"two objects would be the {each.kind} `{each.name}`"
            yield CLASHING_NAMES.at(each.at, message, notes=[Note("the other", first.at)])


def _composed(platform: Platform) -> Iterator[_Name]:
    for site in platform.sites:
        for launch in site.launches:
            fabric = launch.fabric.name if launch.fabric else ""
            parts = (launch.runtime.name, launch.hardware.name, str(launch.part), launch.owner, fabric)
            yield _Name("ClusterTrainingRuntime", site.name, launch.name, parts, launch.runtime.at)
        for part in ("argocd", "nodes", "platform", "teams"):
            yield _Name("application", "", site.part(part), (site.name, part), site.cluster.at)
        for tenant in site.tenants:
            yield from _of_tenant(site, tenant)


def _of_tenant(site: Site, tenant: Tenant) -> Iterator[_Name]:
    team = tenant.team.at
    yield _Name("application", "", tenant.application, (site.name, "team", tenant.name), team)
    for queue in tenant.queues:
        yield _Name("ClusterQueue", site.name, queue.name, (tenant.name, queue.node_class), team)
    for pool in tenant.address_pools:
        parts = (tenant.name, pool.fabric.name, str(pool.rail))
        yield _Name("address pool", site.name, pool.name, parts, team)
    for space in tenant.spaces:
        yield from _of_space(site, space)


def _of_space(site: Site, space: Space) -> Iterator[_Name]:
    who = (space.team.name, space.profile.name)
    at = space.profile.at
    yield _Name("Namespace", site.name, space.namespace, who, at)
    for claim in space.made_volumes:
        yield _Name("PersistentVolume", site.name, claim.volume, (*who, claim.name), claim.request.at.key())
    for secret in space.secrets:
        storage = at / "storage" / secret.name
        yield _Name("Secret", f"{site.name}/{space.namespace}", secret.name, (secret.kind,), storage.key())
    for network in space.networks:
        if network.fabric.link.operator_networks:
            on = (*who, network.fabric.name, str(network.addresses.rail))
            yield _Name("SriovNetwork", site.name, network.name, on, at)
    for sample in space.samples:
        parts = (*who, sample.launch.name)
        yield _Name("sample TrainJob", site.name, sample.name, parts, at, sample.launch.longest_job_name)


CHECKS = (
    Check(RESERVED_TEAM, reserved_team),
    Check(RESERVED_POOL, reserved_pool),
    Check(RESERVED_FABRIC, reserved_fabric),
    Check(TOO_LONG, too_long),
    Check(CLASHING_NAMES, clashing_names),
)
