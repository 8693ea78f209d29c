"""Find labels that a discovery daemon sets: when one of them goes, the node leaves the pool."""

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
"""Of GPU feature discovery and node feature discovery."""


RULE = Rule(
    id="node/label-of-a-daemon",
    severity=Severity.WARNING,
    summary="""
        Nodes are selected by a label that the platform sets, not by one that a daemon discovers.
    """,
    why="""
        The label goes when the daemon is upgraded, fails or is removed
        (NVIDIA/k8s-device-plugin#1597). The node then leaves its flavor, and the SR-IOV operator
        resets its virtual functions under the jobs that run.
    """,
    fix="""
        Leave `labels` out and set the platform's own label on the nodes. Where jobs run the flavor
        can't change: add a pool under another name beside the old one, and move the quota.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        for key in each.labels:
            if _DISCOVERED.match(key):
                message = f"`{key}` selects a `{each.name}`, and a daemon sets it"
                yield RULE.at((each.stated("labels") / key).key(), message)


CHECK = Check(RULE, find)
