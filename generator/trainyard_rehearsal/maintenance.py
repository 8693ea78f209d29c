"""Changes that administrators make to profiles over time, as in the how-to pages; on a copy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trainyard.diagnostics import Severity
from trainyard.model.fabric import Fabric
from trainyard.model.holding import Holding
from trainyard.model.platform import Platform, Site
from trainyard.model.team import Allocation, Quota
from trainyard.scaffold.allocate import next_block, next_segment
from trainyard.scaffold.plan import write_plan
from trainyard.scaffold.team import TeamRequest, plan_team
from trainyard.workflows.generate import check, generate
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Plain
from trainyard_rehearsal.checks.changes import InvalidProfiles, PlannedChanges
from trainyard_rehearsal.checks.git_delivery import Tree

_GUESTS = "rehearsal-guests"
_SUCCESSOR = "successor"
"""Names of a group and a team that no platform has."""


def plan_changes(site: Site, root: Path, published: Callable[[], Tree]) -> PlannedChanges:
    """Return the changes that are merged one after the other.

    Args:
        site: the cluster before the first change, with teams.
        root: the copy of the profiles.
        published: returns the tree of the copy's present state.
    """
    profiles = _Profiles(root)
    active = [each for each in site.tenants if each.team.state == "active"]
    first, retiring = active[0], active[-1]
    own, left = (tenant.queues[0].flavors[0].quota for tenant in (first, retiring))

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
        f"{each.rule}: {each.message}"
        for each in generation.diagnostics
        if each.severity is Severity.ERROR
    ]
    platform = generation.checked.platform
    if errors or platform is None:
        raise InvalidProfiles("; ".join(errors))
    return next(each for each in platform.sites if each.name == site.name)


@dataclass(frozen=True, slots=True)
class _Profiles:
    """Profiles that may be changed; their values stay, their layout does not."""

    root: Path

    def grow_quota(self, team: str, quota: Quota) -> None:
        """Add a node to a pool, and to a team's quota."""
        with self._edited(f"clusters/{quota.cluster}") as cluster:
            cluster["pools"][quota.pool]["nodes"] += 1
        with self._edited(f"teams/{team}") as body:
            body["quota"][quota.cluster][quota.pool][quota.unit] += quota.per_node

    def add_viewers(self, team: str) -> None:
        """Give the guests' group the role of a viewer in a team."""
        with self._edited(f"teams/{team}") as body:
            body["groups"]["viewer"] = [*body["groups"].get("viewer", []), _GUESTS]

    def set_state(self, team: str, state: str) -> None:
        """Set the state of a team."""
        with self._edited(f"teams/{team}") as body:
            body["state"] = state

    def add_successor(self, former: str, quota: Quota) -> None:
        """Add a team with a former team's settings, except its people and adopted volumes.

        Args:
            former: name of the former team.
            quota: the former team's quota on the cluster, which the new team gets.
        """
        checked = check(self.root)
        assert checked.platform is not None
        request = TeamRequest(_SUCCESSOR, nodes=0, cluster=quota.cluster, pool=quota.pool)
        # The repository of a rehearsal starts empty, so it has no lockfile with former allocations.
        plan, found = plan_team(checked.profiles, checked.platform, request, {})
        assert plan is not None, found
        write_plan(self.root, plan)
        self._allocate(checked.platform, quota.cluster, former, plan.holding)
        with self._edited(f"teams/{former}") as left, self._edited(f"teams/{_SUCCESSOR}") as body:
            people = {key: body[key] for key in ("contact", "groups")}
            storage = left.get("storage", {}).items()
            body |= {
                **left,
                **people,
                "state": "active",
                "runtimes": _runtimes(checked.platform, quota.cluster, left),
                "quota": {quota.cluster: left["quota"][quota.cluster]},
                "storage": {name: each for name, each in storage if isinstance(each, str)},
            }

    def _allocate(
        self, platform: Platform, cluster: str, former: str, given: Holding | None
    ) -> None:
        """Write the new team's allocations on the former team's other fabrics.

        `trainyard add team` makes an allocation on one fabric only, which is `given`.
        """
        if given is None:
            return
        taken: list[Allocation | Holding] = [*platform.allocations.values(), given]
        for fabric in _fabrics(platform, cluster, former):
            if fabric.name == given.fabric:
                continue
            segment, block = next_segment(fabric, taken), next_block(fabric, taken)
            assert segment is not None
            assert block is not None
            held = Holding(fabric.name, _SUCCESSOR, fabric.link.field, segment, block)
            taken.append(held)
            with self._edited("allocations") as ledger:
                ledger[cluster][fabric.name][_SUCCESSOR] = held.entry

    @contextmanager
    def _edited(self, name: str) -> Iterator[Plain]:
        """Yield a profile as plain data, then write the changed data, as JSON, which is YAML."""
        path = self.root / f"{name}.yaml"
        source, _ = read(name, path.read_bytes())
        yield source.value
        path.write_text(json.dumps(source.value), encoding="utf-8")


def _site(platform: Platform, cluster: str) -> Site:
    return next(each for each in platform.sites if each.name == cluster)


def _runtimes(platform: Platform, cluster: str, team: Plain) -> list[str]:
    """Return the runtimes of a team for its pools of a cluster; others are for other clusters."""
    site = _site(platform, cluster)
    pools = (pool for pool in site.cluster.pools if pool.name in team["quota"][cluster])
    hardware = {pool.hardware.name for pool in pools}
    known = {runtime.name: set(runtime.hardware) for runtime in platform.runtimes}
    return [name for name in team["runtimes"] if hardware & known[name]]


def _fabrics(platform: Platform, cluster: str, team: str) -> Iterator[Fabric]:
    """Yield the fabrics of a cluster on which a team has an allocation."""
    for fabric in _site(platform, cluster).cluster.fabrics:
        if (cluster, fabric.name, team) in platform.allocations:
            yield fabric
