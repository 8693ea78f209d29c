"""A rule together with the function that checks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from trainyard.diagnostics import Diagnostic, Rule
from trainyard.model.facts import Resource
from trainyard.model.live import AFTER, BEFORE, Live
from trainyard.model.platform import Platform, Site


@dataclass(frozen=True, slots=True)
class Check:
    """A rule, and the function that yields its diagnostics for a platform.

    A profile with errors is left out, and the rules see the rest. A rule that concludes from
    something absent states here which parts of the profiles it must know.

    Args:
        each: keys of a team's profile. The rule skips a team with an unknown value behind one of
            these keys.
        every: keys of teams' or clusters' profiles, or files, as in `Lost.gaps`. The rule skips
            the clusters where one of them is unknown, and reports nothing when it may be missing
            on any cluster.
    """

    rule: Rule
    find: Callable[[Platform], Iterator[Diagnostic]]
    each: tuple[str, ...] = ()
    every: tuple[str, ...] = ()

    def run(self, platform: Platform, _today: str) -> Iterator[Diagnostic]:
        """Yield the rule's findings in the part of a platform that is known well enough."""
        hidden = {team for team, key in platform.lost.of_teams if key in self.each}
        unknown = {cluster for key, cluster in platform.lost.gaps if key in self.every}
        if "" not in unknown:
            yield from self.find(_without(platform, hidden, unknown))


@dataclass(frozen=True, slots=True)
class DatedCheck:
    """A rule whose findings depend on the day, and the function that yields them."""

    rule: Rule
    find: Callable[[Platform, str], Iterator[Diagnostic]]

    def run(self, platform: Platform, today: str) -> Iterator[Diagnostic]:
        """Yield the rule's findings on a day.

        Args:
            platform: all that is known.
            today: ISO date; empty for a day before all others.
        """
        return self.find(platform, today)


def _without(platform: Platform, teams: set[str], clusters: set[str]) -> Platform:
    """Return a platform without some teams and clusters."""
    if not teams and not clusters:
        return platform
    sites = (site for site in platform.sites if site.name not in clusters)
    return replace(platform, sites=tuple(_without_teams(site, teams) for site in sites))


def _without_teams(site: Site, teams: set[str]) -> Site:
    tenants = tuple(tenant for tenant in site.tenants if tenant.name not in teams)
    return replace(site, tenants=tenants)


def _always(_: Live) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class LiveCheck:
    """A rule about a cluster that runs, and the function that yields its diagnostics.

    Args:
        reads: kinds that it must know; without one of them it does not run.
        phases: in which it runs.
        concerns: whether the tree has what the rule is about.
        partly: whether it runs on those kinds that could be read; it needs only those that the
            tree has.
    """

    rule: Rule
    find: Callable[[Live], Iterator[Diagnostic]]
    reads: tuple[Resource, ...]
    phases: tuple[str, ...] = (BEFORE, AFTER)
    concerns: Callable[[Live], bool] = _always
    partly: bool = False

    def is_due(self, live: Live) -> bool:
        """Return whether the rule has something to check."""
        return live.phase in self.phases and self.concerns(live)

    def needs(self, live: Live) -> tuple[Resource, ...]:
        """Return the kinds that it must know of a cluster."""
        there = filter(live.may_have, self.reads)
        return tuple(each for each in there if not self.partly or live.made(each))

    def run(self, live: Live) -> Iterator[Diagnostic]:
        """Yield the rule's findings about what could be read."""
        if self.partly or not live.facts.without(self.needs(live)):
            yield from self.find(live)
