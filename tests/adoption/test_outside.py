"""What runs with GPUs outside of Kueue, by name."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adoption.sites import Body, body, flavor, local, node, pod, queue
from tests.adoption.test_properties import drafted
from tests.e2e.brownfield.manifests import bodies as of_lab
from trainyard.adoption.model import Mark
from trainyard.adoption.page import page

QUEUE = {"kueue.x-k8s.io/queue-name": "jobs"}


def made(kind: str, name: str, namespace: str, gpus: int, **metadata: Any) -> Body:
    """Return what makes pods with GPUs."""
    api = "batch/v1" if kind in {"Job", "CronJob"} else "apps/v1"
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    spec: Body = {
        "template": {"spec": {"containers": [{"name": "m", "resources": {"limits": limits}}]}}
    }
    if kind == "CronJob":
        spec = {"jobTemplate": {"spec": spec}}
    found = body(api, kind, name, namespace, spec=spec)
    found["metadata"] |= metadata
    return found


def owned(found: Body, kind: str, name: str, **labels: str) -> Body:
    """Return an object that another one controls; without a kind, that nobody does."""
    owner = [{"kind": kind, "name": name, "controller": True}] if kind else []
    found["metadata"] |= {"ownerReferences": owner, "labels": labels}
    return found


def outside(*more: Body) -> dict[str, str]:
    """Return what an import lists of a site with team `vision`, by kind and name."""
    site = [
        node("n1", labels={"pool": "a"}),
        flavor("a", {"pool": "a"}),
        queue("vision", "", {"a": {"nvidia.com/gpu": "8"}}),
        local("vision", "jobs", "vision"),
    ]
    adoption = drafted([*site, *more])
    return {each.part: each.text for each in adoption.remarks if each.mark is Mark.OUTSIDE}


def test_pods_are_those_of_what_made_them() -> None:
    """A Deployment's by its ReplicaSet, a CronJob's by its Job, an operator's by its object."""
    assert outside(
        made("Deployment", "llm", "web", 4, labels={"app.kubernetes.io/managed-by": "Helm"}),
        *(
            owned(pod(f"llm-{n}", "web", "n1", "", gpu="4"), "ReplicaSet", "llm-7f", **TEMPLATE)
            for n in range(2)
        ),
        owned(made("Deployment", "served", "web", 1), "InferenceService", "served"),
        made("CronJob", "nightly", "web", 2),
        owned(made("Job", "nightly-1", "web", 2), "CronJob", "nightly"),
        owned(pod("nightly-1-x", "web", "n1", "", gpu="2"), "Job", "nightly-1"),
        pod("ray-0", "vision", "n1", "RayCluster", gpu="1"),
        owned(pod("debug", "vision", "n1", "", gpu="1"), "", ""),
        made("DaemonSet", "burn-in", "tools", 1),
        made("DaemonSet", "plugin", "kube-system", 1),
    ) == {
        "Deployment web/llm": "2 pods with 8 GPUs, of Helm; outside of teams",
        "Deployment web/served": "1 GPU a pod, none is in the dump, of InferenceService served; "
        "outside of teams",
        "CronJob web/nightly": "1 pod with 2 GPUs; outside of teams",
        "RayCluster vision/x": "1 pod with 1 GPU; in team vision",
        "Pod vision/debug": "1 pod with 1 GPU; in team vision",
        "DaemonSet tools/burn-in": "1 GPU a pod, none is in the dump; outside of teams: list tools "
        "in `systemNamespaces`",
        "DaemonSet kube-system/plugin": "1 GPU a pod, none is in the dump; in a namespace of the "
        "system, whose pods are never refused",
    }


TEMPLATE = {"pod-template-hash": "7f"}
DONE = {"conditions": [{"type": "Complete", "status": "True"}]}


@pytest.mark.parametrize(
    "found",
    [
        [made("Job", "train", "vision", 8, labels=QUEUE)],
        [owned(pod("p", "vision", "n1", "", gpu="8"), "Job", "t", **QUEUE)],
        [
            made("Job", "train", "vision", 8, labels=QUEUE),
            owned(pod("p", "vision", "n1", "", gpu="8"), "Job", "train"),
        ],
        [
            owned(body("kueue.x-k8s.io/v1beta1", "Workload", "w", "vision"), "JobSet", "t"),
            pod("p", "vision", "n1", "", gpu="8")
            | {"metadata": owned(body("", "", "p", "vision"), "JobSet", "t")["metadata"]},
        ],
        [made("Job", "old", "vision", 8) | {"status": DONE}],
        [made("Deployment", "web", "web", 0)],
        [pod("p", "web", "n1", "Job", gpu="8") | {"status": {"phase": "Succeeded"}}],
    ],
    ids=["waits", "labelled", "of queued job", "workload", "ended", "no GPU", "ended pod"],
)
def test_what_kueue_has_or_what_ended_is_not_listed(found: list[Body]) -> None:
    assert outside(*found) == {}


def test_lab_lists_its_two_deployments() -> None:
    """The site of the brownfield lab: its jobs are in queues, and no pod is in the files."""
    found = outside(*of_lab("applied")[-2:], *of_lab("helm"), *of_lab("jobs"))
    assert found == {
        "Deployment inference/llm": "4 GPUs a pod, none is in the dump, of Helm; outside of teams",
        "Deployment vision/notebook": "1 GPU a pod, none is in the dump; in team vision",
    }


def test_page_says_what_becomes_of_the_next_start() -> None:
    adoption = drafted([node("n1"), made("Deployment", "llm", "web", 4)])
    text = page(adoption).decode()
    assert "## With GPUs outside of Kueue" in text
    assert "- outside of teams, `adopt.pods: audit`, as drafted, records the next start" in text
    assert "- Deployment web/llm: 4 GPUs a pod, none is in the dump; outside of teams" in text
    assert "outside of teams" not in page(drafted([node("n1")])).decode().partition("## What")[0]
