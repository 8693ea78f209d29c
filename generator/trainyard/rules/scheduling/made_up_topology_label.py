"""Find topology levels in Kubernetes' domains that Kubernetes does not set."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.topology import HOSTNAME
from trainyard.rules._check import Check
from trainyard.rules._iterate import levels

_KUBERNETES = re.compile(r"(^|\.)(kubernetes|k8s)\.io/")


_KNOWN_LEVELS = frozenset(
    {HOSTNAME, "topology.kubernetes.io/region", "topology.kubernetes.io/zone"}
)
"""Well-known labels of Kubernetes for the location of a node."""


RULE = Rule(
    id="scheduling/made-up-topology-label",
    severity=Severity.WARNING,
    summary="A topology level in a label domain of Kubernetes is a label that Kubernetes sets.",
    why="""
        Kueue places no job: `no topology domains at level: <label>` (seen with Kueue 0.19.2).
        Kubernetes sets labels for regions, zones and hosts, and nothing sets its other names.
    """,
    fix="""
        Use a label of your own that is set by whoever knows the racks and switches, such as
        ml.example.com/leaf.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for topology, i, level in levels(platform):
        if _KUBERNETES.search(level) and level not in _KNOWN_LEVELS:
            has = f"topology `{topology.name}` has the level {level}"
            yield RULE.at(topology.at / "levels" / i, f"{has}, which Kubernetes does not set")


CHECK = Check(RULE, find)
