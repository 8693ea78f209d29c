"""What an administrator does to profiles in the course of time, as the how-to pages say; to a copy of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trainyard.diagnostics import Severity
from trainyard.model.holding import Holding
from trainyard.model.platform import Platform, Site
from trainyard.model.team import Allocation, Quota
from trainyard.scaffold.allocate import next_block, next_segment
from trainyard.scaffold.team import TeamRequest, plan_team, write_team
from trainyard.workflows.generate import check, generate
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Plain
from trainyard_rehearsal.checks.change import Course, Unfit
from trainyard_rehearsal.checks.git_delivery import Tree

_GUESTS = "rehearsal-guests"
_SUCCESSOR = "successor"
"""A group, and a team, that nobody has."""


def plan_changes(site: Site, root: Path, published: Callable[[], Tree]) -> Course:
    """Return what is merged one after the other.

    Args:
        site: a cluster with teams, as it is at first.
        root: the copy of the profiles.
        published: what is to lie in Git as the copy now is.
    """
    profiles = _Profiles(root)
    first, *_, leaving = [
        each for each in (*site.tenants, *site.tenants) if each.team.state == "active"
    ]
    own, left = (tenant.queues[0].flavors[0].quota for tenant in (first, leaving))

    def merged(change: Callable[[], None]) -> Tree:
        change()
        return published()

    return Course(
        first=first,
        guests=_GUESTS,
        leaving=leaving,
        successor=_SUCCESSOR,
        grow=partial(merged, partial(profiles.grow, first.name, own)),
        welcome=partial(merged, partial(profiles.welcome, first.name)),
        drain=partial(merged, partial(profiles.put, leaving.name, "draining")),
        retire=partial(merged, partial(profiles.put, leaving.name, "retired")),
        succeed=partial(merged, partial(profiles.succeed, leaving.name, left)),
    )


def changed(site: Site, root: Path, components_root: str, today: str) -> Site:
    """Return a cluster as changed profiles say it.

    Raises:
        Unfit: they have errors.
    """
    generation = generate(root, components_root, (site.name,), today)
    errors = [
        f"{each.rule}: {each.message}"
        for each in generation.diagnostics
        if each.severity is Severity.ERROR
    ]
    platform = generation.checked.platform
    if errors or platform is None:
        raise Unfit("; ".join(errors))
    return next(each for each in platform.sites if each.name == site.name)


@dataclass(frozen=True, slots=True)
class _Profiles:
    """Profiles that may be changed: what they say stays, how they are laid out does not."""

    root: Path

    def grow(self, team: str, quota: Quota) -> None:
        """Add a node to a pool, and give it to a team."""
        with self._edited(f"clusters/{quota.cluster}") as cluster:
            cluster["pools"][quota.pool]["nodes"] += 1
        with self._edited(f"teams/{team}") as body:
            body["quota"][quota.cluster][quota.pool][quota.unit] += quota.per_node

    def welcome(self, team: str) -> None:
        """Let guests look at what a team does."""
        with self._edited(f"teams/{team}") as body:
            body["groups"]["viewer"] = [*body["groups"].get("viewer", []), _GUESTS]

    def put(self, team: str, state: str) -> None:
        """Say the state of a team."""
        with self._edited(f"teams/{team}") as body:
            body["state"] = state

    def succeed(self, former: str, quota: Quota) -> None:
        """Add a team with what a former one had on a cluster, save its people and the volumes that it brought."""
        checked = check(self.root)
        assert checked.platform is not None
        request = TeamRequest(_SUCCESSOR, nodes=0, cluster=quota.cluster, pool=quota.pool)
        # The repository of a rehearsal begins empty: it has no lockfile that remembers more than
        # the ledger.
        plan, found = plan_team(checked.profiles, checked.platform, request, {})
        assert plan is not None, found
        write_team(self.root, plan)
        self._allocate(checked.platform, quota.cluster, former, plan.holding)
        with self._edited(f"teams/{former}") as left, self._edited(f"teams/{_SUCCESSOR}") as body:
            people = {key: body[key] for key in ("contact", "groups")}
            body |= {
                **left,
                **people,
                "state": "active",
                "quota": {quota.cluster: left["quota"][quota.cluster]},
            }
            body["storage"] = {
                name: each
                for name, each in left.get("storage", {}).items()
                if isinstance(each, str)
            }

    def _allocate(
        self, platform: Platform, cluster: str, former: str, given: Holding | None
    ) -> None:
        """Write the successor's numbers on the former team's other fabrics, since `add team` gives those of one."""
        site = next(each for each in platform.sites if each.name == cluster)
        taken: list[Allocation | Holding] = [*platform.allocations.values(), *filter(None, [given])]
        others = [
            fabric
            for fabric in site.cluster.fabrics
            if (cluster, fabric.name, former) in platform.allocations
        ]
        for fabric in (each for each in others if given and each.name != given.fabric):
            segment, block = next_segment(fabric, taken), next_block(fabric, taken)
            assert segment is not None
            assert block is not None
            held = Holding(fabric.name, _SUCCESSOR, fabric.link.field, segment, block)
            taken.append(held)
            with self._edited("allocations") as ledger:
                ledger[cluster][fabric.name][_SUCCESSOR] = held.entry

    @contextmanager
    def _edited(self, name: str) -> Iterator[Plain]:
        """Give a profile as plain data, and write what was made of it; JSON is YAML too."""
        path = self.root / f"{name}.yaml"
        source, _ = read(name, path.read_bytes())
        yield source.value
        path.write_text(json.dumps(source.value), encoding="utf-8")
