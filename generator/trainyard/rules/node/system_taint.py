"""Find taints that Kubernetes reserves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

_SYSTEM_TAINT = re.compile(
    r"(node|node\.cloudprovider)\.kubernetes\.io/"
    r"|node-role\.kubernetes\.io/(master|control-plane|infra)\Z"
)


RULE = Rule(
    id="node/system-taint",
    severity=Severity.ERROR,
    summary="A node's taint is neither one that Kubernetes sets, nor one of control plane nodes.",
    why="""
        Jobs run on nodes that fail, are full or are not yet initialized, or beside the API server,
        because Kueue adds the toleration to every job. OpenShift AI's Trainer refuses pods that
        tolerate the control plane's taints.
    """,
    fix="Use the key of the GPU operator, `taint: nvidia.com/gpu`, or a key of your own.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for node_type in hardware(platform):
        if _SYSTEM_TAINT.match(node_type.taint):
            yield RULE.at(
                node_type.at / "taint",
                f"taint `{node_type.taint}` of a `{node_type.name}` is reserved by Kubernetes",
            )


CHECK = Check(RULE, find)
