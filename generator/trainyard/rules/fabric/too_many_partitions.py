"""Count the teams on each fabric, except retired ones, whose partitions no port has any more."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import allocated

RULE = Rule(
    id="fabric/too-many-partitions",
    severity=Severity.ERROR,
    summary="At most 128 teams have partitions of one InfiniBand fabric.",
    why="""
        Jobs of the next team find no path (NCCL times out), because its partition cannot be set: a
        port's table has 128 entries.
    """,
    fix="""
        Spread the teams over two fabrics, or set `state: retired` for those that no longer exist.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    retired = {team.name for team in platform.teams if team.state == "retired"}
    for site, fabric, holders in allocated(platform):
        count, link = sum(team not in retired for team, _ in holders), fabric.link
        if count > link.most:
            message = (
                f"{count} teams have {link.segment}s of fabric `{fabric.name}`; a port holds "
                f"{link.most}"
            )
            yield RULE.at((platform.allocations_at / site.name / fabric.name).key(), message)


CHECK = Check(RULE, find, every=("teams/",))
