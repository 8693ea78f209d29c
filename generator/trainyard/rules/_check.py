"""A rule and the function that checks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from trainyard.diagnostics import Diagnostic, Rule
from trainyard.model.platform import Platform


@dataclass(frozen=True, slots=True)
class Check:
    """A rule, and what yields its diagnostics for a platform.

    A profile with errors is left out, and the rules see the rest. A rule that concludes from what
    is not there says here what it must know.

    Args:
        each: keys of a team's profile: the rule sees only teams of which all behind these keys is
            known.
        every: keys of teams' or clusters' profiles, or files, as `Lost.gaps` has them: the rule
            sees only clusters where all of this is known, and is silent when it may be missing on
            any.
    """

    rule: Rule
    find: Callable[[Platform], Iterator[Diagnostic]]
    each: tuple[str, ...] = ()
    every: tuple[str, ...] = ()

    def run(self, platform: Platform) -> Iterator[Diagnostic]:
        """Yield what the rule finds in the part of a platform that it may judge."""
        hidden = {team for team, key in platform.lost.of_teams if key in self.each}
        unknown = {cluster for key, cluster in platform.lost.gaps if key in self.every}
        if "" not in unknown:
            yield from self.find(
                _part(platform, hidden, unknown) if hidden or unknown else platform
            )


def _part(platform: Platform, teams: set[str], clusters: set[str]) -> Platform:
    """Return a platform without some teams and clusters."""
    sites = (site for site in platform.sites if site.name not in clusters)
    return replace(
        platform,
        sites=tuple(
            replace(
                site, tenants=tuple(tenant for tenant in site.tenants if tenant.name not in teams)
            )
            for site in sites
        ),
    )
