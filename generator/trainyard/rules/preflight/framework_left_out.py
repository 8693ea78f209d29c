"""Find kinds of jobs that Kueue queues today, and that its new configuration leaves out."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.live import BEFORE, Live
from trainyard.model.lookup import texts
from trainyard.model.readable import KUEUE_FILE
from trainyard.rules._check import LiveCheck
from trainyard.rules.preflight._kueue import has_file, of_tree

RULE = Rule(
    id="preflight/framework-left-out",
    severity=Severity.ERROR,
    summary="Kueue's new configuration has each kind of job that Kueue queues today.",
    why="""
        A job of a kind that is left out starts at once, outside of any quota, on the same nodes.
    """,
    fix="Add the kind to `frameworks` of the cluster's profile until nobody uses it any more.",
    waivable=True,
)


def find(live: Live) -> Iterator[Diagnostic]:
    ours = texts(of_tree(live), "integrations", "frameworks")
    left = sorted({*texts(live.kueue, "integrations", "frameworks")} - {*ours})
    if left:
        yield RULE.at(live.at / "frameworks", f"Kueue queues these kinds today: {', '.join(left)}")


LIVE = LiveCheck(RULE, find, (KUEUE_FILE,), (BEFORE,), has_file)
