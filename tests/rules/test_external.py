"""Forms of storage requests, and objects that others own."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.resolve.changes import CLUSTER, ROCE, together
from tests.rules.cases import HERE, messages

ALLOCATIONS = "allocations.yaml"
TEAMS = ((0, "nlp"), (1, "vision"))
VOLUME = {"volume": "pvc-1", "size": "1Ti"}


@pytest.mark.parametrize(
    ("storage", "asked", "fits"),
    [
        ("home", "1Ti", True),
        ("home", "plenty", False),
        ("home", VOLUME, False),
        ("scratch", "1Ti", True),
        ("scratch", "1TB", False),
        ("scratch", VOLUME, False),
        ("checkpoints", "nlp-checkpoints", True),
        ("checkpoints", "2Ti", False),
        ("checkpoints", VOLUME, False),
        ("home", "7Ei", True),
        ("home", "8Ei", False),
        ("home", "50TB", False),
        ("imagenet", {**VOLUME, "size": "9999999Ti"}, False),
        ("imagenet", VOLUME, True),
        ("imagenet", "1Ti", False),
    ],
)
def test_each_kind_of_storage_takes_its_own_form(storage: str, asked: Any, fits: bool) -> None:
    """nfs and class take a size, s3 a bucket, adopted a volume with its size."""
    found = messages(
        "references/wrong-storage-request", {"teams/nlp.yaml": {"storage": {storage: asked}}}
    )

    assert (found == []) is fits
    assert all(f"`{storage}`" in message for message in found)


def test_wrong_request_is_reported_once_for_two_clusters() -> None:
    """A team's request is the same on each of its clusters."""
    cluster = yaml.safe_load(
        (HERE / "base/profiles/clusters/prod-east.yaml").read_text(encoding="utf-8")
    )
    quota = {name: {"dgx-h100": {"nodes": 4}} for name in ("prod-east", "prod-west")}
    changes = {
        "clusters/prod-west.yaml": cluster,
        "teams/nlp.yaml": {"quota": quota, "storage": {"home": "plenty"}},
        ALLOCATIONS: {
            "prod-west": {"ib": {"nlp": {"partition": "0x0101", "addresses": "10.64.0.0/20"}}}
        },
    }

    assert len(messages("references/wrong-storage-request", changes)) == 1


@pytest.mark.parametrize(
    ("storage", "fits"), [("home", False), ("scratch", True), ("checkpoints", False)]
)
def test_claims_take_storage_of_kind_class_only(storage: str, fits: bool) -> None:
    """Nothing provisions a volume for a claim on a folder or a bucket."""
    found = messages(
        "references/wrong-storage-request", {"teams/nlp.yaml": {"claims": {storage: "1Ti"}}}
    )

    assert (found == []) is fits
    assert all(f"`{storage}`" in message for message in found)


@pytest.mark.parametrize(
    "external",
    [
        "ClusterSecretStore/vault",
        "StorageClass/cephfs",
        "NodeFirmware/ib",
        "Partitions/ib",
        "NodeLabel/ml.example.com/leaf",
        "IPReconciler/whereabouts",
    ],
)
def test_each_undeclared_object_is_reported_once(external: str) -> None:
    """Stores, classes, partitions and labels: once, however often they are used."""
    changes = {"clusters/prod-east.yaml": {"external": {external: None}}}

    assert messages("references/undeclared-external", changes) == [
        f"`{external}` is not declared in `external`"
    ]


def test_namespace_of_an_egress_rule_is_declared() -> None:
    """It is reported once, unless the release or the cluster has it."""
    egress = {"tracking": {"namespaces": ["mlflow", "openshift-dns"], "ports": [5000]}}
    egress |= {"tracking-tls": {"namespaces": ["mlflow"], "ports": [5443]}}

    assert messages(
        "references/undeclared-external", {"clusters/prod-east.yaml": {"egress": egress}}
    ) == ["`Namespace/mlflow` is not declared in `external`"]


def test_lossless_queue_of_roce_is_declared() -> None:
    """InfiniBand has its own flow control, and nv-ipam needs no reconciler."""
    vlan = {
        ALLOCATIONS: {
            "prod-east": {"ib": {team: {"partition": None, "vlan": 100 + i} for i, team in TEAMS}}
        }
    }
    cluster = {
        "fabrics": {"ib": {"link": "roce", "partitions": None, "vlans": "100-199"}},
        "release": "kubernetes-1.36",
    }
    declared = {"Partitions/ib": None, "IPReconciler/whereabouts": None, "Vlans/ib": "network team"}
    changes = {**vlan, "clusters/prod-east.yaml": {**cluster, "external": declared}}

    assert messages("references/undeclared-external", changes) == [
        "`LosslessQueue/ib` is not declared in `external`"
    ]


def test_openshift_lets_networks_set_the_sysctls_of_roce_if_its_owner_does() -> None:
    """Other platforms have no list of sysctls."""
    allowed = {"SysctlAllowlist/multus": None}

    assert messages(
        "references/undeclared-external", together(ROCE, {CLUSTER: {"external": allowed}})
    ) == ["`SysctlAllowlist/multus` is not declared in `external`"]


@pytest.mark.parametrize(
    ("stack", "prometheus"),
    [
        ("openshift", "UserWorkloadMonitoring/trainyard-system"),
        ("prometheus-operator", "PrometheusOperator/trainyard-system"),
    ],
)
def test_prometheus_is_declared(stack: str, prometheus: str) -> None:
    """On OpenShift the operators that bring the metrics are declared by the release."""
    cluster = {"monitoring": {"stack": stack}, "external": {prometheus: None}}

    assert messages("references/undeclared-external", {"clusters/prod-east.yaml": cluster}) == [
        f"`{prometheus}` is not declared in `external`"
    ]


def test_metrics_that_others_have_scraped_are_declared() -> None:
    """Not those of an exporter that a cluster needs no alert of, or of a controller that we do."""
    metrics = dict.fromkeys(
        f"Metrics/{each}" for each in ("dcgm-exporter", "kube-state-metrics", "node-exporter")
    )
    cluster = {
        "release": "kubernetes-1.36",
        "monitoring": {"stack": "prometheus-operator"},
        "external": metrics,
    }
    changes = {"clusters/prod-east.yaml": cluster}
    assert messages("references/undeclared-external", changes) == [
        f"`{each}` is not declared in `external`" for each in metrics
    ]

    unwatched = {"clusters/prod-east.yaml": {**cluster, "monitoring": None}}
    assert messages("references/undeclared-external", unwatched) == []


def test_limits_of_waiting_need_the_states_of_jobs() -> None:
    """Without them no alert could read the limits; without limits nobody has to run it."""
    limited = {"stack": "openshift", "waiting": {"batch": "1h"}}
    cluster = {"priorities": {"batch": 1}, "monitoring": limited}
    words = "`Metrics/job-states` is not declared in `external`"
    rule = "references/undeclared-external"
    assert words in str(messages(rule, {"clusters/prod-east.yaml": cluster}))
    owned = {**cluster, "external": {"Metrics/job-states": "me"}}
    assert words not in str(messages(rule, {"clusters/prod-east.yaml": owned}))
    unlimited = {**cluster, "monitoring": {"stack": "openshift"}}
    assert words not in str(messages(rule, {"clusters/prod-east.yaml": unlimited}))
