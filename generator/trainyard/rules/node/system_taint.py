"""Find keys that are Kubernetes' own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

_SYSTEM_TAINT = re.compile(
    r"(node|node\.cloudprovider)\.kubernetes\.io/|node-role\.kubernetes\.io/(master|control-plane|infra)\Z"
)


RULE = Rule(
    id="node/system-taint",
    severity=Severity.ERROR,
    summary="""
        The taint of a node is not one that Kubernetes sets, nor one of the control plane's nodes.
    """,
    why="""
        Kueue adds the toleration to every job: nodes that fail, are full or not yet initialized
        stay in use, or jobs land beside the API server. OpenShift AI's Trainer refuses pods that
        tolerate the control plane's taints.
    """,
    fix="Take the key of the GPU operator, nvidia.com/gpu, or one of your own.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        if _SYSTEM_TAINT.match(each.taint):
            yield RULE.at(
                each.at / "taint", f"`{each.taint}` of a `{each.name}` is not yours to set"
            )


CHECK = Check(RULE, find)
