"""Find maintenances after the last day that was expected."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import DatedCheck

RULE = Rule(
    id="capacity/maintenance-overdue",
    severity=Severity.WARNING,
    summary="No maintenance has passed its last day (`until`).",
    why="""
        The nodes stay out of use, and teams continue without them: nothing on the cluster reads the
        day, so that no node comes back that nobody has tested.
    """,
    fix="""
        If the nodes are repaired, make them schedulable and remove the entry; else state a later
        day.
    """,
)


def find(platform: Platform, today: str) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for pool in site.cluster.pools:
            for window in pool.maintenance:
                if window.until < today:
                    message = (
                        f"maintenance of {counted(len(window.nodes), 'node')} of pool "
                        f"`{pool.name}` was expected to end on {window.until}: "
                        f"{', '.join(window.nodes)}"
                    )
                    note = Note(f"its reason was: {window.reason}", window.at / "reason")
                    yield RULE.at(window.at / "until", message, notes=[note])


CHECK = DatedCheck(RULE, find)
