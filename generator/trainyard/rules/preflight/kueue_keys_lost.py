"""Find keys of Kueue's configuration that its new one does not have."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.live import BEFORE, Live
from trainyard.model.readable import KUEUE_FILE
from trainyard.rules._check import LiveCheck
from trainyard.rules.preflight._kueue import fields_of, has_file, of_tree

RULE = Rule(
    id="preflight/kueue-keys-lost",
    severity=Severity.WARNING,
    summary="Kueue's new configuration has each key that the installed one has.",
    why="""
        `operators/kueue-configuration.yaml` replaces the whole file, so Kueue uses its default for
        each of these keys, for all queues of the cluster.
    """,
    fix="Ask the owner of Kueue whether somebody needs the key; then waive this.",
)


def find(live: Live) -> Iterator[Diagnostic]:
    ours = {key for key, _ in fields_of(of_tree(live))}
    lost = [key for key, _ in fields_of(live.kueue) if key not in ours]
    if lost:
        yield RULE.at(live.at, f"the installed configuration has these keys: {', '.join(lost)}")


LIVE = LiveCheck(RULE, find, (KUEUE_FILE,), (BEFORE,), has_file)
