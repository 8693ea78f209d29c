"""Recognise the teams that a change renames, and their numbers under the new name.

A rename is known by ``renamedFrom`` of a team that the old tree does not have.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from trainyard.model import names
from trainyard.model.holding import Holding
from trainyard.model.ids import Ids
from trainyard.model.team import Team


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


def renamed_namespaces(renamed: Mapping[str, Team]) -> dict[str, str]:
    """Return the new name of each namespace of renamed teams, by its old name."""
    return {
        names.namespace(old, space.name): names.namespace(team.name, space.name)
        for old, team in renamed.items()
        for space in team.spaces
    }


def renamed_holdings(
    remembered: Iterable[Holding], ledger: Iterable[Holding], renamed: Mapping[str, Team]
) -> tuple[Holding, ...]:
    """Return remembered numbers with the new names of renamed teams.

    Former numbers, and those whose line the ledger still has, keep the old names.
    """
    new, kept = {old: team.name for old, team in renamed.items()}, _numbers(ledger)
    return tuple(
        replace(each, team=new.get(each.team, each.team)) if _passes(each, kept) else each
        for each in remembered
    )


def renamed_ids(
    remembered: Iterable[Ids], ledger: Iterable[Ids], renamed: Mapping[str, Team]
) -> tuple[Ids, ...]:
    """Return remembered user ids with the new namespaces of renamed teams.

    Former ids, and those whose line the ledger still has, keep the old names.
    """
    new, kept = renamed_namespaces(renamed), _numbers(ledger)
    return tuple(
        replace(each, namespace=new.get(each.namespace, each.namespace))
        if _passes(each, kept)
        else each
        for each in remembered
    )


def _numbers(ledger: Iterable[Holding | Ids]) -> set[object]:
    return {each.number for each in ledger}


def _passes(each: Holding | Ids, kept: Collection[object]) -> bool:
    return not each.former and each.number not in kept
