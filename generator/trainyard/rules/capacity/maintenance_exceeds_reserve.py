"""Compare what teams own with the nodes that are not in maintenance."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules.capacity._maintenance import Balance, balances, smallest_step

RULE = Rule(
    id="capacity/maintenance-exceeds-reserve",
    severity=Severity.ERROR,
    summary="""
        The reserve of a pool, and what `from` takes from teams, make up for the nodes in
        maintenance.
    """,
    why="""
        Quota exceeds the nodes in use. On a fabric, jobs wait although their teams have free quota:
        `allows to fit only <n> out of <n> pod(s)` (seen with Kueue 0.19.2). Without a fabric, they
        are admitted, and their pods stay Pending while they hold their nodes.
    """,
    fix="State in `from` of the maintenance which teams do without the nodes meanwhile.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for balance in balances(platform):
        if balance.left < 0 and not balance.is_oversubscribed:
            pool = balance.pool
            message = (
                f"{len(pool.out_of_use)} of {counted(pool.nodes, 'node')} of pool `{pool.name}` "
                f"are in maintenance, the reserve was {pool.reserve}: "
                f"teams have {pool.display(-balance.left)} more than are left"
            )
            notes = [
                Note(f"team {tenant.name} has {quota.display(quota.in_use.nodes)}", quota.place)
                for tenant, quota in balance.owners
            ]
            yield RULE.at(pool.maintenance[-1].at, message, hint=_hint(balance), notes=notes)


def _hint(balance: Balance) -> str:
    """Return the edit with which the teams that have most give, one node after the other."""
    last = balance.pool.maintenance[-1]
    stated = dict(sorted(_taken(balance).items()))
    teams = ", ".join(f"{team}: {number}" for team, number in stated.items())
    verb = "Set" if last.taken else "Add"
    return (
        f"{verb} `from: {{{teams}}}` in the maintenance until {last.until}: the team with the most "
        "gives the next one. Choose others if they can do without more easily."
    )


def _taken(balance: Balance) -> dict[str, int]:
    """Return what the last maintenance takes of each team, with what is missing."""
    has = {tenant.name: quota.in_use.nodes for tenant, quota in balance.owners}
    quotas = {tenant.name: quota for tenant, quota in balance.owners}
    stated = balance.pool.maintenance[-1].taken
    # What is more than a team owns, `capacity/maintenance-exceeds-quota` reports.
    taken = {
        team: min(number, quotas[team].own) for team, number in stated.items() if team in quotas
    }
    missing = -balance.left
    while missing > 0:
        team = min(has, key=lambda name: (-has[name], name))
        step = smallest_step(quotas[team])
        nodes = Fraction(step, quotas[team].per_node)
        taken[team] = taken.get(team, 0) + step
        has[team] -= nodes
        missing -= nodes
    return taken


CHECK = Check(RULE, find, every=("teams/", "quota"))
