"""Find teams that lack nodes during a maintenance although enough nodes are in use."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.team import Quota
from trainyard.rules._check import Check
from trainyard.rules.capacity._maintenance import Balance, balances, smallest_step

RULE = Rule(
    id="capacity/maintenance-takes-too-much",
    severity=Severity.WARNING,
    summary="""
        A maintenance takes from teams no more than the nodes in maintenance that the reserve does
        not cover.
    """,
    why="Nodes are idle while jobs of these teams wait: Kueue lends only what a team owns.",
    fix="Lower what `from` takes.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for balance in balances(platform):
        # Without a maintenance as many may belong to nobody, which `capacity/idle-nodes` reports.
        idle = balance.left - max(_unowned(balance), Fraction(0))
        for maintenance in balance.pool.maintenance:
            for team in maintenance.taken:
                quota = balance.quota(team)
                if quota and quota.withheld and idle >= _step(quota):
                    message = (
                        f"maintenance takes {quota.display(quota.withheld)} from team {team}, but "
                        f"nobody owns {balance.pool.display(idle)} in use of pool "
                        f"`{balance.pool.name}`"
                    )
                    notes = [Note("the team's quota", quota.place)]
                    yield RULE.at(maintenance.at / "from" / team, message, notes=notes)


def _unowned(balance: Balance) -> Fraction:
    """Return the nodes that no team owns without a maintenance, less those that are out of use."""
    pool = balance.pool
    owned = sum((quota.nodes for _, quota in balance.owners), Fraction(0))
    return pool.in_use.promised - owned


def _step(quota: Quota) -> Fraction:
    return Fraction(smallest_step(quota), quota.per_node)


CHECK = Check(RULE, find, every=("teams/", "quota"))
