"""Find labels that select nodes and that a discovery daemon sets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._labels import selecting_keys

_DISCOVERED = re.compile(
    r"nvidia\.com/(?:cuda|gfd|gpu|mig)\.(?!config|deploy)|(?:beta\.)?amd\.com/gpu\."
    r"|feature\.node\.kubernetes\.io/"
)
"""Labels of GPU feature discovery, AMD's node labeller and node feature discovery."""


RULE = Rule(
    id="node/label-of-a-daemon",
    severity=Severity.WARNING,
    summary="""
        Nodes are selected by a label that the platform sets, not by one that a discovery daemon
        sets.
    """,
    why="""
        When the daemon is upgraded, fails or is removed, the label disappears
        (NVIDIA/k8s-device-plugin#1597). The node then leaves its flavor, and the SR-IOV operator
        resets its virtual functions while jobs use them.
    """,
    fix="""
        Remove `labels` and set the platform's own label on the nodes. A flavor that jobs use can't
        change: add a pool under another name beside the old one, and move the quota.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for key, nodes, at in selecting_keys(platform):
        if _DISCOVERED.match(key):
            yield RULE.at(at, f"label `{key}`, which selects {nodes}, is set by a daemon")


CHECK = Check(RULE, find)
