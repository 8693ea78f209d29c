"""Compare what a maintenance takes from each team with the team's quota."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.maintenance import Maintenance
from trainyard.model.nearest import nearest
from trainyard.model.platform import Platform
from trainyard.model.team import Quota
from trainyard.rules._check import Check
from trainyard.rules.capacity._maintenance import Balance, balances

RULE = Rule(
    id="capacity/maintenance-exceeds-quota",
    severity=Severity.ERROR,
    summary="""
        A maintenance takes from a team no more than the team owns of the pool, and a share of a
        node as a whole.
    """,
    why="""
        The nodes in maintenance stay in somebody's quota, and jobs wait for them: a team can't give
        what it has not. No job can use a part of a share, as the pods of a share have a fixed size.
    """,
    fix="Take the nodes from teams that own as many.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for balance in balances(platform):
        for maintenance in balance.pool.maintenance:
            for team in maintenance.taken:
                yield from _team(balance, maintenance, team)


def _team(balance: Balance, maintenance: Maintenance, team: str) -> Iterator[Diagnostic]:
    pool, quota = balance.pool, balance.quota(team)
    at = maintenance.at / "from" / team
    if quota is None:
        owners = [tenant.name for tenant, _ in balance.owners]
        near = nearest(team, owners)
        hint = f"Did you mean `{near}`?" if near else ""
        yield RULE.at(at.key(), f"team {team} has no quota on pool `{pool.name}`", hint=hint)
        return
    taken = pool.taken_from(team)
    notes = [Note(f"team {team} owns {quota.display(quota.nodes)}", quota.place)]
    if taken > quota.own:
        message = (
            f"maintenance takes {quota.unit.counted(taken)} of pool `{pool.name}` from team "
            f"{team}, which owns {quota.own}"
        )
        yield RULE.at(at, message, hint=_less(quota), notes=notes)
    elif quota.is_share and taken < quota.own:
        message = (
            f"maintenance takes {quota.unit.counted(taken)} of the share of team {team}, which is "
            f"{quota.display(quota.nodes)}"
        )
        yield RULE.at(at, message, hint=f"Set `{team}: {quota.own}`.", notes=notes)


def _less(quota: Quota) -> str:
    return f"Lower it to {quota.own} in all, and take the rest from other teams."


CHECK = Check(RULE, find, every=("teams/", "quota"))
