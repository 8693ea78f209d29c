"""Changes that administrators make to profiles over time, as in the how-to pages; on a copy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from trainyard.diagnostics import Severity
from trainyard.generation.generate import check, generate
from trainyard.model.fabric import RailFabric
from trainyard.model.holding import Holding
from trainyard.model.platform import Platform, Site
from trainyard.model.team import Allocation, Quota
from trainyard.model.tenant import Tenant
from trainyard.scaffold.allocate import next_block, next_segment
from trainyard.scaffold.plan import write_plan
from trainyard.scaffold.team import plan_team
from trainyard.scaffold.team_request import TeamRequest
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Plain
from trainyard_rehearsal.checks.changes import InvalidProfiles, PlannedChanges
from trainyard_rehearsal.checks.git_delivery import Tree

_GUESTS = "rehearsal-guests"
_SUCCESSOR = "successor"
"""Names of a group and a team that no platform has."""
_OF_ONE_TEAM = {"renamedFrom", "folder", "components"}
"""Keys of a profile that two teams can't share."""


def plan_changes(site: Site, root: Path, published: Callable[[], Tree]) -> PlannedChanges:
    """Return the changes that are merged one after the other.

    Args:
        site: the cluster before the first change, with teams.
        root: the copy of the profiles.
        published: returns the tree of the copy's present state.
    """
    profiles = _Profiles(root)
    profiles.open(site)
    active = [tenant for tenant in site.tenants if tenant.team.state == "active"]
    retiring = active[-1]
    # A share of a node does not grow, so the first team is one with whole nodes if there is one.
    first = min(active[:-1] or active, key=lambda tenant: _growing(tenant).is_share)
    own, left = _growing(first), retiring.queues[0].flavors[0].quota

    def merged(change: Callable[[], None]) -> Tree:
        change()
        return published()

    return PlannedChanges(
        first=first,
        viewers=_GUESTS,
        retiring=retiring,
        successor=_SUCCESSOR,
        grow_quota=partial(merged, partial(profiles.grow_quota, first.name, own)),
        add_viewers=partial(merged, partial(profiles.add_viewers, first.name)),
        drain_team=partial(merged, partial(profiles.set_state, retiring.name, "draining")),
        retire_team=partial(merged, partial(profiles.set_state, retiring.name, "retired")),
        add_team=partial(merged, partial(profiles.add_successor, retiring.name, left)),
    )


def changed(site: Site, root: Path, components_root: str, today: str) -> Site:
    """Return a cluster of changed profiles.

    Raises:
        InvalidProfiles: the profiles have errors.
    """
    generation = generate(root, components_root, (site.name,), today)
    errors = [
        f"{diagnostic.rule}: {diagnostic.message}"
        for diagnostic in generation.diagnostics
        if diagnostic.severity is Severity.ERROR
    ]
    platform = generation.checked.platform
    if errors or platform is None:
        raise InvalidProfiles(f"the rehearsal's own edit has errors: {'; '.join(errors)}")
    return next(each for each in platform.sites if each.name == site.name)


def _growing(tenant: Tenant) -> Quota:
    """Return the quota that grows: of whole nodes, if the team has one."""
    quotas = [flavor.quota for queue in tenant.queues for flavor in queue.flavors]
    return min(quotas, key=lambda quota: quota.is_share)


def _reopen(stated: dict[str, Any], key: str) -> None:
    """Remove a state that holds queues."""
    if stated.get(key) == "held":
        del stated[key]


@dataclass(frozen=True, slots=True)
class _Profiles:
    """Profiles that may be changed; their values stay, their layout does not."""

    root: Path

    def open(self, site: Site) -> None:
        """Take every node of a cluster into use, and open its held queues."""
        with self._edited(f"clusters/{site.name}") as body:
            for pool in body["pools"].values():
                pool.pop("maintenance", None)
                pool.pop("state", None)
            _reopen(body, "state")
        for tenant in site.tenants:
            with self._edited(f"teams/{tenant.name}") as body:
                _reopen(body, "state")
                states = body.pop("states", {})
                _reopen(states, site.name)
                if states:
                    body["states"] = states

    def grow_quota(self, team: str, quota: Quota) -> None:
        """Add a node to a pool, and to a team's quota; a share of a node stays as it is."""
        with self._edited(f"clusters/{quota.cluster}") as cluster:
            cluster["pools"][quota.pool]["nodes"] += 1
        if quota.is_share:
            return
        with self._edited(f"teams/{team}") as body:
            body["quota"][quota.cluster][quota.pool][quota.unit] += 1

    def add_viewers(self, team: str) -> None:
        """Give the guests' group the role of a viewer in a team."""
        with self._edited(f"teams/{team}") as body:
            body["groups"]["viewer"] = [*body["groups"].get("viewer", []), _GUESTS]

    def set_state(self, team: str, state: str) -> None:
        """Set the state of a team."""
        with self._edited(f"teams/{team}") as body:
            body["state"] = state

    def add_successor(self, former: str, quota: Quota) -> None:
        """Add a team with a former team's settings, except what is the former team's alone.

        Args:
            former: name of the former team.
            quota: one of the former team's quotas on the cluster.
        """
        checked = check(self.root)
        assert checked.platform is not None
        request = TeamRequest(_SUCCESSOR, 0, cluster=quota.cluster, pool=quota.pool)
        # The repository of a rehearsal starts empty, so it has no lockfile with former allocations.
        plan, found = plan_team(checked.profiles, checked.platform, request, {})
        assert plan is not None, found
        write_plan(self.root, plan)
        self._allocate(checked.platform, former, plan.holding)
        with self._edited(f"teams/{former}") as left, self._edited(f"teams/{_SUCCESSOR}") as body:
            people = {key: body[key] for key in ("contact", "groups")}
            body.clear()
            body |= {**_for_another_team(left), **people, "state": "active"}

    def _allocate(self, platform: Platform, former: str, given: Holding | None) -> None:
        """Write the new team's allocations on the former team's other fabrics.

        `trainyard add team` makes an allocation on the fabric of one pool only: `given`, or None
        for a pool without fabric.
        """
        taken: list[Allocation | Holding] = [*platform.allocations.values()]
        taken += [given] if given else []
        for cluster, fabric in _fabrics(platform, former):
            with self._edited("allocations") as ledger:
                numbers = ledger[cluster][fabric.name]
                if _SUCCESSOR in numbers:
                    continue
                segment, block = next_segment(fabric, taken), next_block(fabric, taken)
                assert segment is not None
                assert block is not None
                held = Holding(fabric.name, _SUCCESSOR, fabric.link.field, segment, block)
                taken.append(held)
                numbers[_SUCCESSOR] = held.entry

    @contextmanager
    def _edited(self, name: str) -> Iterator[Plain]:
        """Yield a profile as plain data, then write the changed data, as JSON, which is YAML."""
        path = self.root / f"{name}.yaml"
        source, _ = read(name, path.read_bytes())
        yield source.value
        path.write_text(json.dumps(source.value), encoding="utf-8")


def _for_another_team(profile: Plain) -> Plain:
    """Return a team's profile without its names, components and adopted volumes."""
    kept = {key: each for key, each in profile.items() if key not in _OF_ONE_TEAM}
    spaces = profile.get("spaces", {}).items()
    if spaces:
        kept["spaces"] = {name: _for_another_team(space) for name, space in spaces}
    if storage := profile.get("storage"):
        kept["storage"] = {name: each for name, each in storage.items() if isinstance(each, str)}
    return kept


def _fabrics(platform: Platform, team: str) -> Iterator[tuple[str, RailFabric]]:
    """Yield the fabrics on which a team has an allocation, each with its cluster."""
    for site in platform.sites:
        for fabric in site.cluster.rail_fabrics:
            if (site.name, fabric.name, team) in platform.allocations:
                yield site.name, fabric
