"""MPIJobs beside TrainJobs in one team's quota, with the real MPI operator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.e2e import mpi_operator
from tests.e2e.setup import NEW_MPI, OLD_MPI, over
from tests.e2e.stage import Scene, Stage
from tests.e2e.test_plain_jobs import plain, runtimes
from tests.e2e.volumes import there
from trainyard.model.quantity import format_amount
from trainyard.yaml_io.manifests import parse_manifests
from trainyard_rehearsal.checks.jobs import Job, as_account, as_user, is_true
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.control_plane.refusal import Refused

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [NEW_MPI, OLD_MPI], indirect=True, ids=["new", "old"]),
]
_PAGE = REPOSITORY / "docs" / "how-to" / "run-mpijobs-for-a-time.md"
_OPERATOR = {"training.kubeflow.org/operator-name": "mpi-operator"}
NLP = "teams/nlp.yaml"
OPEN = {
    NLP: {
        "mpiJobs": {"prod-east": {"until": "9999-12-31"}},
        "queues": {"gpu": ["vision-queue"]},
    }
}
"""A team that may create MPIJobs, also by a further name of its queue."""


@pytest.fixture
def scene(stage: Stage) -> Iterator[Scene]:
    """Return a team that may create MPIJobs, and delete those when the test has ended."""
    found = stage.deploy(OPEN)
    settle(found.lab)
    yield found
    for body in stage.api.list(mpi_operator.VERSION, "MPIJob"):
        stage.api.delete(body)
    assert stage.until(lambda: not stage.api.list(mpi_operator.VERSION, "MPIJob"))


class MpiJob(Job):
    """An MPIJob that was submitted."""

    @property
    def body(self) -> Body:
        """The MPIJob as it is now."""
        return self.api.get(mpi_operator.VERSION, "MPIJob", self.name, self.namespace)

    @property
    def running(self) -> list[Body]:
        """Its pods that are running."""
        labels = {**_OPERATOR, "training.kubeflow.org/job-name": self.name}
        selector = ",".join("=".join(each) for each in labels.items())
        found = self.api.list("v1", "Pod", self.namespace, selector)
        return [each for each in found if each.get("status", {}).get("phase") == "Running"]


def mpi_job(scene: Scene, name: str, workers: int = 1) -> Body:
    """Return the job of the how-to, with the limits of a node of this cluster."""
    text = _PAGE.read_text(encoding="utf-8")
    (block,) = re.findall(r"<<'END'\n(apiVersion: kubeflow.org.*?)\nEND\n", text, re.DOTALL)
    (body,) = parse_manifests(block)
    assert isinstance(body, dict)
    body["metadata"] = {"name": name, "namespace": "team-nlp"}
    (grant,) = scene.space("team-nlp").grants
    amounts = grant.launch.per_node
    limits = {each: format_amount(each, amounts[each]) for each in amounts}
    replicas = body["spec"]["mpiReplicaSpecs"]
    for role in replicas.values():
        role["template"]["spec"]["containers"][0]["resources"] = {"limits": limits}
    replicas["Worker"]["replicas"] = workers
    return body


def _member(scene: Scene, team: str = "nlp") -> Api:
    return as_user(scene.api, scene.space(f"team-{team}"))


def _refusal(user: Api, body: Body) -> str:
    """Return why a job is refused; empty if it is not."""
    try:
        user.create(body, dry_run=True)
    except Refused as refused:
        return str(refused)
    return ""


def _is_refused(scene: Scene, user: Api, body: Body, words: str) -> bool:
    """Return whether a job is refused in these words in time."""
    refused = scene.stage.until(lambda: words in _refusal(user, body))
    assert refused, _refusal(user, body)
    return True


def _submit(scene: Scene, body: Body) -> MpiJob:
    user = _member(scene)
    refusals = [""]

    def created() -> bool:
        refusals.append(_refusal(user, body))
        return not refusals[-1]

    assert scene.stage.until(created), refusals[-1]
    answer = user.create(body)
    assert any("refused after 9999-12-31" in each for each in answer.warnings), answer.warnings
    return MpiJob(scene.api, "team-nlp", body["metadata"]["name"])


def _end_launcher(job: MpiJob) -> None:
    (launcher,) = (each for each in job.running if "-launcher-" in each["metadata"]["name"])
    job.api.patch(launcher, {"status": {"phase": "Succeeded"}}, "status")


def test_both_kinds_share_the_quota(scene: Scene) -> None:
    """An MPIJob without labels is queued, has all its pods at once, and ends with its launcher."""
    until = scene.stage.until
    first = _submit(scene, mpi_job(scene, "first"))
    assert first.body["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default"
    assert scene.runs(first)
    assert until(lambda: len(first.running) == 2), first.body
    (runtime,) = runtimes(scene)
    beside = scene.create("nlp", plain("beside", runtime, 2))
    assert scene.runs(beside)

    other = mpi_job(scene, "second")
    other["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "vision"}
    assert _is_refused(scene, _member(scene), other, "one of [gpu default vision-queue], not")
    other["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "vision-queue"}
    second = _submit(scene, other)
    assert scene.waits(second, "insufficient unused quota")
    assert not second.running
    _end_launcher(first)

    assert until(lambda: is_true(first.body, "Succeeded")), first.body["status"]
    assert until(lambda: not first.running)
    assert scene.runs(second)


def test_an_evicted_job_starts_again(scene: Scene) -> None:
    """On Kubernetes 1.34 the operator's own role lacks the right to start the launcher again."""
    until = scene.stage.until
    job = _submit(scene, mpi_job(scene, "evicted"))
    assert until(lambda: len(job.running) == 2)

    for active in (False, True):
        scene.api.patch(job.workload, {"spec": {"active": active}})
        assert until(lambda: job.is_admitted is active), job.waiting_reason  # noqa: B023
        assert until(lambda: active or not job.running)  # noqa: B023
    assert until(lambda: _lacks_a_right(scene) or len(job.running) == 2), job.body
    assert _lacks_a_right(scene) == (scene.site.cluster.versions["kubernetes"] == "1.34")
    mpi_operator.may_resume(scene.api)

    # The operator tries again later and later.
    assert until(lambda: len(job.running) == 2, 180), job.body


def _lacks_a_right(scene: Scene) -> bool:
    return 'cannot update resource \\"jobs/status\\"' in scene.stage.log("mpi-operator")


def test_mpi_jobs_are_refused_outside_of_the_time(scene: Scene) -> None:
    """Strangers, the day after, and a team whose field moved on; who runs keeps on running."""
    job = _submit(scene, mpi_job(scene, "longer"))
    assert scene.stage.until(lambda: len(job.running) == 2)
    late, member = mpi_job(scene, "late"), _member(scene)
    assert 'cannot create resource "mpijobs"' in _refusal(_member(scene, "vision"), late)

    path = "platform/configmap-trainjob-limits-nlp"
    (limits,) = (each.body for each in scene.manifests if each.path.startswith(path))
    scene.api.apply({**limits, "data": {**limits["data"], "mpiJobsUntil": "2026-01-31"}})
    assert _is_refused(scene, member, late, "MPIJobs ended on 2026-01-31")
    assert len(job.running) == 2

    scene.api.delete(job.body)
    assert scene.stage.until(lambda: not scene.api.list(mpi_operator.VERSION, "MPIJob"))
    scene.stage.deploy({"teams/vision.yaml": OPEN[NLP]})
    assert _is_refused(scene, member, late, 'cannot create resource "mpijobs"')
    assert _is_refused(scene, scene.api, late, "has no MPIJobs")


def _pod(scene: Scene, **fields: Any) -> Body:
    """Return a job whose workers have some more fields."""
    return over(  # type: ignore[no-any-return]
        mpi_job(scene, "odd"),
        {"spec": {"mpiReplicaSpecs": {"Worker": {"template": {"spec": fields}}}}},
    )


def test_pods_get_what_those_of_a_train_job_have(scene: Scene) -> None:
    """Each field that reaches past the quota or into the platform is refused, in its own words."""
    job = mpi_job(scene, "odd")
    secret = {"name": "x", "hostPath": {"path": "/"}}
    meta = {"annotations": {"kueue.x-k8s.io/podset-required-topology": "x"}}
    foreign = {"annotations": {"k8s.v1.cni.cncf.io/networks": "team-vision/rail-0"}}
    container = job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
    first = {**container, "name": "first", "resources": {}}
    half = {**container, "resources": {"limits": {"nvidia.com/gpu": 1}}}
    odd = {
        "must not set nodeSelector": _pod(scene, nodeSelector={"a": "b"}),
        "must not set tolerations": _pod(scene, tolerations=[{"operator": "Exists"}]),
        "must not set hostNetwork": _pod(scene, hostNetwork=True),
        "service account trainer, or none": _pod(scene, serviceAccountName="ci-runner"),
        "have only persistentVolumeClaim": _pod(scene, volumes=[secret]),
        "each pod of an MPIJob, the launcher too": _pod(scene, containers=[half]),
        "one container": _pod(scene, containers=[container, {**half, "name": "b"}]),
        "annotation k8s.v1.cni.cncf.io/networks": over(
            job, {"spec": {"mpiReplicaSpecs": {"Worker": {"template": {"metadata": meta}}}}}
        ),
        "names of networks of its own namespace": over(
            job, {"spec": {"mpiReplicaSpecs": {"Worker": {"template": {"metadata": foreign}}}}}
        ),
        "cleanPodPolicy must be": over(job, {"spec": {"runPolicy": {"cleanPodPolicy": "None"}}}),
        "reserved for the platform": over(
            job, {"spec": {"runPolicy": {"managedBy": "kueue.x-k8s.io/multikueue"}}}
        ),
        "leave out [kueue.x-k8s.io/queuename]": over(
            job, {"metadata": {"labels": {"kueue.x-k8s.io/queuename": "x"}}}
        ),
        "leave out [kueue.x-k8s.io/elastic-job]": over(
            job, {"metadata": {"annotations": {"kueue.x-k8s.io/elastic-job": "true"}}}
        ),
        "a container 200 variables": _pod(
            scene, containers=[{**container, "env": [{"name": "A", "value": "a" * 70_000}]}]
        ),
        "a node's kubelet expands them": _pod(
            scene, containers=[{**container, "env": [{"name": "A", "value": "$(B)" * 9}]}]
        ),
        "64 mounts without subPathExpr": _pod(
            scene,
            volumes=[{"name": "a", "emptyDir": {}}],
            containers=[
                {
                    **container,
                    "volumeMounts": [{"name": "a", "mountPath": "/a", "subPathExpr": "$(A)"}],
                }
            ],
        ),
        "let the program's shell expand them": _pod(
            scene, containers=[{**container, "args": ["$(A)" * 65]}]
        ),
        "no resources and no restartPolicy": _pod(
            scene, initContainers=[{**first, "resources": {"requests": {"cpu": "1"}}}]
        ),
        "the job has 6 pods": mpi_job(scene, "odd", workers=5),
        "would ignore this job": over(job, {"metadata": {"name": "1-odd"}}),
        "queue-name must be one of": over(
            job, {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "other"}}}
        ),
    }
    user = _member(scene)
    assert scene.stage.until(lambda: not _refusal(user, job)), _refusal(user, job)
    for words, body in odd.items():
        assert _is_refused(scene, user, body, words)
    # Kueue's webhook writes empty resources into a container without any.
    assert not _refusal(user, _pod(scene, initContainers=[first]))


def test_members_write_no_status(scene: Scene) -> None:
    """With it Kueue would give the nodes of a job that runs to the next one."""
    job = _submit(scene, mpi_job(scene, "first"))
    assert scene.runs(job)
    account = "system:serviceaccount:team-nlp:e2e-runner"
    runner = as_account(scene.api, account)
    ended: Body = {"status": {"conditions": []}}
    rules = [{"apiGroups": ["kubeflow.org"], "resources": ["*"], "verbs": ["*"]}]
    metadata = {"name": "e2e-runner", "namespace": "team-nlp"}
    version = "rbac.authorization.k8s.io/v1"
    role = {"apiVersion": version, "kind": "Role", "metadata": metadata, "rules": rules}
    binding = {
        "apiVersion": version,
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "e2e-runner"},
        "subjects": [{"kind": "ServiceAccount", **metadata}],
    }

    def refused() -> bool:
        try:
            runner.patch(job.body, ended, "status", dry_run=True)
        except Refused as refusal:
            return "only controllers write a status" in str(refusal)
        return False

    with there(scene.stage, role, binding):
        assert scene.stage.until(refused)
    scene.api.patch(job.body, ended, "status", dry_run=True)
