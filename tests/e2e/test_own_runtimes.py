"""Runtimes that a team's admins create: copies with another image or other variables."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.setup import NEW, OLD
from tests.e2e.stage import Scene, Stage
from tests.e2e.test_plain_jobs import NLP, ends, plain, runtimes
from trainyard_rehearsal.checks.jobs import TRAINER, as_user
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.refusal import Refused

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [OLD, NEW], indirect=True, ids=[OLD.name, NEW.name]),
]
OPT_IN = {NLP: {"ownRuntimes": 2}}
IMAGE = "registry.example.com/nlp/own@sha256:" + 64 * "3"


def copied(scene: Scene, base: str, name: str) -> Body:
    """Return a copy of a runtime as an admin writes it, with another image and a variable."""
    runtime = scene.stage.api.get(TRAINER, "ClusterTrainingRuntime", base)
    domain = scene.space("team-nlp").cluster.settings.domain
    labels = {**runtime["metadata"]["labels"], f"{domain}/copy-of": base}
    spec = copy.deepcopy(runtime["spec"])
    for job in spec["template"]["spec"]["replicatedJobs"]:
        for container in pod(job)["containers"]:
            container["image"] = IMAGE
            memory = {"resourceFieldRef": {"resource": "limits.memory"}}
            container["env"] = [
                *container["env"],
                {"name": "OWN", "value": "yes"},
                {"name": "MEMORY", "valueFrom": memory},
            ]
    return {
        "apiVersion": TRAINER,
        "kind": "TrainingRuntime",
        "metadata": {"name": name, "namespace": "team-nlp", "labels": labels},
        "spec": spec,
    }


def pod(job: Body) -> Body:
    """Return the pod's spec of a replicated job."""
    found: Body = job["template"]["spec"]["template"]["spec"]
    return found


def jobs(body: Body) -> list[Body]:
    found: list[Body] = body["spec"]["template"]["spec"]["replicatedJobs"]
    return found


def _networks(body: Body) -> None:
    template = jobs(body)[0]["template"]["spec"]["template"]
    template.setdefault("metadata", {}).setdefault("annotations", {})[
        "k8s.v1.cni.cncf.io/networks"
    ] = "team-vision/ib-rail-0"


def _fewer_resources(body: Body) -> None:
    resources = pod(jobs(body)[0])["containers"][0]["resources"]
    for amounts in resources.values():
        amounts["cpu"] = "1"


def _job_label(body: Body) -> None:
    jobs(body)[0]["template"].setdefault("metadata", {}).setdefault("labels", {})[
        "kueue.x-k8s.io/queue-name"
    ] = "other"


def _template_label(body: Body) -> None:
    body["spec"]["template"].setdefault("metadata", {})["labels"] = {"a": "b"}


def _in_pod(**fields: Any) -> Callable[[Body], None]:
    return lambda body: pod(jobs(body)[-1]).update(fields)


def _in_container(**fields: Any) -> Callable[[Body], None]:
    return lambda body: pod(jobs(body)[-1])["containers"][0].update(fields)


def _reserved(body: Body) -> None:
    pod(jobs(body)[-1])["containers"][0]["env"] += [{"name": "EXPORT_COMMAND", "value": "x"}]


def _env(**variable: Any) -> Callable[[Body], None]:
    def change(body: Body) -> None:
        pod(jobs(body)[-1])["containers"][0]["env"] += [variable]

    return change


def _more_nodes(body: Body) -> None:
    body["spec"]["mlPolicy"]["numNodes"] = 50


def _name(body: Body) -> None:
    body["metadata"]["name"] = "mine"


def _other_base(body: Body) -> None:
    body["metadata"]["name"] = "later-v1-dgx-h100.mine"


def _without_label(body: Body) -> None:
    labels = body["metadata"]["labels"]
    del labels[next(key for key in labels if key.endswith("/copy-of"))]


HOSTILE: list[Callable[[Body], None]] = [
    _networks,
    _fewer_resources,
    _job_label,
    _template_label,
    _reserved,
    _more_nodes,
    _name,
    _other_base,
    _without_label,
    _in_pod(hostNetwork=True),
    _in_pod(nodeSelector={"a": "b"}),
    _in_pod(tolerations=[{"operator": "Exists"}]),
    _in_pod(serviceAccountName="ci-runner"),
    _in_pod(volumes=[{"name": "x", "hostPath": {"path": "/"}}]),
    _in_pod(priorityClassName="system-node-critical"),
    _in_pod(automountServiceAccountToken=True),
    _in_pod(containers=[{"name": "node", "image": IMAGE}]),
    _in_container(securityContext={"privileged": True}),
    _in_container(command=["sleep"]),
    _in_container(volumeMounts=[]),
    _in_container(image="Not//AnImage"),
    _in_container(image="a/" * 130 + "b"),
    _env(name="9bad=name", value="x"),
    _env(name="PET_NNODES", value="1"),
    _env(name="A", valueFrom={"secretKeyRef": {"name": "Not A Name", "key": "a"}}),
    _env(name="A", valueFrom={"secretKeyRef": {"name": "a..b", "key": "a"}}),
    _env(name="A", valueFrom={"secretKeyRef": {"name": "a", "key": ".."}}),
    _env(name="A", valueFrom={"resourceFieldRef": {"resource": "limits.none"}}),
    _env(name="A", value="$(B)"),
    _env(name="A", value="a\0b"),
]


def _refusal(scene: Scene, body: Body, role: str = "admin") -> str:
    user = as_user(scene.stage.api, scene.space("team-nlp"), role)
    try:
        user.create(body, dry_run=True)
    except Refused as refused:
        return str(refused)
    return ""


def _is_refused(scene: Scene, base: str, change: Callable[[Body], None]) -> bool:
    """Return whether the policies refuse a copy after a change."""
    body = copied(scene, base, f"{base}.x")
    change(body)
    refusal = _refusal(scene, body)
    return "trainyard-copies" in refusal or "trainyard-own-runtimes" in refusal


def test_own_runtime_is_a_copy_and_its_jobs_run(stage: Stage) -> None:
    """The limits of a job are those of the runtime that it is a copy of."""
    scene = stage.deploy(OPT_IN)
    (base,) = runtimes(scene)
    body = copied(scene, base, f"{base}.own")
    assert stage.until(lambda: not _refusal(scene, body))
    as_user(stage.api, scene.space("team-nlp"), "admin").create(body)

    asked = plain("own", f"{base}.own", 2)
    asked["spec"]["runtimeRef"]["kind"] = "TrainingRuntime"
    larger = plain("larger", f"{base}.own", 50)
    larger["spec"]["runtimeRef"]["kind"] = "TrainingRuntime"
    assert stage.until(lambda: scene.denied("nlp", larger, "spec.trainer.numNodes is 50"))
    assert ends(scene, scene.create("nlp", asked))


def test_nothing_else_differs_in_a_copy(stage: Stage) -> None:
    """Another network, other resources, nodes, accounts, volumes or labels are refused."""
    scene = stage.deploy(OPT_IN)
    (base,) = runtimes(scene)
    assert stage.until(lambda: not _refusal(scene, copied(scene, base, f"{base}.x")))
    # The API server enforces a new policy some seconds after it has accepted it.
    assert stage.until(lambda: _is_refused(scene, base, HOSTILE[0]))
    let_through = [change for change in HOSTILE if not _is_refused(scene, base, change)]
    assert not let_through
    assert "cannot create resource" in _refusal(scene, copied(scene, base, f"{base}.x"), "user")
