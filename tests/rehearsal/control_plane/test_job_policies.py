"""The part of OpenShift AI's Trainer that writes NetworkPolicies, as the rehearsal plays it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.served import Served
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.job_policies import JobPolicies, policy_of
from trainyard_rehearsal.control_plane.lab import Lab

ACCOUNT = "system:serviceaccount:redhat-ods-applications:kubeflow-trainer-controller-manager"
TRAINER = "trainer.kubeflow.org/v1alpha1"
NETWORKING = "networking.k8s.io/v1"
PATH = f"/apis/{NETWORKING}/namespaces/a/networkpolicys"
"""The server of these tests adds an s to every kind."""


def job(server: Served, name: str) -> Body:
    """Put a TrainJob on the server."""
    metadata = {"uid": "1", "resourceVersion": "7"}
    return server.put(TRAINER, "TrainJob", name, "a", metadata=metadata)


def without_null(body: Any) -> Any:
    """Return plain data as the API server keeps it after a merge patch."""
    if not isinstance(body, dict):
        return body
    return {key: without_null(value) for key, value in body.items() if value is not None}


@pytest.fixture
def trainer(lab: Lab) -> JobPolicies:
    """Return the controller; it is not running."""
    return JobPolicies(lab.api, ACCOUNT)


def test_each_job_gets_its_policy_once(trainer: JobPolicies, server: Served) -> None:
    """Ingress from its own pods, and it goes with the job."""
    job(server, "train")
    trainer.look()
    trainer.look()

    written = [each for each in server.requests if each.method in {"PATCH", "POST"}]
    assert [each.method for each in written] == ["POST"]
    assert ("Impersonate-User", ACCOUNT) in [(k.title(), v) for k, v in written[0].headers]
    policy = server.objects[f"{PATH}/train"]
    assert policy["spec"]["podSelector"] == {
        "matchLabels": {"jobset.sigs.k8s.io/jobset-name": "train"}
    }
    assert policy["metadata"]["ownerReferences"][0]["uid"] == "1"


def test_a_policy_that_is_there_becomes_that_of_the_job(
    trainer: JobPolicies, server: Served
) -> None:
    """Nothing of its spec and of its labels remains, as after Trainer's update."""
    labels = {"app.kubernetes.io/managed-by": "trainyard"}
    spec = {
        "podSelector": {"matchExpressions": [{"key": "x", "operator": "Exists"}]},
        "policyTypes": ["Ingress", "Egress"],
        "egress": [],
    }
    server.put(NETWORKING, "NetworkPolicy", "default-deny", "a", labels=labels, spec=spec)
    wanted = policy_of(job(server, "default-deny"), "redhat-ods-applications")
    trainer.look()

    policy = server.objects[f"{PATH}/default-deny"]
    assert without_null(policy["spec"]) == wanted["spec"]
    assert without_null(policy["metadata"]["labels"]) == wanted["metadata"]["labels"]


def test_a_refusal_is_remembered_and_tried_again(trainer: JobPolicies, server: Served) -> None:
    job(server, "dns")
    server.refused[("POST", PATH)] = (403, "is the platform's")
    trainer.look()
    trainer.look()

    assert trainer.refusals == {("a", "dns"): "is the platform's"}
    assert len([each for each in server.requests if each.method == "POST"]) == 2
