"""Find keys of Kueue's configuration that differ from the tree's."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.live import AFTER, Live
from trainyard.model.readable import KUEUE_FILE
from trainyard.rules._check import LiveCheck
from trainyard.rules.preflight._kueue import fields_of, has_file, of_tree

RULE = Rule(
    id="preflight/other-kueue-configuration",
    severity=Severity.ERROR,
    summary="Kueue's ConfigMap has what `operators/kueue-configuration.yaml` has.",
    why="""
        With another selector or other kinds Kueue does not hold the teams' jobs: they start at
        once, outside of any quota.
    """,
    fix="Replace the ConfigMap by the command of the cluster's README.md, and restart Kueue.",
)


def find(live: Live) -> Iterator[Diagnostic]:
    ours, theirs = dict(fields_of(of_tree(live))), dict(fields_of(live.kueue))
    keys = sorted(key for key in {*ours, *theirs} if ours.get(key) != theirs.get(key))
    if keys:
        yield RULE.at(live.at, f"these keys differ from the tree's: {', '.join(keys)}")


LIVE = LiveCheck(RULE, find, (KUEUE_FILE,), (AFTER,), has_file)
