"""MPIJobs and PyTorchJobs of a site, as their owners wrote them, in the namespaces of teams."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from tests.e2e.setup import NEW_KINDS, OLD_KINDS
from tests.e2e.stage import Stage
from tests.e2e.volumes import namespace, there
from tests.jobs.admission.foreign import RESTRICTED
from tests.jobs.admission.operated import JOBS
from trainyard_rehearsal.checks.jobs import as_account, is_true
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.refusal import Refused

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [NEW_KINDS, OLD_KINDS], indirect=True, ids=["new", "old"]),
]
_REFUSED = "would hold nodes of the team, and its pods get none: create a TrainJob"
_RBAC = "rbac.authorization.k8s.io"
_NLP = "teams/nlp.yaml"
_OBSERVED = {"stage": "observe", "until": "2099-12-31", "reason": "moves"}
_OPERATOR = "training-operator"


def _rights(name: str, account: str, of: str, *rules: Body, where: str = "") -> Iterator[Body]:
    """Yield a role of an account, and the binding, in one namespace or everywhere."""
    role = {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": name}}
    yield {**role, "rules": list(rules)}
    yield {
        **role,
        "kind": "RoleBinding" if where else "ClusterRoleBinding",
        "metadata": {"name": name, **({"namespace": where} if where else {})},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": of}],
    }


def _rule(group: str, *resources: str) -> Body:
    return {"apiGroups": [group], "resources": list(resources), "verbs": ["*"]}


_MEMBERS = tuple(
    _rights("e2e-kubeflow-edit", "runner", "team-nlp", _rule("kubeflow.org", "*"), where="team-nlp")
)
"""Who had the role `edit` has that of the operator for its kinds, which is part of it."""
_OF_OPERATOR = (
    namespace("kubeflow"),
    *_rights(
        "e2e-training-operator",
        _OPERATOR,
        "kubeflow",
        _rule("", "pods", "services"),
        _rule("kubeflow.org", "*"),
    ),
)


def _refusal(api: Api, body: Body) -> str:
    try:
        api.create(body, dry_run=True)
    except Refused as refused:
        return str(refused)
    return ""


def _is_refused(api: Api, body: Body, words: str) -> bool:
    return words in _refusal(api, body)


def _in_queue(body: Body, queue: str) -> Body:
    labels = {"kueue.x-k8s.io/queue-name": queue}
    return {**body, "metadata": {**body["metadata"], "labels": labels}}


def test_a_job_is_refused_when_it_is_created(stage: Stage) -> None:
    """With the label of a queue, and without: Kueue writes one.

    While the team is observed, only one that waits in a queue of the tree.
    """
    scene = stage.deploy({})
    assert not scene.refused
    assert scene.queues_are_known("nlp")
    runner = as_account(stage.api, "system:serviceaccount:team-nlp:runner")
    with there(stage, *_MEMBERS):
        for name, body in JOBS.items():
            assert stage.until(partial(_is_refused, runner, body, _REFUSED)), name

        stage.deploy({_NLP: {"adopt": _OBSERVED}})
        job = JOBS["PyTorchJob of a queue"]
        old = _in_queue(job, "of-the-site")
        assert stage.until(lambda: not _refusal(runner, old)), _refusal(runner, old)
        assert stage.until(lambda: _REFUSED in _refusal(runner, job)), _refusal(runner, job)


def test_a_team_with_mpi_jobs_has_their_rules_instead(stage: Stage) -> None:
    stage.deploy({_NLP: {"mpiJobs": {"prod-east": {"until": "9999-12-31"}}}})
    runner = as_account(stage.api, "system:serviceaccount:team-nlp:runner")
    said = {"MPIJob of a queue": "trainyard-mpijob-limits", "PyTorchJob of a queue": _REFUSED}
    with there(stage, *_MEMBERS):
        for name, words in said.items():
            body = JOBS[name]
            refused = stage.until(partial(_is_refused, runner, body, words))
            assert refused, (name, _refusal(runner, body))


def test_a_job_that_was_there_gets_no_pod(stage: Stage) -> None:
    """Kueue admits it, and refused are its operator's pods: it holds nodes until it is deleted."""
    scene = stage.deploy({})
    assert scene.queues_are_known("nlp")
    body = JOBS["PyTorchJob of a queue"]
    job = stage.api.create(body).body
    try:
        assert stage.until(lambda: _is_admitted(stage))
        pod = _pod(body, job["metadata"]["uid"])
        operator = as_account(stage.api, f"system:serviceaccount:kubeflow:{_OPERATOR}")
        with there(stage, *_OF_OPERATOR):
            words = "only a TrainJob reaches those nodes"
            assert stage.until(lambda: words in _refusal(operator, pod)), _refusal(operator, pod)
    finally:
        stage.api.delete(job)


def _is_admitted(stage: Stage) -> bool:
    workloads = stage.api.list("kueue.x-k8s.io/v1beta2", "Workload", "team-nlp")
    mine = (each for each in workloads if each["metadata"]["name"].startswith("pytorchjob-llm-"))
    return any(is_true(each, "Admitted") for each in mine)


def _pod(job: Body, uid: str) -> Body:
    """Return the pod of its master, as the training operator makes it."""
    spec = job["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    containers = [{**each, "securityContext": RESTRICTED} for each in spec["containers"]]
    owner = {
        "apiVersion": job["apiVersion"],
        "kind": job["kind"],
        "name": job["metadata"]["name"],
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    metadata = {"name": "llm-master-0", "namespace": "team-nlp", "ownerReferences": [owner]}
    pod = {**spec, "containers": containers, "restartPolicy": "Never"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod}
