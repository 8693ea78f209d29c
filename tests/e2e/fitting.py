"""Random platforms and jobs, what `fit` says of each pair, and what the control plane does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from tests.e2e.setup import CLUSTER
from tests.e2e.stage import Scene
from tests.rules.cores import CPU
from trainyard.model.manifest import Manifest
from trainyard.model.space import Sample
from trainyard_jobs.fit.usage import Snapshot, snapshot_of
from trainyard_jobs.fit.verdict import Standing, Verdict
from trainyard_jobs.fit.walk import judge
from trainyard_jobs.workflows.fit import ground_of
from trainyard_rehearsal.checks.harmless import harmless_jobs
from trainyard_rehearsal.checks.hostile import hostile_jobs, jobs_over_limits
from trainyard_rehearsal.checks.jobs import KUEUE, Job, as_user, conditions, with_name, with_trainer
from trainyard_rehearsal.checks.variants import with_change
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.refusal import Refused

_CONFLICT = 409
_FILE = f"clusters/{CLUSTER}.yaml"
_IMAGE = f"registry.example.com/ml/pytorch@sha256:{'5d' * 32}"
_QUOTA_LABELS = ("batch", "production", None, "ghost")
_QUEUE = "kueue.x-k8s.io/queue-name"
_PRIORITY = "kueue.x-k8s.io/priority-class"
_TRIED_ALONE = 0.25
"""Part of the jobs that do not start of which the others are deleted, to see whether they start."""
_EVICTION = 60
"""Seconds in which the pods of evicted jobs end and a job takes their place."""
_NEVER = ("maximum capacity", "unavailable in ClusterQueue", "LimitRange")
"""Words of Kueue about a job that no end of another one helps."""


def platform(seed: str) -> dict[str, Any]:
    """Return changes of the cases' base: teams in cohorts, three runtimes, on whole nodes.

    The rules may refuse such a platform: its largest jobs then never start.
    """
    chance = Random(f"platform {seed}")
    nodes = [chance.randint(2, 5) for _ in range(3)]
    borrow = [chance.choice([0, 2, 4, sum(nodes)]) for _ in range(3)]
    lend = [chance.choice([0, 1, 2, 99]) for _ in range(3)]
    tree = chance.random() < 0.6
    cohorts: dict[str, Any] = {"research": {}}
    if tree:
        cohorts = {"company": {}, **{name: {"parent": "company"} for name in ("later", "research")}}
    homes = [chance.choice(["research", "company", "later"]) if tree else "research" for _ in "abc"]
    teams = ("nlp", "vision", "audio")
    changes: dict[str, Any] = {
        _FILE: {
            "pools": {
                "dgx-h100": {"nodes": sum(nodes) + 1, "reserve": 1},
                "dgx-h100-shared": {"nodes": 2, "reserve": 0, "fabric": "ib"},
            },
            "cohorts": cohorts,
        },
        "hardware/dgx-h100-shared.yaml": {"extends": "dgx-h100"},
        "runtimes/openmpi-cuda.yaml": {
            "hardware": ["dgx-h100", "dgx-h100-shared"],
            "maxNodes": chance.choice([3, 6, 12]),
        },
        "runtimes/torchrun.yaml": _torchrun(["dgx-h100", "dgx-h100-shared"]),
        "runtimes/finetune.yaml": {
            **_torchrun(["dgx-h100"]),
            "initialize": {"image": _IMAGE, "volume": "scratch", "dataset": True, "model": True},
        },
        "allocations.yaml": {
            CLUSTER: {"ib": {"audio": {"partition": "0x0103", "addresses": "10.64.32.0/20"}}}
        },
    }
    for name, own, more, lent, cohort in zip(teams, nodes, borrow, lend, homes, strict=True):
        quota = {"nodes": own, "borrow": more, "lend": min(lent, own)}
        changes[f"teams/{name}.yaml"] = {
            "contact": f"{name}@example.com",
            "groups": {"user": [name]},
            "runtimes": ["openmpi-cuda", "torchrun"],
            "cohort": cohort,
            "quota": {CLUSTER: {"dgx-h100": quota}},
            "largestJob": {"nodes": own + more},
        }
    changes["teams/nlp.yaml"]["runtimes"] = ["openmpi-cuda", "torchrun", "finetune"]
    changes["teams/nlp.yaml"]["claims"] = {"scratch": "1Ti"}
    return changes


def shares(seed: str) -> dict[str, Any]:
    """Return changes of the cases' base: three teams with GPUs of a few nodes."""
    chance = Random(f"shares {seed}")
    changes = platform(seed)
    for name, gpus in zip(("nlp", "vision", "audio"), chance.sample([2, 4, 6], 3), strict=True):
        team = changes[f"teams/{name}.yaml"]
        team["quota"] = {CLUSTER: {"dgx-h100": None, "dgx-h100-shared": {"gpus": gpus}}}
        team |= {"largestJob": None, "cohort": None, "runtimes": ["openmpi-cuda", "torchrun"]}
    changes["teams/nlp.yaml"]["claims"] = None
    del changes["runtimes/finetune.yaml"]
    return changes


def cores(seed: str) -> dict[str, Any]:
    """Return changes of the cases' base: three teams with cores of two nodes without GPUs."""
    chance = Random(f"cores {seed}")
    changes = shares(seed)
    changes[_FILE]["pools"]["cpu"] = {"nodes": 2}
    changes["hardware/cpu.yaml"] = CPU["hardware/cpu.yaml"]
    changes["runtimes/openmpi-cuda.yaml"]["hardware"].append("cpu")
    for name, own in zip(("nlp", "vision", "audio"), chance.sample([12, 24, 36], 3), strict=True):
        team = changes[f"teams/{name}.yaml"]
        team["quota"] = {CLUSTER: {"dgx-h100": None, "cpu": {"cores": own}}}
        team["runtimes"] = ["openmpi-cuda"]
    return changes


def _torchrun(hardware: list[str]) -> dict[str, Any]:
    return {
        "version": 1,
        "displayName": "PyTorch",
        "docs": "https://docs.example.com/ml/torchrun",
        "image": _IMAGE,
        "pullSecret": "registry-pull",
        "libraries": {"torch": "2.6.0", "cuda": "12.6", "nccl": "2.23.4"},
        "launcher": "torchrun",
        "hardware": hardware,
        "maxNodes": 8,
    }


def random_job(
    chance: Random, samples: list[tuple[Sample, Manifest]], name: str
) -> tuple[str, Body, Sample]:
    """Return a sample of another size, perhaps with a harmless or hostile change.

    The first value displays what was changed.
    """
    sample, manifest = chance.choice(samples)
    body = with_name(manifest.body, name)
    smallest = sample.launch.runtime.smallest_job
    nodes = chance.randint(smallest, sample.grant.nodes)
    if chance.random() < 0.15:
        nodes = chance.randint(0, sample.grant.nodes + 2)
    body = with_trainer(body, numNodes=nodes)
    display = f"{sample.launch.name} of {sample.space.namespace}, {nodes} nodes"
    labels = {_PRIORITY: chance.choice(_QUOTA_LABELS[:3])}
    if chance.random() < 0.04:
        labels[_PRIORITY] = _QUOTA_LABELS[3]
    if chance.random() < 0.1:
        labels[_QUEUE] = chance.choice(["other", sample.launch.hardware.node_class, ""])
    body = with_change(body, {"metadata": {"labels": labels}})
    kinds = (harmless_jobs, jobs_over_limits, hostile_jobs)
    kind = chance.choices((None, *kinds), (14, 4, 1, 2))[0]
    if kind is not None:
        variant = chance.choice(list(kind(sample, body)))
        return f"{display}, {labels}: {variant.display}"[:300], variant.body, sample
    return f"{display}, {labels}", body, sample


@dataclass(slots=True)
class Trial:
    """Jobs that are submitted to an applied tree one after the other, some of which go on running.

    Args:
        disagreements: what `fit` said, what happened, and the job, where they differ.
    """

    scene: Scene
    samples: list[tuple[Sample, Manifest]]
    chance: Random
    counts: dict[Standing, int] = field(default_factory=dict)
    disagreements: list[str] = field(default_factory=list)

    def submit(self, display: str, body: Body, sample: Sample, *, keeps: float = 0.7) -> None:
        """Submit a job, compare, and delete it unless it runs and is kept."""
        verdict = self._judged(body, sample, self.snapshot())
        if refusal := self._refused(body, sample):
            self._count(Standing.NEVER, verdict, display, refusal)
            return
        job = Job(self.scene.api, sample.space.namespace, body["metadata"]["name"])
        seen, words = self._seen(job, verdict)
        self._count(seen, verdict, display, words)
        kept = seen is Standing.ADMITTED and self.chance.random() < keeps
        self._settle(set() if kept else {job.name})

    def _judged(self, body: Body, sample: Sample, snapshot: Snapshot) -> Verdict:
        scene, team = self.scene, sample.space.team.name
        tenant = next(each for each in scene.site.tenants if each.name == team)
        ground = ground_of(scene.site, tenant, scene.manifests, snapshot)
        assert ground.judge is not None, "build the evaluator: python -m tests.e2e.engines"
        (judged,) = judge(ground, [body])
        return judged.verdict

    def _refused(self, body: Body, sample: Sample) -> str:
        """Create a job as a member of its team; return the refusal."""
        while True:
            try:
                as_user(self.scene.api, sample.space).create(body)
            except Refused as refused:
                if refused.status != _CONFLICT or "resourcequotas" not in str(refused):
                    return str(refused)
            else:
                return ""

    def _seen(self, job: Job, verdict: Verdict) -> tuple[Standing, str]:
        """Return whether a job starts, with Kueue's words when it does not."""
        first = verdict.podsets[0] if verdict.podsets else None

        def starts() -> bool:
            pods = [pod for pod in job.pods if first is None or pod.role == first.role]
            return job.is_admitted and len(pods) == (first.count if first else len(pods))

        def waits() -> bool:
            return any(
                each["type"] == "QuotaReserved" and each["status"] == "False"
                for each in conditions(job.workload)
            )

        self.scene.stage.until(lambda: starts() or waits(), 30)
        # Kueue reports the same of a job for which it is evicting others, and of a passed flavor.
        patience = _EVICTION if verdict.standing is Standing.ADMITTED else 2.5
        if self.scene.stage.until(starts, patience):
            return Standing.ADMITTED, ""
        words = job.waiting_reason or "Kueue says nothing"
        never = not waits() or any(each in words for each in _NEVER)
        expected = Standing.NEVER if never else Standing.WAITS
        # Kueue names the first pods that do not fit now, although those after them never will.
        if verdict.standing is expected and self.chance.random() > _TRIED_ALONE:
            return expected, words
        self._settle(set(), spared=job.name)
        alone = self.scene.stage.until(starts, 10)
        return (Standing.WAITS if alone else Standing.NEVER), f"{words}; alone: {alone}"

    def _count(self, seen: Standing, verdict: Verdict, display: str, words: str) -> None:
        self.counts[seen] = self.counts.get(seen, 0) + 1
        if seen is not verdict.standing:
            said = "; ".join(f"{each.link}: {each.message}" for each in verdict.checks)
            self.disagreements.append(
                f"{display}\n  fit: {verdict.standing} ({said})\n  seen: {seen} ({words})"
            )

    def snapshot(self) -> Snapshot:
        """Return what the control plane shows as used."""
        api = self.scene.api
        kinds = ((KUEUE, "ClusterQueue"), (KUEUE, "Workload"), ("v1", "ResourceQuota"))
        return snapshot_of([body for version, kind in kinds for body in api.list(version, kind)])

    def _settle(self, doomed: set[str], spared: str = "") -> None:
        """Delete some jobs and each that waits, then wait until the queues count what runs.

        Args:
            doomed: names of the jobs.
            spared: the only job that is kept, and that may wait; empty for none.
        """
        api, stage = self.scene.api, self.scene.stage
        while True:
            for body in api.list("trainer.kubeflow.org/v1alpha1", "TrainJob"):
                job = Job(api, body["metadata"]["namespace"], body["metadata"]["name"])
                if job.name != spared and (spared or job.name in doomed or not job.is_admitted):
                    job.delete()
                    assert stage.until(partial(_is_gone, job)), job.name
            if spared or self._is_counted():
                return
            stage.until(self._is_counted, 3)

    def _is_counted(self) -> bool:
        """Return whether each queue reports as many jobs as have quota in it, and none waits."""
        snapshot = self.snapshot()
        api = self.scene.api
        if len(api.list(KUEUE, "Workload")) != len(snapshot.running):
            return False
        for body in api.list(KUEUE, "ClusterQueue"):
            node = f"queue/{body['metadata']['name']}"
            running = [each for each in snapshot.running if each.queue == node]
            total: dict[tuple[str, str], int] = {}
            for each in running:
                for amount, value in each.usage.items():
                    total[amount] = total.get(amount, 0) + value
            shown = {key: value for key, value in snapshot.queues[node].items() if value}
            if shown != {key: value for key, value in total.items() if value}:
                return False
        return True


def _is_gone(job: Job) -> bool:
    return job.is_gone and not job.workload


def trials(trial: Trial, pairs: int) -> Iterator[str]:
    """Submit random jobs, and yield each disagreement."""
    for number in range(pairs):
        name = f"fit-{number}"
        trial.submit(*random_job(trial.chance, trial.samples, name))
    yield from trial.disagreements
