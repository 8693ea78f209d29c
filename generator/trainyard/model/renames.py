"""Recognise the teams that a change renames, and their numbers under the new name.

A rename is known by ``renamedFrom`` of a team that the old tree does not have.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from trainyard.model import names
from trainyard.model.holding import Holding
from trainyard.model.ids import Ids
from trainyard.model.team import Team

T = TypeVar("T", Holding, Ids)


def renames(teams: Iterable[Team], present: Collection[str]) -> dict[str, Team]:
    """Return each team that a change renames on a cluster, by its old name.

    Args:
        teams: of the profiles now.
        present: teams of the cluster's old tree and ledger. A team that is already among them has
            no part in a rename: its ``renamedFrom`` is from an earlier change.
    """
    return {
        team.renamed_from: team
        for team in teams
        if team.renamed_from in present and team.name not in present
    }


def usual_namespaces(renamed: Mapping[str, Team]) -> dict[str, str]:
    """Return the new name of each namespace of renamed teams, by the old one that is usual.

    Of a team that was retired nothing else is known.
    """
    usual = {}
    for old, team in renamed.items():
        for space in team.spaces:
            usual[names.namespace(old, space.name)] = space.namespace
    return usual


def renamed_holdings(
    remembered: Iterable[Holding], ledger: Iterable[Holding], renamed: Mapping[str, Team]
) -> tuple[Holding, ...]:
    """Return remembered numbers with the new names of renamed teams.

    Former numbers, and those whose line the ledger still has, keep the old names.
    """
    new = {old: team.name for old, team in renamed.items()}
    return tuple(_renamed(remembered, ledger, new))


def renamed_ids(
    remembered: Iterable[Ids], ledger: Iterable[Ids], moved: Mapping[str, str]
) -> tuple[Ids, ...]:
    """Return remembered user ids with the new names of namespaces, by the old ones.

    Former ids, and those whose line the ledger still has, keep the old names.
    """
    return tuple(_renamed(remembered, ledger, moved))


def _renamed(remembered: Iterable[T], ledger: Iterable[T], new: Mapping[str, str]) -> Iterator[T]:
    """Yield numbers with the new names of their holders."""
    kept = {held.number for held in ledger}
    for held in remembered:
        if not held.former and held.number not in kept and held.holder in new:
            yield held.held_by(new[held.holder])
        else:
            yield held
