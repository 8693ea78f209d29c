"""What a replay says is refused is what the API server refuses, in the same words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain

import pytest

from tests.adoption.own import own_site
from tests.e2e.objects import identity_of
from tests.e2e.setup import NEW
from tests.e2e.stage import Stage
from tests.e2e.volumes import there
from tests.jobs.admission.foreign import CASES, Body, maker, spec
from trainyard.generation.objects import component_manifests
from trainyard.model.admission import Request
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.render.site import render_site
from trainyard_jobs.admission.evaluator import judge_of
from trainyard_jobs.admission.made import Dump
from trainyard_jobs.admission.replay import Refusal, enforced, refusals
from trainyard_rehearsal.checks.jobs import as_account
from trainyard_rehearsal.control_plane.refusal import Refused

pytestmark = pytest.mark.e2e


def replayed(site: Site, manifests: Sequence[Manifest], dump: Dump) -> tuple[Refusal, ...]:
    """Return what a cluster's policies refuse of a dump."""
    judge = judge_of(site.cluster.versions["kubernetes"], enforced(manifests, dump))
    assert judge is not None, "build the evaluator: python -m tests.e2e.engines"
    dump = dump.beside(manifests)
    return refusals(judge, dump, list(dump.requests()))


@pytest.mark.parametrize("cluster", ["lab", "prod-east"])
def test_nothing_of_an_own_cluster_is_refused(cluster: str) -> None:
    site, bodies = own_site(cluster)
    dump = Dump(tuple(bodies))

    assert len(list(dump.requests())) > 700
    assert replayed(site, every(site), dump) == ()


def every(site: Site) -> tuple[Manifest, ...]:
    return (*render_site(site), *component_manifests(site))


@cache
def of_all_cases() -> tuple[Refusal, ...]:
    """Return what is refused of all cases together, as one dump has them."""
    site, _ = own_site("prod-east")
    bodies = chain.from_iterable(case.bodies for case in CASES.values())
    return replayed(site, every(site), Dump(tuple(bodies)))


@pytest.mark.parametrize("name", CASES)
def test_foreign_workload_is_refused_as_written_down(name: str) -> None:
    case = CASES[name]
    own = {(body["metadata"]["namespace"], body["metadata"]["name"]) for body in case.bodies}
    wanted = {" ".join(each) for each in case.refused}
    names = {owner for owner, _ in case.refused} | {
        f"{namespace} {kind}/{called}"
        for namespace, called in own
        for kind in {body["kind"] for body in case.bodies}
    }
    found = {
        f"{namespace} {owner} {policy}": messages
        for (namespace, owner, policy), messages in (
            (each.key, each.messages) for each in of_all_cases()
        )
        if f"{namespace} {owner}" in names
    }

    assert set(found) == wanted
    for (owner, policy), begins in case.refused.items():
        messages = found[f"{owner} {policy}"]
        assert len(messages) == len(begins), messages
        assert all(message.startswith(tuple(begins)) for message in messages), messages


def test_every_refusal_is_in_the_table() -> None:
    known = {key for case in CASES.values() for key in case.refused}
    found = {(f"{n} {owner}", policy) for n, owner, policy in (r.key for r in of_all_cases())}

    assert found == known


_ON_NEW = pytest.mark.parametrize("stage", [NEW], indirect=True, ids=[NEW.name], scope="session")


@_ON_NEW
def test_api_server_refuses_the_pods_that_a_replay_refuses(stage: Stage) -> None:
    """Each pod of the cases, by the account that it is judged for."""
    scene = stage.deploy({})
    assert not scene.refused, scene.refused
    dump = Dump(tuple(chain.from_iterable(case.bodies for case in CASES.values())))
    for name in {body["metadata"]["namespace"] for body in dump.bodies} - {"team-nlp"}:
        for body in namespace_of_accounts(name):
            stage.api.apply(body)
    judge = judge_of(scene.site.cluster.versions["kubernetes"], enforced(scene.manifests, dump))
    assert judge is not None
    made = [each for each in dump.requests() if each.request.resource == "pods"]
    answers = judge([each.request for each in made])

    # Until it enforces the policies, it takes all.
    assert stage.until(lambda: bool(refusal(stage, made[0].request)))
    _, makers = namespace_of_accounts("team-nlp")
    with there(stage, makers):
        for each, answer in zip(made, answers, strict=True):
            said = refusal(stage, each.request)
            assert bool(said) != answer.admitted, (each.owner, said, answer)
            # It shows the first of what failed.
            assert not said or any(denial.message in said for denial in answer.denials), said
    assert sum(not answer.admitted for answer in answers) > 10


@_ON_NEW
def test_controller_is_refused_what_a_replay_refuses(stage: Stage) -> None:
    """Of all that runs on the control plane, the pods of the running job too, nothing else is."""
    scene = stage.deploy({})
    assert scene.runs(scene.submit("nlp", 2))
    llm = maker("Deployment", "real", "default", spec(resources={"limits": {"nvidia.com/gpu": 1}}))
    stage.api.apply(llm)
    try:
        assert stage.until(lambda: "trainyard-pool-nodes" in failure(stage, llm))
        # Other tests leave objects of their trees, which are others' to this one.
        there = [body for body in running(stage) if not _is_of_another_tree(body, scene.manifests)]
        refused = replayed(scene.site, scene.manifests, Dump(tuple(there)))
        assert len(refused) == 1, [(*each.key, each.messages[0][:150]) for each in refused]
        (found,) = refused
        assert found.key == ("default", "Deployment/real", "trainyard-pool-nodes")
        assert found.messages[0] in failure(stage, llm)
    finally:
        stage.api.delete(llm)


def namespace_of_accounts(name: str) -> tuple[Body, Body]:
    """Return a namespace whose accounts may make pods in it."""
    group = {"kind": "Group", "name": f"system:serviceaccounts:{name}"}
    rbac = "rbac.authorization.k8s.io"
    return (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "makers", "namespace": name},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "edit"},
            "subjects": [{"apiGroup": rbac, **group}],
        },
    )


def refusal(stage: Stage, request: Request) -> str:
    """Return why the API server refuses a pod; empty where it takes it."""
    try:
        as_account(stage.api, request.user).create(request.body, dry_run=True)
    except Refused as refused:
        return str(refused)
    return ""


def failure(stage: Stage, deployment: Body) -> str:
    """Return why the pods of a Deployment can't be made."""
    name, namespace = deployment["metadata"]["name"], deployment["metadata"]["namespace"]
    there = stage.api.get("apps/v1", "Deployment", name, namespace)
    conditions = there.get("status", {}).get("conditions", [])
    return " ".join(each["message"] for each in conditions if each["type"] == "ReplicaFailure")


def _is_of_another_tree(body: Body, manifests: Sequence[Manifest]) -> bool:
    labels = body["metadata"].get("labels") or {}
    ours = {identity_of(each.body) for each in manifests if "metadata" in each.body}
    return labels.get("app.kubernetes.io/managed-by") == "trainyard" and (
        identity_of(body) not in ours
    )


def running(stage: Stage) -> list[Body]:
    """Return what `kubectl get` lists of the control plane."""
    kinds = {
        "apps/v1": ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"),
        "batch/v1": ("Job", "CronJob"),
        "rbac.authorization.k8s.io/v1": ("RoleBinding",),
        "v1": ("Namespace", "Pod", "PersistentVolumeClaim", "ResourceQuota"),
    }
    return [
        {**body, "apiVersion": version, "kind": kind}
        for version, some in kinds.items()
        for kind in some
        for body in stage.api.list(version, kind)
    ]
