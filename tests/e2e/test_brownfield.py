"""A site that runs comes under the tree, team by team, as commits through a real Argo CD."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.brownfield.census import Census
from tests.e2e.brownfield.lab import CLUSTER, Brownfield, brownfield
from tests.e2e.brownfield.manifests import RUNNING, SITE, WAITING, bodies, named
from tests.e2e.life import DRAINED, Life
from tests.pages import done
from trainyard.model.quantity import format_bytes, in_base_units
from trainyard.yaml_io.manifests import parse_manifests
from trainyard_rehearsal.checks.jobs import KUEUE, Job, submit, with_name, with_trainer
from trainyard_rehearsal.checks.sample_runs import wait_until_running
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.refusal import Refused

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("cache")]

_RELEASES = pytest.mark.parametrize(
    "release", ["kubernetes-1.36", pytest.param("kubernetes-1.34", marks=pytest.mark.slow)]
)
_ARGOCD = "argocd-controller"
_IMMUTABLE = re.compile("spec is immutable|update to nil is forbidden|can be resized")
_HELD = r"(?m)^state: held.*\n"
_ADOPT = r"(?m)^adopt:\n(  .*\n)*"
_TAKEN = [
    "Namespace/nlp",
    "Namespace/speech",
    "Namespace/translation",
    "Namespace/vision",
    "Namespace/vision-dev",
    "NetworkPolicy/vision/default-deny",
    "PersistentVolumeClaim/nlp/copied",
    "PersistentVolumeClaim/nlp/corpora",
    "PersistentVolumeClaim/nlp/populated",
    "ResourceFlavor/h100",
    "WorkloadPriorityClass/production",
]
"""Objects of the site that have a name of the tree's, but for LocalQueues."""
_OLD = {"language": "language", "speech": "speech", "vision": "vision-cq"}
"""The ClusterQueue that each team had."""
_SPACES = {"language": ("nlp", "translation"), "speech": ("speech",)}
_SPACES["vision"] = ("vision", "vision-dev")


def _next(site: Brownfield) -> str:
    """Return the next step of the plan."""
    shown = done(site.repository, "trainyard", "cutover", CLUSTER, "--format", "json")
    moves = json.loads(shown)["result"]["cutover"]["steps"]
    return next((each["task"]["what"] for each in moves if each["progress"] == "next"), "")


def _named(job: str) -> Body:
    kind, namespace, name = job.split("/")
    return {"kind": kind, "metadata": {"name": name, "namespace": namespace}}


def _of_team(jobs: tuple[str, ...], team: str) -> str:
    (job,) = (each for each in jobs if each.split("/")[1] in _SPACES[team])
    return job


def _reserved(site: Brownfield, queue: str) -> int:
    status = site.api.get(KUEUE, "ClusterQueue", queue)["status"]
    return int(status.get("reservingWorkloads", 0))


def _resubmitted(life: Life, old: str) -> Job:
    """Submit the sample of a namespace in the place of a job that waits, on one node."""
    _, namespace, name = old.split("/")
    sample, manifest = next(
        each for each in life.delivery.tree.samples if each[0].space.namespace == namespace
    )
    body = with_trainer(with_name(manifest.body, f"{name}-again"), numNodes=1)
    job = submit(life.lab.api, body, sample.space)
    assert wait_until_running(life.lab, job, replace(sample, size=1)) == ""
    return job


def _opened(site: Brownfield, life: Life, census: Census, team: str) -> Job:
    """Hold a team's old queue, let its job end, and open the new one for what waited."""
    old = _OLD[team]
    hold = f"kubectl patch clusterqueue {old} --type merge --patch"
    site.run(f"""{hold} '{{"spec": {{"stopPolicy": "Hold"}}}}'""")
    census.count(f"{team}: old queue held")
    ran, waited = _of_team(RUNNING, team), _of_team(WAITING, team)
    site.finish(_named(ran))
    census.ended(ran)
    site.until(lambda: _reserved(site, old) == 0, f"{old} still reserves")
    if team == "vision":
        site.run("kubectl --namespace vision scale deployment notebook --replicas 0")
        census.ended("Deployment/vision/notebook")
    kind, namespace, name = waited.split("/")
    site.run(f"kubectl --namespace {namespace} delete {kind.lower()} {name}")
    census.deleted(waited)
    for queue in site.api.list(KUEUE, "LocalQueue"):
        if queue["spec"]["clusterQueue"] == old:
            site.api.delete(queue)
            census.deleted(named(queue))
    site.edit(f"teams/{team}.yaml", "stage: observe", "stage: warn")
    life.synced(life.commit(f"Open the queues of {team}"), DRAINED)
    job = _resubmitted(life, waited)
    census.count(f"{team}: opened")
    return job


def _all_run(jobs: dict[str, tuple[Job, list[str]]]) -> bool:
    return all(_uids(job) == uids for job, uids in jobs.values())


def _uids(job: Job) -> list[str]:
    return [each.body["metadata"]["uid"] for each in job.pods if each.phase == "Running"]


@_RELEASES
def test_no_job_is_disturbed_and_no_object_deleted(
    release: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Every step of `trainyard cutover`, in its order."""
    with brownfield(release, tmp_path) as site:
        census = Census(site)
        census.begin()
        site.imported()
        _begin_beside(site)
        census.count("profiles")
        site.hand_out()
        with site.delivered(DRAINED) as life:
            census.count("first sync, observed")
            _ = [census.restarted(each) for each in ("inference/llm", "vision/notebook")]
            census.count("pods of others started again")
            _moved(site, life, census)
            _enforced(site, life, census)
            _withdrawn(site, life, census)
        record_property("table", f"{release}\n{census.table}")


def _begin_beside(site: Brownfield) -> None:
    """Spare what is there, and hold the new queues, all as the import drafted it."""
    profile = f"clusters/{CLUSTER}.yaml"
    for each in _TAKEN:
        site.edit(profile, rf"(?m)^    - {each}\n", f"    - {each}\n")
    site.begin("Beside what runs")
    assert site.taken() == []
    _other_claims_are_refused(site)
    # As the page says, so that the labels of the site stay.
    site.run(f"kubectl apply --server-side --filename {SITE / 'namespaces.yaml'}")


def _other_claims_are_refused(site: Brownfield) -> None:
    """See that the API server refuses the tree's claim for each that the import leaves a choice.

    The tree's has the name, class and size of that claim.
    """
    folder = site.repository / "overlays" / CLUSTER / "teams" / "language"
    (tree,) = parse_manifests((folder / "persistentvolumeclaim-corpora.yaml").read_text("utf-8"))
    assert isinstance(tree, dict)
    kept = {each.rpartition("/")[2] for each in _TAKEN}
    claims = {named(each): each for each in bodies("claims") if each["kind"] == tree["kind"]}
    left = {each: claim for each, claim in claims.items() if claim["metadata"]["name"] not in kept}
    assert len(left) == 9
    for claim in left.values():
        name, asked = claim["metadata"]["name"], claim["spec"]
        size = in_base_units("storage", asked["resources"]["requests"]["storage"])
        body = {**tree, "metadata": {**tree["metadata"], "name": name}}
        body["spec"] = {
            **tree["spec"],
            "storageClassName": asked["storageClassName"] or "lustre",
            "resources": {"requests": {"storage": format_bytes(-(-size >> 20) << 20)}},
        }
        assert _IMMUTABLE.search(_refusal(site, body)), name


def _refusal(site: Brownfield, claim: Body) -> str:
    """Return why a sync of Argo CD can't apply a claim, which takes `kubectl apply`'s fields over.

    As gitops-engine/pkg/sync/sync_context.go@v3.5.7 of argoproj/argo-cd.
    """
    place = claim["metadata"]
    have = site.api.get("v1", claim["kind"], place["name"], place["namespace"])
    managers = have["metadata"]["managedFields"]
    for each in managers:
        if each["manager"] == "kubectl-client-side-apply":
            each |= {"manager": _ARGOCD, "operation": "Apply"}
    site.api.patch(have, {"metadata": {"managedFields": managers}})
    try:
        site.api.apply(claim, manager=_ARGOCD, dry_run=True)
    except Refused as refused:
        return str(refused)
    return ""


def _moved(site: Brownfield, life: Life, census: Census) -> None:
    """Open one team after the other, then hold each to its rules."""
    jobs = {}
    for team, old in _OLD.items():
        assert f"team {team}: hold ClusterQueue {old}" in _next(site)
        if team == "language":
            site.edit(f"clusters/{CLUSTER}.yaml", _HELD, "")
        job = _opened(site, life, census, team)
        jobs[team] = job, _uids(job)
        assert _all_run(jobs)
    for team in _OLD:
        assert f"team {team}: change what breaks its rules" in _next(site)
        site.edit(f"teams/{team}.yaml", _ADOPT, "")
        life.synced(life.commit(f"Enforce {team}"))
        census.count(f"{team}: enforced")
        assert _all_run(jobs)
    for job, _ in jobs.values():
        job.finish("node")
    site.until(lambda: all(job.has_finished for job, _ in jobs.values()), "a job does not end")


def _enforced(site: Brownfield, life: Life, census: Census) -> None:
    """Move others off the pool, and refuse their pods."""
    profile = f"clusters/{CLUSTER}.yaml"
    assert "move pods of others off the pools" in _next(site)
    site.edit(profile, "pods: audit", "pods: warn")
    life.synced(life.commit("Warn"))
    census.count("others: warned")
    container = '{"name": "main", "resources": null}'
    nodes = '{"corp.internal/serving": null, "corp.internal/plain": "true"}'
    change = f'"containers": [{container}], "nodeSelector": {nodes}'
    pod = f'{{"spec": {{"template": {{"spec": {{"tolerations": null, {change}}}}}}}}}'
    site.run(f"kubectl --namespace inference patch deployment llm --patch '{pod}'")
    site.run("kubectl --namespace inference rollout status deployment llm --timeout 60s")
    census.ended("Deployment/inference/llm")
    site.edit(profile, r"  pods: warn.*\n", "")
    life.synced(life.commit("Refuse what is not a team's"))
    census.count("others: refused")


def _withdrawn(site: Brownfield, life: Life, census: Census) -> None:
    """Delete the old queues, and adopt nothing any more."""
    assert "delete the old queues" in _next(site)
    assert not [body for body in site.api.list(KUEUE, "LocalQueue") if _is_old(body)]
    for name in _OLD.values():
        site.run(f"kubectl delete clusterqueue {name}")
        census.deleted(f"ClusterQueue/{name}")
    site.edit(f"clusters/{CLUSTER}.yaml", _ADOPT, "")
    commit = life.commit("The old queues are gone")
    site.hand_out()
    life.synced(commit)
    census.count("old queues gone")
    assert _next(site) == ""
    _ = [census.restarted(each) for each in ("registry/registry", "notebooks/hub")]
    for namespaces in _SPACES.values():
        _resubmitted(life, f"TrainJob/{namespaces[0]}/last")
    census.count("at the end")


def _is_old(queue: Body) -> bool:
    return queue["spec"]["clusterQueue"] in _OLD.values()


def _details(site: Brownfield, begin: str) -> list[str]:
    """Return the details of a step of the plan."""
    shown = done(site.repository, "trainyard", "cutover", CLUSTER, "--format", "json")
    tasks = [each["task"] for each in json.loads(shown)["result"]["cutover"]["steps"]]
    (task,) = (each for each in tasks if each["what"].startswith(begin))
    return list(task["details"])


@pytest.mark.slow
def test_way_back_of_a_team_lets_jobs_of_the_site_start_again(tmp_path: Path) -> None:
    """As the plan says: held, observed, the saved LocalQueue applied, the old queue open."""
    (tts,) = (each for each in bodies("jobs") if named(each) == "TrainJob/speech/tts")
    with brownfield("kubernetes-1.36", tmp_path) as site:
        site.imported()
        _begin_beside(site)
        site.hand_out()
        with site.delivered(DRAINED) as life:
            _speech_opened(site, life)
            site.edit(_SPEECH, r"\A", "state: held\n")
            life.synced(life.commit("Hold speech"), DRAINED)
            with pytest.raises(Refused, match="trainyard-trainjob-limits"):
                site.api.create(tts)
            site.edit(_SPEECH, _HELD, "")
            site.edit(_SPEECH, "stage: warn", "stage: observe")
            life.synced(life.commit("Observe speech again"), DRAINED)
            site.run("kubectl apply --filename .git/speech-speech-queue.yaml")
            site.api.create(tts)
            site.until(lambda: site.waits("TrainJob/speech/tts"), "tts does not wait")
            _stopped(site, "None")
            site.until(lambda: len(site.pods_of(tts)) == 1, "tts does not run")


_SPEECH = "teams/speech.yaml"


def _stopped(site: Brownfield, policy: str) -> None:
    patch = f'{{"spec": {{"stopPolicy": "{policy}"}}}}'
    site.run(f"kubectl patch clusterqueue speech --type merge --patch '{patch}'")


def _speech_opened(site: Brownfield, life: Life) -> None:
    """Save the old LocalQueue by the plan's command, and open the team's."""
    _stopped(site, "Hold")
    site.finish(_named("TrainJob/speech/asr"))
    site.until(lambda: _reserved(site, "speech") == 0, "speech still reserves")
    (save,) = (each for each in _details(site, "team speech: hold") if "save: " in each)
    site.run(save.removeprefix("save: "))
    site.run("mv speech-speech-queue.yaml .git")
    site.run("kubectl --namespace speech delete trainjob/tts localqueue/speech-queue")
    site.edit(f"clusters/{CLUSTER}.yaml", _HELD, "")
    site.edit(_SPEECH, "stage: observe", "stage: warn")
    life.synced(life.commit("Open the queues of speech"), DRAINED)


_RESTRICTED = 'violates PodSecurity "restricted'
"""What the API server says of a pod of the site in a namespace that is a team's at once."""


def _events(site: Brownfield, namespace: str) -> str:
    found = site.api.list("v1", "Event", namespace)
    return "\n".join(str(each.get("message", "")) for each in found)


def _starts(site: Brownfield, job: str) -> bool:
    _, namespace, name = job.split("/")
    return not site.api.get("batch/v1", "Job", name, namespace)["spec"]["suspend"]


def _refused_again(site: Brownfield, name: str, refused: str) -> None:
    """See that a workload whose pod is deleted gets no other one, and why."""
    namespace, app = name.split("/")
    site.run(f"kubectl --namespace {namespace} delete pod --selector app={app} --wait=false")
    site.until(lambda: refused in _events(site, namespace), f"{name} is not refused")
    assert not [pod for pod in site.pods() if pod["metadata"]["labels"].get("app") == app]


@pytest.mark.slow
@_RELEASES
def test_first_step_without_adoption_does_harm(release: str, tmp_path: Path) -> None:
    """The tree at once: nothing shows, until jobs end and pods start again.

    Team language gets new namespaces, so that its old ones are no team's, and has no claims.
    """
    with brownfield(release, tmp_path) as site:
        census = Census(site)
        census.begin()
        site.imported()
        site.edit("teams/language.yaml", r"(?m)^namespace: nlp .*\n", "")
        site.edit("teams/language.yaml", "{namespace: translation}", "{}")
        site.edit("teams/language.yaml", r"(?m)^storage:\n(  .*\n)*", "")
        site.edit(f"clusters/{CLUSTER}.yaml", _ADOPT, "")
        site.edit(f"clusters/{CLUSTER}.yaml", _HELD, "")
        for team in _OLD:
            site.edit(f"teams/{team}.yaml", r"(?m)^queues: .*\n", "")
            site.edit(f"teams/{team}.yaml", _ADOPT, "")
        site.begin("All at once")
        site.hand_out()
        with site.delivered(("Healthy",)):
            census.count("first sync without adoption", ["Namespace/speech", "Namespace/vision"])
            _refused_again(site, "inference/llm", "trainyard-pool-nodes' with binding")
            _refused_again(site, "vision/notebook", _RESTRICTED)
            _frozen(site)
            _without_a_turn(site)


def _frozen(site: Brownfield) -> None:
    """See that a queue in namespaces that are no team's is dead: no job starts, or even waits."""
    site.finish(_named("JobSet/nlp/align"))
    (bleu,) = (each for each in bodies("jobs") if named(each) == "Job/translation/bleu")
    site.api.create(with_name(bleu, "new"))
    starts = partial(_starts, site, "Job/translation/bleu")
    assert not site.found.lab.processes.waited(starts, 20)
    assert site.workload("Job/translation/bleu") != {}
    assert not _starts(site, "Job/translation/new")
    assert site.workload("Job/translation/new") == {}


def _without_a_turn(site: Brownfield) -> None:
    """See that a job that waits in a team's namespace fits its queue no more, though that is free.

    The tree's LimitRange has defaults, which Kueue counts, and the queue of the site has only GPUs.
    """
    site.finish(_named("Job/vision/pretrain"))
    site.until(lambda: _reserved(site, "vision-cq") == 0, "vision-cq still reserves")
    site.until(lambda: "unavailable in ClusterQueue" in _events(site, "vision-dev"), "it fits")
    assert not site.found.lab.processes.waited(partial(_starts, site, "Job/vision-dev/tune"), 10)
