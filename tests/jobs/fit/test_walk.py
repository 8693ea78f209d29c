"""Jobs on the cases' base: 9 nodes, one in reserve; two teams with 4 nodes each in a cohort."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.jobs.fit.setting import Body, admits, ground, sample, verdict
from tests.resolve.changes import together
from tests.rules.cases import merged
from trainyard.model.admission import Answer, Denial
from trainyard_jobs.fit.case import case_of
from trainyard_jobs.fit.quotas import by_pods
from trainyard_jobs.fit.usage import Running, Snapshot
from trainyard_jobs.fit.verdict import Check, Link, Standing, Verdict
from trainyard_jobs.fit.walk import judge

NEW = {"clusters/prod-east.yaml": {"release": "kubernetes-1.36"}}
GPU = ("dgx-h100", "nvidia.com/gpu")
QUEUE = "kueue.x-k8s.io/queue-name"
BORROWING = {
    "teams/nlp.yaml": {"quota": {"prod-east": {"dgx-h100": {"borrow": 4}}}},
    "teams/vision.yaml": {"quota": {"prod-east": {"dgx-h100": {"lend": "all"}}}},
}


def only(found: Verdict, link: Link) -> Check:
    (check,) = (
        each
        for each in found.checks
        if each.link is link and each.standing is not Standing.UNJUDGED
    )
    return check


@pytest.mark.parametrize("changes", [{}, NEW], ids=["openshift", "kubernetes"])
def test_sample_is_admitted_with_its_pods(changes: dict[str, Any]) -> None:
    found = verdict(ground(changes), sample(changes))

    assert (found.standing, found.checks) == (Standing.ADMITTED, ())
    assert [(each.role, each.count) for each in found.podsets] == [("node", 1), ("launcher", 1)]
    assert found.podsets[0].requests["nvidia.com/gpu"] == 8


@given(st.integers(0, 12))
def test_a_job_fits_as_long_as_its_pods_fit_the_quota(nodes: int) -> None:
    found = verdict(ground({}), sample({}, numNodes=nodes))

    assert sum(each.count for each in found.podsets) == max(nodes, 2)
    assert (found.standing is Standing.ADMITTED) == (nodes <= 4)
    if nodes > 4:
        check = only(found, Link.QUOTA)
        assert check.limit == "32 nvidia.com/gpu, 32 nvidia.com/gpu of its own"
        assert check.message.startswith(f"requested {nodes * 8} nvidia.com/gpu (node {nodes - 1}")
        assert check.at is not None
        assert check.at.path[-2:] == ("dgx-h100", "nodes")


def test_borrowing_raises_the_limit() -> None:
    assert verdict(ground(BORROWING), sample(BORROWING, numNodes=8)).standing is Standing.ADMITTED
    check = only(verdict(ground(BORROWING), sample(BORROWING, numNodes=9)), Link.QUOTA)
    assert check.limit == "64 nvidia.com/gpu, 32 nvidia.com/gpu of its own"


def test_an_amount_is_explained_by_pods() -> None:
    case = case_of(ground({}), sample({}, numNodes=9))

    assert by_pods(case, "nvidia.com/gpu") == "node 8 x 8, launcher 1 x 8"
    assert by_pods(case, "pods") == "node 8 x 1, launcher 1 x 1"
    assert not by_pods(case, "example.com/other")


def plain(job: Body, **labels: str) -> Body:
    """Return a job with its runtime, command and nodes alone."""
    kept = {key: job["spec"]["trainer"][key] for key in ("command", "args", "numNodes")}
    metadata = {key: job["metadata"][key] for key in ("name", "namespace")}
    spec = {"runtimeRef": {"name": job["spec"]["runtimeRef"]["name"]}, "trainer": kept}
    return {**job, "metadata": {**metadata, "labels": labels}, "spec": spec}


@pytest.mark.parametrize("changes", [{}, NEW], ids=["openshift", "kubernetes"])
@pytest.mark.parametrize("labels", [{}, {QUEUE: ""}, {QUEUE: "default"}, {QUEUE: "gpu"}])
def test_a_job_says_no_more_than_runtime_command_and_nodes(
    changes: dict[str, Any], labels: dict[str, str]
) -> None:
    """Kueue's webhook names the queue of a job without one before the policies see it."""
    found = case_of(ground(changes), plain(sample(changes), **labels))

    assert found.body["metadata"]["labels"] == {QUEUE: labels.get(QUEUE) or "default"}
    assert verdict(ground(changes), plain(sample(changes))).standing is Standing.ADMITTED


def test_a_team_without_a_default_queue_refuses_jobs_without_a_label() -> None:
    changes = {"teams/nlp.yaml": {"defaultQueue": "none"}}
    found = case_of(ground(changes), plain(sample(changes)))

    assert QUEUE not in found.body["metadata"]["labels"]
    check = only(verdict(ground(changes), plain(sample(changes))), Link.QUEUE)
    assert check.message == "namespace team-nlp has no LocalQueue `` that leads to a queue"


def test_a_job_may_name_a_further_queue_of_its_class() -> None:
    """Policies are judged in `tests/e2e/test_plain_jobs.py`."""
    changes = {"teams/nlp.yaml": {"queues": {"gpu": ["vision-queue", "old.queue"]}}}
    for name in ("vision-queue", "old.queue"):
        job = plain(sample(changes), **{QUEUE: name})
        assert verdict(ground(changes), job).standing is Standing.ADMITTED
    check = only(verdict(ground(changes), plain(sample(changes), **{QUEUE: "vision"})), Link.QUEUE)
    assert check.message == "namespace team-nlp has no LocalQueue `vision` that leads to a queue"


def used(nodes: int, priority: int = 0, queue: str = "vision-gpu") -> Snapshot:
    """Return a snapshot with one job that has some whole nodes."""
    amounts = {"nvidia.com/gpu": 8, "cpu": 208_000, "pods": 1}
    usage = {("dgx-h100", name): amount * nodes for name, amount in amounts.items()}
    places = {f"n{number}": amounts for number in range(nodes)}
    job = Running("team-x/x", f"queue/{queue}", priority, usage, places, "2026-01-01T00:00:00Z")
    queues = {"queue/nlp-gpu": {}, "queue/vision-gpu": {}, job.queue: usage}
    return Snapshot(queues, (job,), {}, has_jobs=True)


def test_a_job_waits_for_what_others_use() -> None:
    snapshot = used(3, queue="nlp-gpu")
    check = only(verdict(ground({}, snapshot=snapshot), sample({}, numNodes=2)), Link.QUOTA)

    assert check.standing is Standing.WAITS
    assert (check.usage, check.available) == ("24 nvidia.com/gpu", "8 nvidia.com/gpu")


EVICTIONS = "whether Kueue evicts running jobs for this one"


def test_evictions_that_are_not_predicted_are_said() -> None:
    job = sample({}, numNodes=4)
    fair = verdict(ground({}, snapshot=used(3, 0, "nlp-gpu")), job)
    alone = Snapshot(used(3, 0, "nlp-gpu").queues)
    classical = {"clusters/prod-east.yaml": {"sharing": "classical"}}
    unknown = verdict(ground(classical, snapshot=alone), job)

    assert (fair.standing, unknown.standing) == (Standing.WAITS,) * 2
    judged = [each for found in (fair, unknown) for each in found.unjudged]
    assert [each.message.partition(": ") for each in judged if each.link is Link.QUOTA] == [
        (EVICTIONS, ": ", "it is predicted for clusters with `sharing: classical` only"),
        (EVICTIONS, ": ", "the snapshot has no Workloads"),
    ]


def test_a_job_evicts_one_of_its_queue_with_a_lower_priority() -> None:
    job = sample({}, numNodes=4)
    assert job["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == "batch"

    lower, equal = (used(3, priority, "nlp-gpu") for priority in (499, 500))
    classical = {"clusters/prod-east.yaml": {"sharing": "classical"}}
    evicting = verdict(ground(classical, snapshot=lower), job)
    check = only(evicting, Link.QUOTA)
    assert (evicting.standing, check.standing) == (Standing.ADMITTED,) * 2
    assert check.message == "Kueue evicts 1 job for it: team-x/x"
    assert verdict(ground(classical, snapshot=equal), job).standing is Standing.WAITS


@pytest.mark.parametrize(("own", "standing"), [(4, Standing.ADMITTED), (5, Standing.WAITS)])
def test_an_owner_reclaims_its_own_quota_only(own: int, standing: Standing) -> None:
    changes = {
        **BORROWING,
        "clusters/prod-east.yaml": {"sharing": "classical"},
        "teams/vision.yaml": {
            "quota": {"prod-east": {"dgx-h100": {"lend": "all", "borrow": 4}}},
        },
        "teams/nlp.yaml": {
            "quota": {"prod-east": {"dgx-h100": {"lend": "all", "borrow": 4}}},
        },
    }
    on = ground(changes, snapshot=used(8, 1000))

    assert verdict(on, sample(changes, numNodes=own)).standing is standing


def test_nodes_of_others_are_not_free_although_quota_is() -> None:
    snapshot = used(6)
    snapshot = Snapshot({**snapshot.queues, "queue/vision-gpu": {}}, snapshot.running, {}, True)
    found = verdict(ground({}, snapshot=snapshot), sample({}, numNodes=4))

    check = only(found, Link.TOPOLOGY)
    assert (found.standing, check.standing) == (Standing.WAITS,) * 2
    assert (check.message, check.repair) == (
        "dgx-h100 has no free node for 1 pod now",
        ("wait until running jobs end",),
    )


def test_an_empty_namespace_or_name_is_an_absent_one() -> None:
    names = {"namespace": "", "name": "", "generateName": "run-"}
    found = verdict(ground({}), merged(sample({}), {"metadata": names}))

    assert (found.standing, found.namespace, found.job) == (
        Standing.ADMITTED,
        "team-nlp",
        "run-xxxxx",
    )
    assert only(found, Link.NAMESPACE).message.endswith("so it is judged in team-nlp")


BROKEN: dict[str, tuple[dict[str, Any], Link]] = {
    "unknown field": ({"spec": {"x": 1}}, Link.FORM),
    "name": ({"metadata": {"name": "Upper"}}, Link.FORM),
    "deadline": (
        {"metadata": {"labels": {"kueue.x-k8s.io/max-exec-time-seconds": "soon"}}},
        Link.FORM,
    ),
    "label": ({"metadata": {"labels": {"x": 1}}}, Link.FORM),
    "twice": (
        {"spec": {"trainer": {"env": [{"name": "A", "value": "1"}, {"name": "A"}]}}},
        Link.FORM,
    ),
    "namespace": ({"metadata": {"namespace": "team-vision"}}, Link.NAMESPACE),
    "runtime": ({"spec": {"runtimeRef": {"name": "other"}}}, Link.RUNTIME),
    "runtime kind": ({"spec": {"runtimeRef": {"kind": "TrainingRuntime"}}}, Link.RUNTIME),
    "initializer": ({"spec": {"initializer": {"model": {"storageUri": "s3://x"}}}}, Link.RUNTIME),
    "queue": ({"metadata": {"labels": {QUEUE: "other"}}}, Link.QUEUE),
    "coverage": (
        {"spec": {"trainer": {"resourcesPerNode": {"requests": {"example.com/x": "1"}}}}},
        Link.COVERAGE,
    ),
    "quantity": (
        {"spec": {"trainer": {"resourcesPerNode": {"requests": {"cpu": "1e99999"}}}}},
        Link.FORM,
    ),
    "node": (
        {"spec": {"trainer": {"resourcesPerNode": {"requests": {"memory": "3Ti"}}}}},
        Link.NODES,
    ),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("changes", [{}, NEW], ids=["openshift", "kubernetes"])
def test_a_broken_link_is_named(case: str, changes: dict[str, Any]) -> None:
    change, link = BROKEN[case]
    found = verdict(ground(changes), merged(sample(changes), change))

    assert found.standing is Standing.NEVER
    assert link in {each.link for each in found.deciding}


@pytest.mark.parametrize("changes", [{}, NEW], ids=["openshift", "kubernetes"])
def test_own_runtime_of_a_team_has_the_limits_of_what_it_copies(changes: dict[str, Any]) -> None:
    """Only where the team may have some; the evaluator judges both."""
    may = together(changes, {"teams/nlp.yaml": {"ownRuntimes": 1}})
    job = sample(may)
    name = f"{job['spec']['runtimeRef']['name']}.own"
    own = merged(job, {"spec": {"runtimeRef": {"kind": "TrainingRuntime", "name": name}}})
    larger = merged(own, {"spec": {"trainer": {"numNodes": 5}}})

    assert verdict(ground(may), own).standing is Standing.ADMITTED
    assert verdict(ground(may), larger).standing is Standing.NEVER
    assert verdict(ground(changes), own).standing is Standing.NEVER


def test_no_end_of_a_job_helps_a_draining_team() -> None:
    changes = {"teams/nlp.yaml": {"state": "draining"}}
    check = only(verdict(ground(changes), sample({})), Link.QUEUE)

    assert check.standing is Standing.NEVER
    assert check.message == "ClusterQueue nlp-gpu admits no job: team nlp is draining"


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"teams/nlp.yaml": {"state": "held"}}, "team nlp"),
        ({"clusters/prod-east.yaml": {"state": "held"}}, "cluster prod-east"),
        ({"clusters/prod-east.yaml": {"pools": {"dgx-h100": {"state": "held"}}}}, "pool dgx-h100"),
    ],
)
def test_job_of_a_held_queue_waits_and_one_that_never_fits_is_still_found(
    changes: dict[str, Any], cause: str
) -> None:
    held = verdict(ground(changes), sample({}))
    check = only(held, Link.QUEUE)
    assert (held.standing, check.standing) == (Standing.WAITS, Standing.WAITS)
    assert check.message == f"ClusterQueue nlp-gpu admits no job: {cause} is held"
    larger = merged(sample({}), {"spec": {"trainer": {"numNodes": 9}}})
    assert verdict(ground(changes), larger).standing is Standing.NEVER


@pytest.mark.parametrize("missing", ["nlp-gpu", "vision-gpu"])
def test_usage_that_a_snapshot_does_not_show_is_not_judged(missing: str) -> None:
    shown = used(0)
    queues = {name: usage for name, usage in shown.queues.items() if name != f"queue/{missing}"}
    found = verdict(ground(BORROWING, snapshot=Snapshot(queues)), sample(BORROWING))

    assert (found.standing, found.deciding) == (Standing.UNJUDGED, ())
    messages = [each.message for each in found.unjudged if each.link is Link.QUOTA]
    assert messages == [f"the snapshot has no ClusterQueue {missing} with a status"]


def test_usage_of_a_queue_outside_the_cohort_is_not_needed() -> None:
    changes = {"teams/vision.yaml": {"cohort": None}}
    found = verdict(ground(changes, snapshot=Snapshot({"queue/nlp-gpu": {}})), sample(changes))

    assert found.standing is Standing.ADMITTED


def test_a_job_that_is_too_large_needs_no_snapshot_to_be_refused() -> None:
    found = verdict(ground({}, snapshot=Snapshot({"queue/x": {}})), sample({}, numNodes=9))
    assert found.standing is Standing.NEVER


def test_a_queue_that_the_cluster_stopped_lets_jobs_wait() -> None:
    snapshot = Snapshot(used(0).queues, stopped={"queue/nlp-gpu": "its stopPolicy is Hold"})
    check = only(verdict(ground({}, snapshot=snapshot), sample({})), Link.QUEUE)

    assert check.standing is Standing.WAITS
    assert check.message.endswith("ClusterQueue nlp-gpu admits nothing now: its stopPolicy is Hold")


def test_a_snapshot_without_a_resource_quota_is_mentioned() -> None:
    found = verdict(ground({}, snapshot=used(0)), sample({}))

    assert found.standing is Standing.ADMITTED
    assert [each.link for each in found.unjudged] == [Link.OBJECT_QUOTA]


def test_objects_that_a_quota_has_no_room_for_are_refused() -> None:
    hard = "count/trainjobs.trainer.kubeflow.org"
    snapshot = Snapshot(quotas={("team-nlp", "object-counts"): {hard: "100"}})
    check = only(verdict(ground({}, snapshot=snapshot), sample({})), Link.OBJECT_QUOTA)

    assert (check.limit, check.usage, check.available) == ("100", "100", "0")


def test_without_the_evaluator_the_policies_are_not_judged() -> None:
    on = ground({})
    object.__setattr__(on, "judge", None)
    found = verdict(on, sample({}))

    assert found.standing is Standing.IN_PART
    assert [each.link for each in found.unjudged] == [Link.POLICIES, Link.POD_SECURITY]


def test_a_denial_is_shown_at_the_line_that_decides_it() -> None:
    words = "spec.trainer.numNodes is 9 (72 GPUs); ..."

    def denies(requests: Any) -> list[Answer]:
        denied = Answer((Denial("limits", "limits-nlp", words),), "denied")
        return [denied if each.resource == "trainjobs" else Answer((), "") for each in requests]

    on = ground({})
    object.__setattr__(on, "judge", denies)
    check = only(verdict(on, sample({})), Link.POLICIES)

    assert check.message == words
    assert check.at is not None
    assert check.at.path == ("largestJob", "nodes")


def test_a_user_asks_for_the_job_and_a_controller_for_its_pods() -> None:
    asked = []

    def notes(requests: Any) -> list[Answer]:
        asked.extend(requests)
        return admits(requests)

    on = ground({})
    object.__setattr__(on, "judge", notes)
    judge(on, [sample({}), sample({}, team="nlp", numNodes=3)])

    resources = ["trainjobs", "pods", "pods"]
    assert [each.resource for each in asked] == resources * 2
    assert asked[0].groups == ("nlp", "system:authenticated")
    assert asked[1].user == "system:serviceaccount:kube-system:job-controller"


def test_jobs_are_judged_each_by_itself() -> None:
    jobs: list[Body] = [sample({}, numNodes=4)] * 3

    standings = {each.verdict.standing for each in judge(ground({}), jobs)}
    assert standings == {Standing.ADMITTED}


def test_limit_of_the_quota_is_shown_at_the_quota() -> None:
    def denies(requests: Any) -> list[Answer]:
        denied = Answer((Denial("limits", "limits-nlp", "spec.trainer.numNodes is 9"),), "denied")
        return [denied if each.resource == "trainjobs" else Answer((), "") for each in requests]

    changes = {"teams/nlp.yaml": {"largestJob": {"nodes": 6}}}
    on = ground(changes)
    object.__setattr__(on, "judge", denies)
    check = only(verdict(on, sample(changes)), Link.POLICIES)

    assert check.at is not None
    assert check.at.path == ("quota", "prod-east", "dgx-h100", "nodes")


def test_patch_with_the_name_of_kueue_is_refused_by_its_name() -> None:
    patch = {"manager": "kueue.x-k8s.io/manager"}
    job = merged(sample(NEW), {"spec": {"runtimePatches": [patch]}})

    assert only(verdict(ground(NEW), job), Link.FORM).message.endswith("Kueue's; choose another")


@pytest.mark.parametrize("name", ["default-deny", "egress-object-store", "ds-pipeline-dspa"])
def test_without_the_evaluator_a_name_that_no_job_may_have_is_refused(name: str) -> None:
    """A job with the name of a NetworkPolicy, or of a Service of the pipelines, never starts."""
    on = ground({})
    object.__setattr__(on, "judge", None)
    job = merged(sample({}), {"metadata": {"name": name}})
    found = verdict(on, job)

    assert found.standing is Standing.NEVER
    (words,) = [check.message for check in found.checks if check.standing is Standing.NEVER]
    assert words.startswith(f"metadata.name: no job can be named {name}, since")
