"""Scenarios of the families ``access`` and ``isolation``: who may do what on the API server."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.e2e.setup import bad, good
from tests.e2e.stage import Scene, Stage
from tests.e2e.volumes import there
from trainyard_rehearsal.checks.access_requests import POD_OF_A_JOB
from trainyard_rehearsal.checks.account_objects import owners
from trainyard_rehearsal.checks.jobs import as_account, as_user, with_trainer
from trainyard_rehearsal.checks.refusals import FINALIZER, NODES, PODSET, RANK_LABEL, TRAINER_ONLY
from trainyard_rehearsal.checks.variants import with_change
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.local_cluster import AUDIT_LOG
from trainyard_rehearsal.control_plane.refusal import Refused

_BOTH = ("team-nlp", "team-vision")
_JOBS = "trainjobs.trainer.kubeflow.org"


def may(
    stage: Stage, groups: Sequence[str], what: str, namespace: str, *, user: str = "any"
) -> bool:
    """Return whether the API server lets somebody do something.

    Args:
        stage: the control plane.
        groups: of the user.
        what: verb and resource, e.g. ``create trainjobs.trainer.kubeflow.org``.
        namespace: where it is done.
        user: name of the user.
    """
    verb, resource = what.split()
    plural, _, group = resource.partition(".")
    attributes = {"verb": verb, "resource": plural, "group": group, "namespace": namespace}
    return is_allowed(stage.api, user, groups, attributes)


def is_allowed(api: Api, user: str, groups: Sequence[str], attributes: Body) -> bool:
    """Return the API server's answer to what a logged-in user asks for (`resourceAttributes`)."""
    everybody = [*groups, "system:authenticated"]
    review: Body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "metadata": {},
        "spec": {"user": user, "groups": everybody, "resourceAttributes": attributes},
    }
    return bool(api.create(review).body["status"]["allowed"])


def _comes(
    stage: Stage, groups: Sequence[str], what: str, namespace: str, *, user: str = "any"
) -> bool:
    """Return whether somebody may do something soon after the roles were applied."""
    return stage.until(lambda: may(stage, groups, what, namespace, user=user))


def debugger_expired(stage: Stage) -> None:
    """The group still runs commands in the pods of its team's jobs, and in no other pod."""
    stage.deploy(bad("access/debugger-expired"))
    assert _comes(stage, ["nccl-experts"], "create pods/exec", "team-nlp")
    assert not may(stage, ["nccl-experts"], "create pods/exec", "team-vision")
    assert not may(stage, ["nlp"], "create pods/exec", "team-nlp")
    # The API server judges the name before it looks for the pod.
    assert stage.until(lambda: "is none of a job's" in _shell(stage, "workbench-0"))
    assert "not found" in _shell(stage, POD_OF_A_JOB)


def _shell(stage: Stage, pod: str) -> str:
    """Return how the API server refuses a command in a pod that does not exist."""
    user = stage.api.acting("expert", ["nccl-experts", "system:authenticated"])
    metadata = {"name": pod, "namespace": "team-nlp"}
    with pytest.raises(Refused) as refused:
        user.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}, "exec")
    return str(refused.value)


def group_in_two_roles(stage: Stage) -> None:
    """A viewers' group that is also a users' group may submit."""
    stage.deploy(bad("access/group-in-two-roles"))
    assert _comes(stage, ["nlp"], f"create {_JOBS}", "team-nlp")
    assert not may(stage, ["nlp-guests"], f"create {_JOBS}", "team-nlp")


def group_in_two_teams(stage: Stage) -> None:
    """Members of the group read and submit in both namespaces."""
    stage.deploy(bad("access/group-in-two-teams"))
    assert all(_comes(stage, ["nlp"], f"create {_JOBS}", each) for each in _BOTH)
    assert all(_comes(stage, ["nlp"], "get pods", each) for each in _BOTH)


def nobody_may_submit(stage: Stage) -> None:
    """Nobody of the team may create a TrainJob."""
    scene = stage.deploy(bad("access/nobody-may-submit"))
    assert _comes(stage, ["vision"], f"get {_JOBS}", "team-vision")
    with pytest.raises(Refused, match='cannot create resource "trainjobs"'):
        as_user(stage.api, scene.space("team-vision"), "viewer").create(scene.body("vision", 2))


def own_runtimes_without_admin(stage: Stage) -> None:
    """A user may create jobs, and no TrainingRuntime."""
    scene = stage.deploy(bad("access/own-runtimes-without-admin"))
    runtimes = "create trainingruntimes.trainer.kubeflow.org"
    assert _comes(stage, ["vision"], f"create {_JOBS}", "team-vision")
    assert not may(stage, ["vision"], runtimes, "team-vision")
    assert not may(stage, ["vision-leads"], runtimes, "team-vision")
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainingRuntime",
        "metadata": {"name": "own", "namespace": "team-vision"},
        "spec": {"template": {}},
    }
    with pytest.raises(Refused, match='cannot create resource "trainingruntimes"'):
        as_user(stage.api, scene.space("team-vision")).create(runtime)


def shadowed_account(stage: Stage) -> None:
    """Each job's pods get the role of an account with the same name as the ranks' account."""
    account = {"serviceAccounts": {"pipeline": None, "trainer": {"role": "user"}}}
    scene = stage.deploy(bad("access/shadowed-account", **{"teams/nlp.yaml": account}))
    job = scene.submit("nlp", 2)
    assert scene.runs(job)
    assert stage.until(lambda: bool(job.pods))
    assert {pod.body["spec"]["serviceAccountName"] for pod in job.pods} == {"trainer"}
    groups = ["system:serviceaccounts", "system:serviceaccounts:team-nlp"]
    assert _comes(
        stage,
        groups,
        f"create {_JOBS}",
        "team-nlp",
        user="system:serviceaccount:team-nlp:trainer",
    )


def kind_in_a_name(stage: Stage) -> None:
    """Neither the user nor the group's members have the role; with the right entries they do."""
    stage.deploy(bad("access/kind-in-a-name"))
    assert not may(stage, [], f"create {_JOBS}", "team-nlp", user="alice")
    assert not may(stage, ["/ml/guests"], f"get {_JOBS}", "team-nlp")
    stage.deploy(good("access/kind-in-a-name"))
    assert _comes(stage, [], f"create {_JOBS}", "team-nlp", user="alice")
    for group in ("CN=ML guests,OU=Groups,DC=example,DC=com", "/ml/guests"):
        assert _comes(stage, [group], f"get {_JOBS}", "team-nlp")


def system_subject(stage: Stage) -> None:
    """Every account, and so every pod, reads the team's jobs."""
    stage.deploy(bad("access/system-subject"))
    assert _comes(
        stage, [], f"get {_JOBS}", "team-nlp", user="system:serviceaccount:team-vision:default"
    )


def team_group_runs_platform(stage: Stage) -> None:
    """A team's admins read another team's logs and delete its jobs."""
    stage.deploy(bad("access/team-group-runs-platform"))
    assert _comes(stage, ["nlp-leads"], f"delete {_JOBS}", "team-vision")
    assert _comes(stage, ["nlp-leads"], "list pods", "team-vision")


def minted_token(stage: Stage) -> None:
    """Kubernetes writes a token of the account into such a Secret."""
    scene = stage.deploy(bad("access/minted-token"))
    wanted = next(each.body for each in scene.manifests if each.name == "tracking")
    template = wanted["spec"]["target"]["template"]
    # External Secrets does not run here: this is the Secret that it would make.
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "tracking", "namespace": "team-nlp"},
    }
    secret = {**secret, "type": template["type"]}
    secret["metadata"] = {**secret["metadata"], **template["metadata"]}  # type: ignore[dict-item]
    stage.api.create(secret)
    try:
        assert stage.until(
            lambda: "token" in stage.api.get("v1", "Secret", "tracking", "team-nlp").get("data", {})
        )
        token = base64.b64decode(
            stage.api.get("v1", "Secret", "tracking", "team-nlp")["data"]["token"]
        ).decode()
        assert _who(stage, token) == "system:serviceaccount:team-nlp:ci-runner"
    finally:
        stage.delete("v1", "Secret", "team-nlp", "tracking")


def shared_account(stage: Stage) -> None:
    """The holder of the token submits and deletes; the API server knows the account only."""
    stage.deploy(bad("access/shared-account"))
    account = "system:serviceaccount:team-nlp:ci-runner"
    groups = ["system:serviceaccounts", "system:serviceaccounts:team-nlp"]
    for verb in ("create", "delete"):
        assert _comes(stage, groups, f"{verb} {_JOBS}", "team-nlp", user=account)
    assert _who(stage, stage.api.token("ci-runner", "team-nlp")) == account


def _who(stage: Stage, token: str) -> str:
    """Return the user that the API server authenticates by a token."""
    review: Body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "metadata": {}}
    status = stage.api.create({**review, "spec": {"token": token}}).body["status"]
    assert status["authenticated"], status
    return str(status["user"]["username"])


def pool_not_dedicated(stage: Stage) -> None:
    """A job of another team runs on the nodes that should be dedicated."""
    scene = stage.deploy(bad("isolation/pool-not-dedicated"))
    queues = scene.space("team-nlp").queues
    name = next(each.node_class for each in queues if each.node_class != "gpu")
    runtime = next(
        each.name for each in scene.site.launches if each.runtime.name.startswith("simulation")
    )
    body = scene.body("nlp", 2, queue_name=name)
    body["spec"] = {**body["spec"], "runtimeRef": {**body["spec"]["runtimeRef"], "name": runtime}}
    body["spec"]["trainer"] = {"numNodes": 2, "command": ["mpirun"]}
    job = scene.create("nlp", body)
    assert scene.runs(job)
    assert scene.flavors(job) == {"epyc-phi"}


def team_as_system_namespace(stage: Stage) -> None:
    """A controller takes GPUs of the pool in the team's namespace only."""
    stage.deploy(bad("isolation/team-as-system-namespace"))
    maker = as_account(stage.api, "system:serviceaccount:kube-system:statefulset-controller")
    container = {
        "name": "main",
        "image": "example.com/image",
        "resources": {"limits": {"nvidia.com/gpu": "8"}},
    }
    restricted = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    profile = {
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    }

    def refusal(team: str) -> str:
        spec: Body = {
            "automountServiceAccountToken": False,
            "serviceAccountName": "trainer",
            "securityContext": profile,
            "tolerations": [{"operator": "Exists"}],
            "containers": [{**container, "securityContext": restricted}],
        }
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "workbench", "namespace": team},
            "spec": spec,
        }
        try:
            maker.create(pod, dry_run=True)
        except Refused as refused:
            return str(refused)
        return ""

    assert stage.until(lambda: "trainyard-pool-nodes" in refusal("team-nlp")), refusal("team-nlp")
    assert stage.until(lambda: not refusal("team-vision")), refusal("team-vision")


def adopting(stage: Stage) -> None:
    """A controller's pod outside of teams takes GPUs; the same pod is refused without the key, and
    taken again when the key is back.

    Meanwhile it is refused in a team's namespace, and nobody takes such a namespace's label away.
    """
    maker = as_account(stage.api, "system:serviceaccount:kube-system:replicaset-controller")
    pod: Body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "inference", "namespace": "default"},
        "spec": {
            "automountServiceAccountToken": False,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 1000,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "tolerations": [{"operator": "Exists"}],
            "containers": [
                {
                    "name": "main",
                    "image": "example.com/image",
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "capabilities": {"drop": ["ALL"]},
                    },
                    "resources": {"limits": {"nvidia.com/gpu": "8"}},
                }
            ],
        },
    }

    def refusal(namespace: str = "default") -> str:
        return _refusal(maker, pod, namespace)

    stage.deploy(bad("isolation/adopting"))
    assert stage.until(lambda: not refusal()), refusal()
    in_team = "trainyard-pool-nodes-of-teams"
    assert stage.until(lambda: in_team in refusal("team-nlp")), refusal("team-nlp")
    _holds_names_of_teams(stage)
    stage.deploy({})
    assert stage.until(lambda: "trainyard-pool-nodes" in refusal()), refusal()
    stage.deploy(bad("isolation/adopting"))
    assert stage.until(lambda: not refusal()), refusal()


def _holds_names_of_teams(stage: Stage) -> None:
    """Assert that an account with every right on namespaces takes no team's label away."""
    account = {"kind": "ServiceAccount", "name": "site", "namespace": "default"}
    rule = {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "patch"]}
    rbac, named = "rbac.authorization.k8s.io", {"metadata": {"name": "site"}}
    role: Body = {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", **named, "rules": [rule]}
    binding: Body = {
        **role,
        "kind": "ClusterRoleBinding",
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "site"},
        "subjects": [account],
    }
    del binding["rules"]
    team: Body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-nlp"}}
    taken: Body = {"metadata": {"labels": {"ml.example.com/team": None}}}
    other = as_account(stage.api, "system:serviceaccount:default:site")

    def refusal() -> str:
        try:
            other.patch(team, taken, dry_run=True)
        except Refused as refused:
            return str(refused)
        return ""

    with there(stage, role, binding):
        assert stage.until(lambda: "trainyard-team-namespaces-of-teams" in refusal()), refusal()


def not_enforced(stage: Stage) -> None:
    """Pods and Jobs of an observed team are made and recorded, and those of the other refused.

    The nodes of the pools stay closed: the Job has the labels of ranks, and gets no pod there,
    neither now nor when the team's queues open.
    """
    log = stage.lab.kubeconfig.parent / AUDIT_LOG
    scene = stage.deploy(bad("isolation/not-enforced"))
    for namespace in _BOTH:
        stage.api.apply(_edits(namespace))
    editor = stage.api.acting(_EDITOR, ())
    pod = {"apiVersion": "v1", "kind": "Pod", **_pod({"privileged": True})}
    rank = _pod({})
    rank["metadata"]["labels"] = {"jobset.sigs.k8s.io/jobset-name": "a"}
    rank["spec"] |= {"tolerations": [{"operator": "Exists"}], "restartPolicy": "Never"}
    job = {"apiVersion": "batch/v1", "kind": "Job", **_pod({}), "spec": {"template": rank}}
    observed = "team-vision"

    assert stage.until(lambda: not _refusal(editor, pod, observed)), _refusal(editor, pod, observed)
    assert stage.until(lambda: "violates PodSecurity" in _refusal(editor, pod, "team-nlp"))
    assert stage.until(lambda: not _refusal(editor, job, observed)), _refusal(editor, job, observed)
    assert stage.until(lambda: "trainyard-jobs" in _refusal(editor, job, "team-nlp"))
    assert stage.until(lambda: '"trainyard-jobs-observe"' in _recorded(log, observed))
    maker = as_account(stage.api, "system:serviceaccount:kube-system:job-controller")
    made = {"apiVersion": "v1", "kind": "Pod", **rank}
    assert stage.until(lambda: "trainyard-pool-nodes" in _refusal(maker, made, observed))
    _keep_nothing_for_later(scene, editor, job)

    _is_no_rank_later(stage, maker, made)

    stage.deploy({})
    assert stage.until(lambda: "violates PodSecurity" in _refusal(editor, pod, observed))
    assert stage.until(lambda: "trainyard-jobs" in _refusal(editor, job, observed))


def _keep_nothing_for_later(scene: Scene, editor: Api, job: Body) -> None:
    """Assert that an observed team makes nothing that is obeyed when its queues open."""
    observed = "team-vision"
    marked = with_change(job, {"spec": {"template": {"metadata": {"labels": _ADMITTED}}}})
    assert scene.stage.until(lambda: PODSET in _refusal(editor, marked, observed))
    snapshot = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a-runtime-snapshot"}}
    assert scene.stage.until(lambda: TRAINER_ONLY in _refusal(editor, snapshot, observed))
    (queue, *_) = (each.name for each in scene.space(observed).local_queues)
    waiting = scene.body("vision", 2, queue_name=queue)
    held = with_change(waiting, {"metadata": {"finalizers": ["example.com/hold"]}})
    large = with_trainer(waiting, numNodes=5000)
    for body, words in ((held, FINALIZER), (large, NODES)):
        assert scene.denied("vision", body, words)


def _is_no_rank_later(stage: Stage, maker: Api, made: Body) -> None:
    """Assert that a pod of that Job is none of the team's next stage, unless Kueue admitted it."""
    observed, next_stage = "team-vision", {"teams/vision.yaml": {"adopt": {"stage": "warn"}}}
    stage.deploy(bad("isolation/not-enforced", **next_stage))
    assert stage.until(lambda: RANK_LABEL in _refusal(maker, made, observed))
    rank = with_change(made, {"metadata": {**owners(), "labels": _ADMITTED}})
    assert stage.until(lambda: not _refusal(maker, rank, observed)), _refusal(maker, rank, observed)


_ADMITTED = {"kueue.x-k8s.io/podset": "node"}
_EDITOR = "editor"
"""Has the role of Kubernetes that a namespace of the site gives its people."""


def _edits(namespace: str) -> Body:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "editors", "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": _EDITOR}],
    }


def _pod(security: Body) -> Body:
    container = {"name": "main", "image": "example.com/image", "securityContext": security}
    return {
        "metadata": {"name": "notebook"},
        "spec": {"automountServiceAccountToken": False, "containers": [container]},
    }


def _refusal(who: Api, body: Body, namespace: str) -> str:
    """Return why an object is refused in a namespace; empty where it is not."""
    there = {**body, "metadata": {**body["metadata"], "namespace": namespace}}
    try:
        who.create(there, dry_run=True)
    except Refused as refused:
        return str(refused)
    return ""


def _recorded(log: Path, namespace: str) -> str:
    """Return what the audit log says of policies that would have refused something there."""
    found = []
    for line in log.read_text("utf-8").splitlines():
        event = json.loads(line)
        if event.get("objectRef", {}).get("namespace") == namespace:
            found.append(event.get("annotations", {}).get(_FAILURE, ""))
    return "\n".join(found)


_FAILURE = "validation.policy.admission.k8s.io/validation_failure"
