"""Find labels that select nodes and that a discovery daemon sets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

_DISCOVERED = re.compile(
    r"nvidia\.com/(?:cuda|gfd|gpu|mig)\.(?!config|deploy)|feature\.node\.kubernetes\.io/"
)
"""Labels of GPU feature discovery and node feature discovery."""


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
    for node_type in hardware(platform):
        for key in node_type.labels:
            if _DISCOVERED.match(key):
                message = (
                    f"label `{key}`, which selects `{node_type.name}` nodes, is set by a daemon"
                )
                yield RULE.at((node_type.stated("labels") / key).key(), message)


CHECK = Check(RULE, find)
