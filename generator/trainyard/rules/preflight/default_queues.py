"""Find queues that OpenShift AI makes in namespaces of teams."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.facts import Body
from trainyard.model.live import Live
from trainyard.model.lookup import mapping, mappings, text
from trainyard.model.readable import CRDS
from trainyard.model.readable_of_others import SCIENCE_CLUSTERS
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/default-queues",
    severity=Severity.ERROR,
    summary="OpenShift AI makes no queue `default` in namespaces of teams.",
    why="""
        It makes a ClusterQueue with all that the nodes have, and a LocalQueue `default` in each
        namespace with the label of Kueue. Jobs without a queue's name go there, outside of the
        team's quota (opendatahub-operator:internal/controller/components/kueue@rhoai-3.4).
    """,
    fix="""
        Set `autoCreateQueues: false`, or before 3.5 `defaultLocalQueueName` to a name that no job
        has, under `kueue` of the DataScienceCluster.
    """,
)


def find(live: Live) -> Iterator[Diagnostic]:
    may_choose = any(map(_has_choice, live.of(CRDS)))
    for body in live.of(SCIENCE_CLUSTERS):
        kueue = mapping(dict(body), "spec", "components", "kueue")
        made = kueue.get("autoCreateQueues", not may_choose)
        name = text(kueue, "defaultLocalQueueName") or "default"
        if text(kueue, "managementState") == "Unmanaged" and made and name == "default":
            yield RULE.at(live.at / "release", "the DataScienceCluster makes queues for Kueue")


def _has_choice(crd: Body) -> bool:
    """Return whether a CRD is of a DataScienceCluster that says whether it makes queues."""
    if text(dict(crd), "spec", "group") != SCIENCE_CLUSTERS.group:
        return False
    path = ("schema", "openAPIV3Schema", "properties", "spec", "properties", "components")
    return any(
        mapping(version, *path, "properties", "kueue", "properties", "autoCreateQueues")
        for version in mappings(dict(crd), "spec", "versions")
    )


LIVE = LiveCheck(RULE, find, (SCIENCE_CLUSTERS, CRDS))
