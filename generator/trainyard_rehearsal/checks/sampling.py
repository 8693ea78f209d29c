"""Choose the teams that a rehearsal tries: some of each shape.

Teams have one shape if their objects differ only in names, own numbers and amounts.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.queue import Flavor
from trainyard.model.tenant import Tenant
from trainyard_rehearsal.outcome import Outcome

_AMOUNTS = {
    "ClusterQueue": ("spec", r"resourceGroups\Z"),
    "ConfigMap": ("data", r"maxNodes\."),
    "PersistentVolume": ("spec", r"capacity\Z"),
    "PersistentVolumeClaim": ("spec", r"resources\Z"),
    "ResourceQuota": ("spec", r"hard\Z"),
    "SriovNetwork": ("spec", r"vlan\Z"),
}
"""By kind: a field, and the keys in it that hold amounts or a number of the team's own."""
_UID_RANGES = re.compile(r'("openshift\.io/sa\.scc\.[a-z-]+": )"[^"]*"')
"""Ids that differ between namespaces."""
_SUMS = re.compile(r'(/claimed-storage": )"[^"]*"')
"""What claims of a namespace have in sum."""


_TRIED_FOR_ALL = {
    "changes delivered by Argo CD",
    "objects of a lost folder kept",
    "one change renders one folder",
    "own quotas filled",
    "policies without a warning",
    "refresh changes nothing",
    "retirement completed",
}
"""Promises that are tried for all teams, or for one team that the check chooses."""


@dataclass(frozen=True, slots=True)
class TeamSample:
    """The teams that a rehearsal tries.

    Args:
        teams: their names.
        every: number of all teams.
    """

    teams: frozenset[str]
    every: int

    @property
    def remark(self) -> str:
        """The remark for the table; empty when every team is tried."""
        some = len(self.teams) < self.every
        return (
            f"{len(self.teams)} of {self.every} teams, the rest have the same shape" if some else ""
        )


def all_teams(site: Site) -> TeamSample:
    """Return all teams of a cluster."""
    return TeamSample(frozenset(tenant.name for tenant in site.tenants), len(site.tenants))


def sample_teams(site: Site, manifests: Sequence[Manifest]) -> TeamSample:
    """Return the teams of each shape with the least and the most quota, and the first and the last.

    Args:
        site: a cluster.
        manifests: all objects of the cluster, with its samples and components.
    """
    shapes: dict[Hashable, list[Tenant]] = defaultdict(list)
    for tenant, shape in zip(site.tenants, team_shapes(site, manifests), strict=True):
        shapes[shape].append(tenant)
    # The first and the last active team change while Argo CD delivers.
    active = [tenant for tenant in site.tenants if tenant.team.state == "active"]
    chosen = [*active[:1], *active[-1:]]
    for alike in shapes.values():
        chosen += [min(alike, key=_maximum_nodes), max(alike, key=_maximum_nodes)]
    return TeamSample(frozenset(tenant.name for tenant in chosen), len(site.tenants))


def with_sample_remark(outcomes: Iterator[Outcome], sample: TeamSample) -> Iterator[Outcome]:
    """Add the number of tried teams to the remarks of outcomes that depend on it."""
    for outcome in outcomes:
        added = "" if outcome.promise in _TRIED_FOR_ALL else sample.remark
        yield replace(outcome, remark="; ".join(filter(None, (outcome.remark, added))))


def _maximum_nodes(tenant: Tenant) -> Fraction:
    """Return all nodes that a team can use.

    Of teams with equally many the first is both the least and the most.
    """
    flavors = (flavor for queue in tenant.queues for flavor in queue.flavors)
    return sum((flavor.quota.maximum for flavor in flavors), Fraction(0))


def team_shapes(site: Site, manifests: Sequence[Manifest]) -> Iterator[Hashable]:
    """Yield the shape of each team of a cluster, in order.

    A shape consists of every object that is made for the team, with the team's own names and
    numbers replaced, and of the profile's values that teams share. A word that is replaced in one
    object is therefore still compared in the profile.
    """
    own: dict[str, list[Manifest]] = defaultdict(list)
    for manifest in manifests:
        own[manifest.at.file].append(manifest)
        if manifest.by_hand:
            own[manifest.unit].append(manifest)
    runtimes = {each.name: each for each in manifests if each.kind.name == "ClusterTrainingRuntime"}
    shared = _shared_groups(site)
    for tenant in site.tenants:
        used = [runtimes[name] for name in _launch_names(tenant)]
        made = [*own[tenant.team.at.file], *own[f"teams/{tenant.name}"], *used]
        anonymous = _anonymizer(tenant, shared)
        objects = sorted(anonymous(_without_amounts(each)) for each in made)
        yield _profile_shape(tenant, shared), tuple(objects)


def _launch_names(tenant: Tenant) -> set[str]:
    return {launch.name for space in tenant.spaces for launch in space.launches}


def _profile_shape(tenant: Tenant, shared: frozenset[str]) -> Hashable:
    """Return the values of a team's profile that are compared as they are."""
    team = tenant.team
    flavors = [flavor for queue in tenant.queues for flavor in queue.flavors]
    return (
        *(team.state, team.cohort, team.runtimes, team.components, team.encrypts_transit),
        tuple(sorted(_shared_roles(tenant, shared))),
        tuple(sorted((account.name, account.role, account.owner) for account in team.accounts)),
        tuple((space.name, space.storage, space.priorities) for space in team.spaces),
        tuple(map(_quota_shape, flavors)),
        tuple(_grant_shapes(tenant, flavors)),
    )


def _shared_roles(tenant: Tenant, shared: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the roles of groups that are not the team's alone."""
    for role, groups in tenant.team.groups.items():
        for name in groups:
            if name in shared:
                yield role, name


def _quota_shape(flavor: Flavor) -> Hashable:
    """Return the kind of a quota; a share in full, since runtimes are made for it."""
    quota = flavor.quota
    lends = (bool(quota.lend), quota.lend == quota.nodes)
    own = quota.own if quota.is_share else quota.nodes > 0
    return (flavor.pool.name, quota.unit, own, bool(quota.borrow), lends)


def _grant_shapes(tenant: Tenant, flavors: Sequence[Flavor]) -> Iterator[Hashable]:
    """Yield for each runtime and flavor whether the largest job exceeds the nominal quota."""
    for space in tenant.spaces:
        for grant in space.grants:
            launch = grant.launch
            for flavor in flavors:
                exceeds = grant.nodes * launch.part > flavor.quota.nodes
                yield launch.runtime.name, launch.part, exceeds


def _shared_groups(site: Site) -> frozenset[str]:
    """Return groups that have a role in several teams, or in the whole cluster."""
    seen: dict[str, set[str]] = defaultdict(set)
    for tenant in site.tenants:
        for groups in tenant.team.groups.values():
            for name in groups:
                seen[name].add(tenant.name)
    several = {name for name, teams in seen.items() if len(teams) > 1}
    return frozenset({*several, *site.cluster.operators, *site.cluster.auditors})


def _without_amounts(manifest: Manifest) -> dict[str, Any]:
    """Return an object without VLAN and amounts; `_quota_shape` has their kind."""
    body = manifest.body
    if manifest.kind.name not in _AMOUNTS:
        return body
    field, amounts = _AMOUNTS[manifest.kind.name]
    kept = {key: each for key, each in body.get(field, {}).items() if not re.match(amounts, key)}
    return {**body, field: kept}


def _anonymizer(tenant: Tenant, shared: frozenset[str]) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that renders an object as text without the team's own words."""
    words = dict(_placeholders(tenant, shared))
    longest = sorted(words, key=lambda word: (-len(word), word))
    pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, longest))})(?![A-Za-z0-9])")

    def anonymous(body: Mapping[str, Any]) -> str:
        text = json.dumps(body, sort_keys=True)
        text = _SUMS.sub(r'\1"<sums>"', pattern.sub(lambda found: words[found[0]], text))
        return _UID_RANGES.sub(r'\1"<ids>"', text)

    return anonymous


def _placeholders(tenant: Tenant, shared: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield names and numbers of a team's own with placeholders; the last one for a word counts."""
    for role, groups in tenant.team.groups.items():
        for i, name in enumerate(groups):
            if name not in shared:
                yield name, f"<{role} {i}>"
    for bucket in _buckets(tenant):
        yield bucket, "<bucket>"
    for volume in _volumes(tenant):
        yield volume, "<volume>"
    yield from _fabric_placeholders(tenant)
    yield tenant.team.contact, "<contact>"
    yield tenant.team.name, "<team>"


def _buckets(tenant: Tenant) -> Iterator[str]:
    for space in tenant.spaces:
        for bucket in space.buckets:
            yield bucket.bucket


def _volumes(tenant: Tenant) -> Iterator[str]:
    for space in tenant.spaces:
        for claim in space.claims:
            if claim.request.volume:
                yield claim.request.volume


def _fabric_placeholders(tenant: Tenant) -> Iterator[tuple[str, str]]:
    for pool in tenant.address_pools:
        yield str(pool.addresses), f"<rail {pool.rail} /{pool.addresses.prefixlen}>"
        # A VLAN is a plain number, which may mean anything: `_AMOUNTS` leaves out the team's own.
        segment = pool.fabric.link.entry(pool.allocation.segment)
        if isinstance(segment, str):
            yield segment, "<segment>"
