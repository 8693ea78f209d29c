"""Find levels below Kubernetes' domains that it does not set."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.fabric import HOSTNAME
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

_KUBERNETES = re.compile(r"(^|\.)(kubernetes|k8s)\.io/")


_KNOWN_LEVELS = frozenset(
    {HOSTNAME, "topology.kubernetes.io/region", "topology.kubernetes.io/zone"}
)
"""Well-known labels of Kubernetes that say where a node is."""


RULE = Rule(
    id="scheduling/made-up-topology-label",
    severity=Severity.WARNING,
    summary="A level of Kubernetes' own name is one that Kubernetes sets.",
    why="""
        Kubernetes knows regions, zones and hosts; nobody sets its other names, and Kueue places
        nothing then: `no topology domains at level: <label>` (seen with Kueue 0.19.2).
    """,
    fix="""
        Take a label of your own, which whoever knows the racks and switches sets, such as
        ml.example.com/leaf.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for fabric in (fabric for site in platform.sites for fabric in site.cluster.fabrics):
        for i, level in enumerate(fabric.levels):
            if _KUBERNETES.search(level) and level not in _KNOWN_LEVELS:
                message = (
                    f"fabric `{fabric.name}` has the level {level}, which Kubernetes does not set"
                )
                yield RULE.at(fabric.at / "levels" / i, message)


CHECK = Check(RULE, find)
