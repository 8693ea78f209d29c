"""Find clusters that keep queues of the site where an operator owns Kueue's selector."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/selector-of-the-operator",
    severity=Severity.ERROR,
    summary="`adopt.queues` is stated only where the tree has Kueue's configuration.",
    why="""
        The line has no effect: Red Hat's operator lets Kueue manage the namespaces that have the
        label `kueue.openshift.io/managed`, whatever the tree says
        (openshift/kueue-operator:pkg/configmap/configmap.go@release-1.3).
    """,
    fix="Remove `adopt.queues`. Queues of namespaces with that label go on.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        cluster = site.cluster
        if cluster.adoption.keeps_queues and "kueue-configuration" not in cluster.features:
            message = (
                f"an operator owns Kueue's configuration on cluster {site.name}, which has release "
                f"`{cluster.release.name}`"
            )
            yield RULE.at(cluster.adoption.at / "queues", message)


CHECK = Check(RULE, find)
