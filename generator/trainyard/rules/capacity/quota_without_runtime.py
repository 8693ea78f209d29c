"""Look for a runtime on each pool that a team has quota of, whatever its size."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import holdings

RULE = Rule(
    id="capacity/quota-without-runtime",
    severity=Severity.ERROR,
    summary="Some runtime of a team runs on the nodes of each pool that it has quota of.",
    why="""
        The team can launch nothing there, as the admission policy knows only its runtimes (seen
        with Kubernetes 1.36.3: it refuses every job in that queue): the nodes are idle, or always
        lent, and look taken to everybody else.
    """,
    fix="""
        List a runtime for those nodes, add the hardware to one that was tested on it, or take the
        quota away.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known = {runtime.name: runtime for runtime in platform.runtimes}
    for team, flavors in holdings(platform):
        runs_on = {hardware for name in team.runtimes for hardware in known[name].hardware}
        for quota, each in ((flavor.quota, flavor.pool.hardware) for flavor in flavors):
            if each.name not in runs_on:
                message = (
                    f"team {team.name} has quota of pool `{quota.pool}`, and none of its runtimes "
                    f"runs on a `{each.name}`"
                )
                notes = [Note("its runtimes", team.at / "runtimes")]
                cause = (
                    f"teams have quota of pool `{quota.pool}`, and none of their runtimes runs "
                    f"on a `{each.name}`"
                )
                yield RULE.at(quota.at.key(), message, notes=notes, cause=cause)


CHECK = Check(RULE, find, each=("runtimes",))
