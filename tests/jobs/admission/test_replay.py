"""The requests that would make the objects of a dump again, and what is given to the judge.

`tests/e2e/test_replay.py` has the judge itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.jobs.admission.foreign import (
    CASES,
    Body,
    claim,
    maker,
    metadata,
    owned,
    pod,
    spec,
    written,
)
from tests.jobs.admission.operated import JOB_SET, JOBS, TRAIN_JOB
from tests.rules.cases import platform_of
from trainyard.diagnostics import TreeError
from trainyard.model.admission import Answer, Denial, Request
from trainyard.render.site import render_site
from trainyard_jobs.admission.bodies import Owner
from trainyard_jobs.admission.made import Dump
from trainyard_jobs.admission.passed import PassedOver, passed_over
from trainyard_jobs.admission.replay import enforced, refusals
from trainyard_jobs.workflows.replay import need_cluster

_SUCCEEDED = {"type": "Succeeded", "status": "True"}
MINE = "system:serviceaccount:kube-system:"


def requests(*bodies: Body) -> list[Request]:
    return [each.request for each in Dump(bodies).requests()]


def test_each_template_is_judged_for_its_own_controller() -> None:
    controllers = {
        "CronJob": "job-controller",
        "DaemonSet": "daemon-set-controller",
        "Deployment": "replicaset-controller",
        "Job": "job-controller",
        "ReplicaSet": "replicaset-controller",
        "ReplicationController": "replication-controller",
        "StatefulSet": "statefulset-controller",
    }
    for kind, controller in controllers.items():
        pods = [
            each
            for each in requests(maker(kind, "a", "b", spec(nodeName="n")))
            if each.resource == "pods"
        ]
        (request,) = pods
        assert request.user == MINE + controller
        assert "system:serviceaccounts:kube-system" in request.groups
        assert request.body["spec"]["nodeName"] == "n"
        assert request.body["metadata"]["namespace"] == "b"
        (owner,) = request.body["metadata"]["ownerReferences"]
        assert owner["kind"] == {"CronJob": "Job"}.get(kind, kind)


def test_other_pods_are_judged_for_an_account_of_their_namespace() -> None:
    head = pod("head", "ray", spec(), ownerReferences=owned("ray.io/v1", "RayCluster", "x"))
    (request,) = requests(head)

    assert request.user == "system:serviceaccount:ray:default"


@pytest.mark.parametrize("name", JOBS)
def test_job_of_an_operator_is_judged_with_its_pods(name: str) -> None:
    """One that waits in a queue has no pod that a dump could show."""
    body = JOBS[name]
    found = requests(body)
    pods = [each for each in found if each.resource == "pods"]

    assert [each.resource for each in found] == ["pods", "pods", f"{body['kind'].lower()}s"]
    assert {each.user for each in found} == {
        f"system:serviceaccount:{body['metadata']['namespace']}:default"
    }
    assert any("nvidia.com/gpu" in str(each.body["spec"]["containers"]) for each in pods)
    made = {"kind": body["kind"], "name": body["metadata"]["name"]}
    assert all(made.items() <= each.body["metadata"]["ownerReferences"][0].items() for each in pods)


def test_pods_of_an_operators_job_are_judged_by_its_templates() -> None:
    """Its operator may say what an account of the namespace may not: that its owner waits."""
    job = JOBS["PyTorchJob"]
    owner = owned("kubeflow.org/v1", "PyTorchJob", "mnist")[0] | {"blockOwnerDeletion": True}
    running = pod("mnist-master-0", "team-nlp", spec(), ownerReferences=[owner])
    (alone,) = requests(running)

    assert alone.body["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] is False
    assert len(requests(job, running)) == 3
    assert Dump((job, running)).top(running) == Owner("team-nlp", "PyTorchJob", "mnist")


@pytest.mark.parametrize(
    "status", [{"conditions": [_SUCCEEDED]}, {"jobDeploymentStatus": "Failed"}]
)
def test_ended_job_of_an_operator_makes_no_pod(status: Body) -> None:
    assert requests({**JOBS["MPIJob"], "status": status}) == []


def test_mpi_jobs_that_a_team_may_have_are_judged_as_such() -> None:
    """Their pods are the operator's, and Kueue places them."""
    opened = {"mpiJobs": {"prod-east": {"until": "9999-12-31"}}}
    (site,) = platform_of({"teams/nlp.yaml": opened}).sites
    dump = Dump((JOBS["MPIJob"], JOBS["PyTorchJob"])).beside(render_site(site))

    found = [each.request.resource for each in dump.requests()]
    assert found == ["pods", "pods", "mpijobs", "pytorchjobs"]


def test_job_set_is_judged_with_its_pods_unless_trainer_makes_it() -> None:
    """What Trainer makes has Jobs, which are judged; a TrainJob that waits is judged as it is."""
    assert [each.resource for each in requests(JOB_SET)] == ["pods", "jobsets"]
    assert [each.resource for each in requests(TRAIN_JOB)] == ["trainjobs"]
    of_trainer = {
        **JOB_SET,
        **metadata("asr", "nlp", ownerReferences=owned("a/v1", "TrainJob", "asr")),
    }
    job = maker("Job", "a", "nlp", spec(), ownerReferences=owned("b/v1", "JobSet", "asr"))
    (request,) = requests(of_trainer, job)
    assert request.user == MINE + "job-controller"

    ended = {"status": {"conditions": [{"type": "Completed", "status": "True"}]}}
    assert requests({**JOB_SET, **ended}) == []
    assert requests({**TRAIN_JOB, "spec": {"suspend": False}}) == []


def test_what_is_passed_over_has_a_reason() -> None:
    """Each object of a dump is judged or passed over, and none is both."""
    runs = {**TRAIN_JOB, **metadata("tts", "nlp"), "spec": {"suspend": False}}
    of_trainer = {
        **JOB_SET,
        **metadata("tts", "nlp", ownerReferences=owned("a/v1", "TrainJob", "tts")),
    }
    runtime = {
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torch"},
        "spec": JOB_SET["spec"],
    }
    ended = pod("ended", "ci", spec()) | {"status": {"phase": "Failed"}}
    static = pod("etcd-1", "web", spec(), ownerReferences=owned("v1", "Node", "gpu-1"))
    web = maker("Deployment", "web", "shop", spec())
    made = pod("web-1", "shop", spec(), ownerReferences=owned("apps/v1", "Deployment", "web"))
    others = [{"kind": "Node", "metadata": {"name": f"gpu-{number}"}} for number in (2, 1)]
    bodies = (runs, of_trainer, runtime, ended, static, web, made, TRAIN_JOB, *others)
    dump = Dump(tuple(bodies), frozenset({Owner("", "Node", "gpu-2")}))

    again = "another object makes them again"
    assert passed_over(dump, dump.requests()) == (
        PassedOver(again, "JobSet", ("nlp/tts",)),
        PassedOver(again, "Pod", ("shop/web-1",)),
        PassedOver("ended", "Pod", ("ci/ended",)),
        PassedOver("started by a kubelet", "Pod", ("web/etcd-1",)),
        PassedOver(
            "started, so Kueue has written into it; `fit` judges its manifest",
            "TrainJob",
            ("nlp/tts",),
        ),
        PassedOver("the tree has them", "Node", ("gpu-2",)),
        PassedOver(
            "with templates of pods, and nothing here knows who starts them",
            "ClusterTrainingRuntime",
            ("torch",),
        ),
        PassedOver("without templates of pods", "Node", ("gpu-1",)),
    )


def test_what_was_added_since_is_left_out() -> None:
    """A node, addresses and status of a pod; the volume of a claim and its driver's keys."""
    notes = {"k8s.ovn.org/pod-networks": "{}", "mine": "kept"}
    running = pod("a", "b", spec(nodeName="n"), annotations=notes, resourceVersion="1")
    placed, asked = requests(running, claim("data", "fast"))

    assert placed.body["metadata"] == metadata("a", "b", annotations={"mine": "kept"})["metadata"]
    assert "nodeName" not in placed.body["spec"]
    assert "volumeName" not in asked.body["spec"]
    assert asked.body["spec"]["storageClassName"] == "fast"
    assert asked.body["metadata"] == metadata("data", "team-nlp")["metadata"]


def test_volume_that_somebody_chose_is_kept() -> None:
    chosen = claim("data", "fast")
    chosen["metadata"]["annotations"] = {}
    (asked,) = requests(chosen)

    assert asked.body["spec"]["volumeName"] == "pvc-1"


def test_pods_of_which_nobody_knows_who_chose_the_node_are_named() -> None:
    """Not those of controllers, nor those with managed fields, nor those without a node."""
    dump = Dump(
        (
            pod("bare", "ci", spec(nodeName="n")),
            pod("known", "ci", spec(nodeName="n"), managedFields=written("nodeName")),
            pod("waiting", "ci", spec()),
            pod("d", "ci", spec(nodeName="n"), ownerReferences=owned("apps/v1", "DaemonSet", "d")),
        )
    )

    assert dump.unknown_nodes == (Owner("ci", "Pod", "bare"),)


def test_objects_of_the_tree_are_not_judged() -> None:
    """Nor pods of its Jobs: what makes them is in the dump. Anybody can write a label."""
    cleaned = {"keep": "3d", "image": f"example.com/kubectl@sha256:{'0' * 64}"}
    (site,) = platform_of({"clusters/prod-east.yaml": {"finishedJobs": cleaned}}).sites
    ours = {"app.kubernetes.io/managed-by": "trainyard"}
    cleaner = maker("CronJob", "finished-jobs", "trainyard-system", spec(), labels=ours)
    other = maker("CronJob", "finished-jobs", "ci", spec(), labels=ours)
    made = maker(
        "Job",
        "finished-1",
        "trainyard-system",
        spec(),
        ownerReferences=owned("batch/v1", "CronJob", "finished-jobs"),
    )
    one = pod(
        "finished-1-x",
        "trainyard-system",
        spec(),
        ownerReferences=owned("batch/v1", "Job", "finished-1"),
    )

    dump = Dump((cleaner, made, one, other)).beside(render_site(site))

    assert [each.owner.namespace for each in dump.requests()] == ["ci"]


@pytest.mark.parametrize("suspended", [True, False])
def test_job_that_waits_is_judged_as_kueue_lets_it_start(*, suspended: bool) -> None:
    """Kueue gives its label to the templates when it admits the JobSet."""
    job = maker("Job", "nlp-node-0", "team-nlp", spec())
    job["spec"]["suspend"] = suspended
    job["spec"]["template"]["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-name"] = "nlp"
    (request,) = requests(job)

    assert ("kueue.x-k8s.io/podset" in request.body["metadata"]["labels"]) is suspended


def test_owners_that_own_each_other_end() -> None:
    first = maker("Job", "a", "b", spec(), ownerReferences=owned("batch/v1", "Job", "c"))
    second = maker("Job", "c", "b", spec(), ownerReferences=owned("batch/v1", "Job", "a"))

    assert Dump((first, second)).top(first).kind == "Job"
    assert requests(first, second) == []


def test_malformed_objects_are_requests_all_the_same() -> None:
    """A folder of manifests may have anything below `kind`."""
    bodies: list[Body] = [
        {"kind": "Pod", "spec": 5, "metadata": []},
        {"kind": ["Pod"]},
        {"kind": "Deployment", "metadata": {"ownerReferences": "a"}, "spec": {"template": 1}},
        {"kind": "PyTorchJob", "spec": 5},
        {"kind": "MPIJob", "spec": {"a": [{"template": {"spec": {"containers": "x"}}}]}},
    ]

    assert len(requests(*bodies)) == 4


def test_dump_without_the_namespaces_that_are_taken_over_is_of_another_cluster() -> None:
    """Before the first sync there are no others of teams, so a dump may lack these."""
    objects = ["Cohort/a", "Namespace/team-nlp"]
    adopting = {"pods": "audit", "until": "2099-01-01", "reason": "a", "objects": objects}
    (taking,) = platform_of({"clusters/prod-east.yaml": {"adopt": adopting}}).sites
    (plain,) = platform_of({}).sites
    other, own = (Dump((maker("Job", "x", name, spec()),)) for name in ("b", "team-nlp"))

    need_cluster(taking, own, list(own.requests()))
    need_cluster(plain, other, list(other.requests()))
    with pytest.raises(TreeError, match=r"\(team-nlp\)\. Is it of this cluster"):
        need_cluster(taking, other, list(other.requests()))
    with pytest.raises(TreeError, match="nothing is judged"):
        need_cluster(plain, other, [])


def test_tree_is_given_as_if_it_denied_and_with_namespaces_of_others() -> None:
    adopting = {"pods": "audit", "queues": "site", "until": "2099-01-01", "reason": "a"}
    (site,) = platform_of({"clusters/prod-east.yaml": {"adopt": adopting}}).sites
    labels = {"pod-security.kubernetes.io/enforce": "restricted", "kept": "yes"}
    other = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "labels": labels}}
    dump = Dump((other, maker("Job", "x", "b", spec()), maker("Job", "y", "team-nlp", spec())))
    given = enforced(render_site(site), dump)
    by_kind = {each.name: each.body for each in given if each.body["kind"] == "Namespace"}
    bindings = [each.body for each in given if each.body["kind"].endswith("PolicyBinding")]

    assert {str(each["spec"]["validationActions"]) for each in bindings} == {"['Deny']"}
    assert by_kind["a"]["metadata"]["labels"] == {"kept": "yes"}
    assert by_kind["b"]["metadata"]["labels"] == {}
    assert "pod-security.kubernetes.io/enforce" in by_kind["team-nlp"]["metadata"]["labels"]
    assert not [each.name for each in given if each.name.endswith("object-count")]
    assert any(each.name == "trainyard-pool-nodes" for each in given)


def test_refusals_are_by_owner_and_policy_with_the_pods_that_run() -> None:
    def judge(asked: Sequence[Request]) -> list[Answer]:
        said = Denial("p", "b", "no")
        refused = Answer((said,), "no")
        return [
            refused if each.body["metadata"]["namespace"] == "inference" else Answer((), "")
            for each in asked
        ]

    bodies = [body for case in CASES.values() for body in case.bodies]
    dump = Dump(tuple(bodies))
    found = {each.key: each for each in refusals(judge, dump, list(dump.requests()))}

    assert set(found) == {
        ("inference", "Deployment/chat", "p"),
        ("inference", "Deployment/llm", "p"),
    }
    assert found["inference", "Deployment/llm", "p"].pods == 1


def test_expression_that_fails_is_a_refusal_too() -> None:
    dump = Dump((maker("Job", "x", "b", spec()),))
    made = list(dump.requests())
    (found,) = refusals(lambda _: [Answer((), "expression failed")], dump, made)

    assert (found.policy, found.messages) == ("admission", ("expression failed",))
