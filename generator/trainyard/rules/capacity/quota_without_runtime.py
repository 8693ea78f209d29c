"""Find pools on which a team has quota but no runtime."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import holdings

RULE = Rule(
    id="capacity/quota-without-runtime",
    severity=Severity.ERROR,
    summary="For each pool of its quota, a team lists a runtime that runs on the pool's nodes.",
    why="""
        The team can start nothing there, because the admission policy allows only its runtimes
        (seen with Kubernetes 1.36.3: it refuses every job in that queue). The nodes are idle or
        always lent, and look taken to everyone else.
    """,
    fix="""
        Add a runtime for those nodes to the team's `runtimes`, add the hardware to a runtime that
        was tested on it, or remove the quota.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known = {runtime.name: runtime for runtime in platform.runtimes}
    for team, flavors in holdings(platform):
        runs_on = {kind for name in team.runtimes for kind in known[name].hardware}
        for flavor in flavors:
            quota, hardware = flavor.quota, flavor.pool.hardware
            if hardware.name not in runs_on:
                message = (
                    f"team {team.name} has quota of pool `{quota.pool}`, but none of its runtimes "
                    f"runs on a `{hardware.name}`"
                )
                notes = [Note("its runtimes", team.at / "runtimes")]
                cause = (
                    f"teams have quota of pool `{quota.pool}`, but none of their runtimes runs "
                    f"on a `{hardware.name}`"
                )
                yield RULE.at(quota.at.key(), message, notes=notes, cause=cause)


CHECK = Check(RULE, find, each=("runtimes",))
