"""Find facts that are older than a day."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.live import Live
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/old-facts",
    severity=Severity.WARNING,
    summary="The facts of a cluster are of today or of yesterday.",
    why="""
        What somebody has changed on the cluster since then is not seen: a change may be approved
        that the cluster contradicts.
    """,
    fix="See why the job that reads the cluster does not run, and run it again.",
)
_MOST = 1
"""Days."""


def find(live: Live) -> Iterator[Diagnostic]:
    age = (date.fromisoformat(live.today) - date.fromisoformat(live.read_on)).days
    if age > _MOST:
        yield RULE.at(live.at, f"the cluster was read on {live.read_on}, {age} days ago")


def _is_dated(live: Live) -> bool:
    return bool(live.read_on and live.today)


LIVE = LiveCheck(RULE, find, (), concerns=_is_dated)
