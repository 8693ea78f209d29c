"""Plan several additions to the ledger in turn, each with numbers that the ones before have not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from trainyard.diagnostics import Diagnostic
from trainyard.model.holding import Holding
from trainyard.model.ids import Ids
from trainyard.scaffold.plan import ALLOCATIONS, Plan
from trainyard.scaffold.team_name import Remembered
from trainyard.yaml_io.source import Profiles


@dataclass(frozen=True, slots=True)
class Numbered(Plan):
    """The files of one team, before they are written.

    Args:
        team: its name.
        holding: the numbers; None on a pool without fabric.
        ids: user ids of its namespace; None where the cluster's namespaces have no ranges, where it
            has some, or none is left.
    """

    team: str
    holding: Holding | None
    ids: Ids | None

    @property
    def numbers(self) -> tuple[Holding | Ids, ...]:
        """What the team is given."""
        return tuple(number for number in (self.holding, self.ids) if number)


Each = TypeVar("Each", bound=Numbered)

Planner = Callable[[Profiles, Remembered], tuple[Each | None, tuple[Diagnostic, ...]]]
"""Returns the plan of one team, or None and the reasons why there is none."""


@dataclass(frozen=True, slots=True)
class Several(Plan, Generic[Each]):
    """The files of several teams, before they are written."""

    each: tuple[Each, ...]


def several(
    planners: Iterable[Planner[Each]], profiles: Profiles, remembered: Remembered
) -> tuple[Several[Each] | None, tuple[Diagnostic, ...]]:
    """Return all plans as one, or None and the reasons of all that can't be.

    Args:
        planners: get the profiles with the ledger so far, and the numbers given so far.
        profiles: as they were read.
        remembered: numbers and user ids in the lockfile of each cluster.
    """
    ledger = profiles.allocations
    plans: list[Each] = []
    problems: list[Diagnostic] = []
    files: dict[str, bytes] = {}
    for planner in planners:
        content = files.get(ALLOCATIONS, ledger.content)
        so_far = replace(profiles, allocations=replace(ledger, content=content))
        plan, found = planner(so_far, remembered)
        problems += found
        if plan:
            plans.append(plan)
            files |= plan.files
            (cluster,) = plan.clusters
            remembered = {**remembered, cluster: [*remembered.get(cluster, ()), *plan.numbers]}
    if problems:
        return None, tuple(problems)
    clusters = tuple(sorted({cluster for plan in plans for cluster in plan.clusters}))
    return Several(files, ledger.content, clusters, tuple(plans)), ()
