"""Count the teams on each fabric, except retired ones, whose partitions no port has any more."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform, Site
from trainyard.model.team import Team
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
        Spread the teams over two fabrics, or set `state: retired` for those that no longer exist
        (`states`, for those that left the cluster).
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site, fabric, holders in allocated(platform):
        retired = {each.name for each in platform.teams if _has_left(each, site)}
        count, link = sum(team not in retired for team, _ in holders), fabric.link
        if count > link.most:
            message = (
                f"{count} teams have {link.segment}s of fabric `{fabric.name}`; a port holds "
                f"{link.most}"
            )
            yield RULE.at((platform.allocations_at / site.name / fabric.name).key(), message)


def _has_left(team: Team, site: Site) -> bool:
    return team.state_on(site.name).word == "retired"


CHECK = Check(RULE, find, every=("teams/",))
