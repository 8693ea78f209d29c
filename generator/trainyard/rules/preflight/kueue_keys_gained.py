"""Find keys of Kueue's new configuration that change what it does to jobs of the site."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.differences import Difference
from trainyard.model.live import BEFORE, Live
from trainyard.model.readable import KUEUE_FILE
from trainyard.rules._check import LiveCheck
from trainyard.rules.preflight._kueue import fields_of, has_file, of_tree

RULE = Rule(
    id="preflight/kueue-keys-gained",
    severity=Severity.WARNING,
    summary="While the site's queues go on, Kueue's new configuration treats their jobs as before.",
    why="""
        Kueue has one configuration for all queues. With `waitForPodsReady` it evicts each job whose
        pods are not ready in time, also of the site, and deactivates it after a number of attempts;
        with `fairSharing` it preempts by other rules.
    """,
    fix="Tell the owners of the site's queues before Kueue starts again; then waive this.",
)
_OF_JOBS = ("fairSharing", "resources", "waitForPodsReady")
"""Sections that decide what becomes of jobs; other keys are of the controller itself."""


def find(live: Live) -> Iterator[Diagnostic]:
    if not live.site.cluster.adoption.keeps_queues:
        return
    theirs = dict(_of_jobs(live.kueue))
    gained = [
        Difference(key, theirs.get(key), value)
        for key, value in _of_jobs(of_tree(live))
        if theirs.get(key) != value
    ]
    if gained:
        changes = ", ".join(f"{each.path} {each.excerpt}" for each in gained)
        yield RULE.at(live.at, f"jobs in queues of the site get these keys too: {changes}")


def _of_jobs(configuration: Any) -> Iterator[tuple[str, Any]]:
    """Yield the keys of the sections that decide what becomes of jobs."""
    kept = {name: configuration[name] for name in _OF_JOBS if name in configuration}
    return fields_of(kept)


LIVE = LiveCheck(RULE, find, (KUEUE_FILE,), (BEFORE,), has_file)
