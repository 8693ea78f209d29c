"""Teams of one shape: alike in everything that is made for them, but for names, numbers of their own and amounts."""

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
"""By kind: a field, and what the keys in it are called that hold amounts or a number of the team's
own."""
_UID_RANGES = re.compile(r'("openshift\.io/sa\.scc\.[a-z-]+": )"[^"]*"')
"""Ids that a namespace has of its own."""


_OF_ALL = {
    "changes through Argo CD",
    "objects kept without their folder",
    "one change, one generation",
    "own quotas filled",
    "policies without a warning",
    "refresh changes nothing",
    "retirement completed",
}
"""Promises that are tried for all teams, or for one that is named."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """The teams that a rehearsal tries, of all that may run jobs.

    Args:
        teams: their names.
        every: how many there are.
    """

    teams: frozenset[str]
    every: int

    @property
    def remark(self) -> str:
        """What the table says; empty when every team is tried."""
        some = len(self.teams) < self.every
        return (
            f"{len(self.teams)} of {self.every} teams, the rest have the same shape" if some else ""
        )


def every_team(site: Site) -> Sampled:
    """Return all teams of a cluster."""
    return Sampled(frozenset(tenant.name for tenant in site.tenants), len(site.tenants))


def sampled(site: Site, manifests: Sequence[Manifest]) -> Sampled:
    """Return of each shape the team with the least quota and that with the most; and the first and the last of all.

    Args:
        site: a cluster.
        manifests: all that is made for it, with its samples and components.
    """
    shapes: dict[Hashable, list[Tenant]] = defaultdict(list)
    for tenant, shape in zip(site.tenants, shapes_of(site, manifests), strict=True):
        shapes[shape].append(tenant)
    ends = [
        end for alike in shapes.values() for end in (min(alike, key=_reach), max(alike, key=_reach))
    ]
    # These two change while Argo CD delivers.
    active = [tenant for tenant in site.tenants if tenant.team.state == "active"]
    chosen = frozenset(tenant.name for tenant in (*ends, *active[:1], *active[-1:]))
    return Sampled(chosen, len(site.tenants))


def remarked(outcomes: Iterator[Outcome], teams: Sampled) -> Iterator[Outcome]:
    """Say which teams were tried beside what is remarked anyway."""
    for outcome in outcomes:
        sample = "" if outcome.promise in _OF_ALL else teams.remark
        yield replace(outcome, remark="; ".join(filter(None, (outcome.remark, sample))))


def _reach(tenant: Tenant) -> Fraction:
    """Return all nodes that a team can have; of teams with as many, the first is both the least and the most."""
    return sum(
        (flavor.quota.maximum for queue in tenant.queues for flavor in queue.flavors), Fraction(0)
    )


def shapes_of(site: Site, manifests: Sequence[Manifest]) -> Iterator[Hashable]:
    """Yield the shape of each team of a cluster, in order; teams of equal shapes are alike.

    It is every object that is made for the team, with its own names and numbers replaced, and
    beside that what the profile says in names that all teams share: a word that is replaced in one
    place is then still compared in another.
    """
    own: dict[str, list[Manifest]] = defaultdict(list)
    shared = _shared_groups(site)
    for manifest in manifests:
        own[manifest.at.file].append(manifest)
        if manifest.by_hand:
            own[manifest.unit].append(manifest)
    runtimes = {each.name: each for each in manifests if each.kind.name == "ClusterTrainingRuntime"}
    for tenant in site.tenants:
        launches = {launch.name for space in tenant.spaces for launch in space.launches}
        made = [
            *own[tenant.team.at.file],
            *own[f"teams/{tenant.name}"],
            *(runtimes[name] for name in launches),
        ]
        plain = _anonymous(tenant, shared)
        yield _said(tenant, shared), tuple(sorted(plain(_without_amounts(each)) for each in made))


def _said(tenant: Tenant, shared: frozenset[str]) -> Hashable:
    team = tenant.team
    return (
        *(team.state, team.cohort, team.runtimes, team.components, team.encrypts_transit),
        tuple(
            sorted(
                (role, name)
                for role, groups in team.groups.items()
                for name in groups
                if name in shared
            )
        ),
        tuple(sorted((account.name, account.role, account.owner) for account in team.accounts)),
        tuple((space.name, space.storage, space.priorities) for space in team.spaces),
        tuple(_quota(flavor) for queue in tenant.queues for flavor in queue.flavors),
        tuple(
            (
                grant.launch.runtime.name,
                grant.launch.part,
                grant.nodes * grant.launch.part > flavor.quota.nodes,
            )
            for space in tenant.spaces
            for grant in space.grants
            for queue in tenant.queues
            for flavor in queue.flavors
        ),
    )


def _quota(flavor: Flavor) -> Hashable:
    """Return of what kind a quota is; a share in full, as its runtimes are made for it."""
    quota = flavor.quota
    lends = (bool(quota.lend), quota.lend == quota.nodes)
    return (
        flavor.pool.name,
        quota.unit,
        quota.gpus if quota.is_share else quota.nodes > 0,
        bool(quota.borrow),
        lends,
    )


def _shared_groups(site: Site) -> frozenset[str]:
    """Return groups that have a role in several teams, or in the whole cluster."""
    seen: dict[str, set[str]] = defaultdict(set)
    for tenant in site.tenants:
        for name in (name for groups in tenant.team.groups.values() for name in groups):
            seen[name].add(tenant.name)
    several = {name for name, teams in seen.items() if len(teams) > 1}
    return frozenset({*several, *site.cluster.operators, *site.cluster.auditors})


def _without_amounts(manifest: Manifest) -> dict[str, Any]:
    """Return an object without how much a team has, which `_quota` says in kind, and without its VLAN."""
    body = manifest.body
    if manifest.kind.name not in _AMOUNTS:
        return body
    field, amounts = _AMOUNTS[manifest.kind.name]
    return {
        **body,
        field: {
            key: each for key, each in body.get(field, {}).items() if not re.match(amounts, key)
        },
    }


def _anonymous(tenant: Tenant, shared: frozenset[str]) -> Callable[[Mapping[str, Any]], str]:
    """Return what turns an object into text with a team's own names and numbers replaced by what they are."""
    team = tenant.team
    words = {
        name: f"<{role} {i}>"
        for role, groups in team.groups.items()
        for i, name in enumerate(groups)
        if name not in shared
    }
    words |= {each.bucket: "<bucket>" for space in tenant.spaces for each in space.buckets}
    words |= {
        each.request.volume: "<volume>"
        for space in tenant.spaces
        for each in space.claims
        if each.request.volume
    }
    for pool in tenant.address_pools:
        words[str(pool.addresses)] = f"<rail {pool.rail} /{pool.addresses.prefixlen}>"
        # A VLAN is a plain number, which may stand for anything: `_AMOUNTS` leaves out the one that
        # is the team's.
        if isinstance(segment := pool.fabric.link.entry(pool.allocation.segment), str):
            words[segment] = "<segment>"
    words |= {team.contact: "<contact>", team.name: "<team>"}
    longest = sorted(words, key=lambda word: (-len(word), word))
    pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, longest))})(?![A-Za-z0-9])")

    def plain(body: Mapping[str, Any]) -> str:
        text = json.dumps(body, sort_keys=True)
        return _UID_RANGES.sub(r'\1"<ids>"', pattern.sub(lambda found: words[found[0]], text))

    return plain
