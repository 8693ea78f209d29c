"""A real kube-state-metrics shows the states of real jobs, as the alerts of the tree read them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.engines import KUBE_STATE_METRICS, PROMETHEUS, engine
from tests.e2e.setup import CLUSTER, NEW, OLD, monitored
from tests.e2e.stage import Scene, Stage
from tests.e2e.watching import Prometheus, bound
from trainyard.render.unit import STATES, job_states
from trainyard.render.views.cluster import ClusterView
from trainyard.yaml_io.emitter import emit
from trainyard_rehearsal.checks.jobs import Job
from trainyard_rehearsal.control_plane.processes import LOOPBACK, START, Processes, free_ports

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize(
        "stage",
        [NEW, pytest.param(OLD, marks=pytest.mark.slow)],
        indirect=True,
        ids=[NEW.name, OLD.name],
    ),
]

_ACCOUNT, _NAMESPACE = "job-states", "default"
_DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
_FILE = f"clusters/{CLUSTER}.yaml"


def deployed(stage: Stage) -> Scene:
    """Apply a tree with the states of jobs, in which no job may wait."""
    cluster = monitored(stage.setup)[_FILE]
    cluster["monitoring"] = {**cluster["monitoring"], "waiting": {"batch": "1m"}}
    owners = {"Metrics/job-states": "me"}
    return stage.deploy({_FILE: {**cluster, "priorities": {"batch": 1}, "external": owners}})


def groups(scene: Scene) -> list[dict[str, Any]]:
    """Return the facts and the alerts of jobs' states, which fire at once."""
    found = [
        group
        for each in scene.manifests
        if each.body["kind"] == "PrometheusRule"
        and each.body["metadata"]["name"] in {"trainyard-facts", "trainyard-states"}
        for group in each.body["spec"]["groups"]
    ]
    assert len(found) == 2
    for group in found:
        group["interval"] = "1s"
        group["rules"] = [
            {**rule, "for": "0s"} if "alert" in rule else rule for rule in group["rules"]
        ]
    return found


@contextmanager
def shown(scene: Scene, folder: Path) -> Iterator[Prometheus]:
    """Run kube-state-metrics with our file and the README's role, and a Prometheus beside it."""
    metrics, own, web = free_ports(3)
    (folder / "states.yaml").write_bytes(emit(job_states(scene.site)[STATES]))
    (folder / "rules.json").write_text(json.dumps({"groups": groups(scene)}), "utf-8")
    scraped = {
        "job_name": "job-states",
        "static_configs": [
            {
                "targets": [f"{LOOPBACK}:{metrics}"],
                # As a ServiceMonitor of its namespace adds them; they win over its own.
                "labels": {"namespace": "monitoring", "pod": "a", "container": "b"},
            }
        ],
    }
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": ["rules.json"],
        "scrape_configs": [scraped],
    }
    (folder / "prometheus.json").write_text(json.dumps(config), "utf-8")
    with Processes(folder / "logs") as processes:
        processes.start(
            engine(KUBE_STATE_METRICS),
            [
                *("--kubeconfig", str(kubeconfig(scene, folder)), "--custom-resource-state-only"),
                *("--custom-resource-state-config-file", str(folder / "states.yaml")),
                *(f"--host={LOOPBACK}", f"--port={metrics}"),
                *(f"--telemetry-host={LOOPBACK}", f"--telemetry-port={own}"),
            ],
        )
        processes.start(
            engine(PROMETHEUS),
            [
                f"--config.file={folder / 'prometheus.json'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address={LOOPBACK}:{web}",
                "--log.level=warn",
            ],
        )
        prometheus = Prometheus(web, processes, {})
        processes.wait_until(prometheus.ready, "the start of Prometheus", START)
        assert prometheus.until(partial(prometheus.are_up, 1)), prometheus.errors()
        yield prometheus


def kubeconfig(scene: Scene, folder: Path) -> Path:
    """Write the file of an account that may read what the README of the cluster says."""
    metadata = {"name": _ACCOUNT, "namespace": _NAMESPACE}
    scene.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    resources = [_DEFINITIONS, *ClusterView(scene.site.cluster).state_resources]
    rule = {
        "apiGroups": [each.partition(".")[2] for each in resources],
        "resources": [each.partition(".")[0] for each in resources],
        "verbs": ["list", "watch"],
    }
    for body in bound("trainyard-job-states", rule, {"kind": "ServiceAccount", **metadata}):
        scene.api.apply(body)
    config = json.loads(scene.lab.kubeconfig.read_text("utf-8"))
    (user,) = config["users"]
    user["user"] = {"token": scene.api.token(_ACCOUNT, _NAMESPACE)}
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config), "utf-8")
    return path


def set_ready(job: Job, role: str, status: str) -> None:
    """Have the pods of a role become ready or not, as kubelet reports it."""
    for pod in job.pods:
        if pod.role == role:
            ready = {"type": "Ready", "status": status, "lastTransitionTime": pod.created}
            others = [each for each in pod.body["status"]["conditions"] if each["type"] != "Ready"]
            job.api.patch(pod.body, {"status": {"conditions": [*others, ready]}}, "status")


def parts(prometheus: Prometheus, job: Job) -> dict[str, tuple[str, float]]:
    """Return whether each part of a job has pods, and whether all are ready."""
    series = prometheus.query(f'trainyard_trainjob_part_ready{{job_name="{job.name}"}}')
    return {each.labels["part"]: (each.labels["active"], each.value) for each in series}


def test_job_that_does_not_run_is_reported_until_it_runs(stage: Stage, tmp_path: Path) -> None:
    """An admitted job with a pod that is not ready holds its quota."""
    scene = deployed(stage)
    with shown(scene, tmp_path) as prometheus:
        job = scene.submit("nlp", 2, priority_class="batch")
        scene.runs(job)
        running = {"launcher": ("1", 1), "node": ("1", 1)}
        assert prometheus.until(lambda: parts(prometheus, job) == running), parts(prometheus, job)
        fires = partial(prometheus.firing, "TrainyardJobNotRunning", job_name=job.name)
        assert prometheus.until(lambda: not fires())

        set_ready(job, "node", "False")
        assert prometheus.until(lambda: bool(fires())), parts(prometheus, job)
        (alert,) = fires()
        assert alert == {
            "alertname": "TrainyardJobNotRunning",
            "cluster": CLUSTER,
            "job_name": job.name,
            "namespace": "team-nlp",
            "severity": "warning",
            "team": "nlp",
        }
        set_ready(job, "node", "True")
        assert prometheus.until(lambda: not fires()), parts(prometheus, job)

        job.finish("node")
        job.finish("launcher")
        assert stage.until(lambda: job.has_finished)
        ended = (
            f'trainyard_workload_created_timestamp_seconds{{job_name="{job.name}",finished="True"}}'
        )
        assert prometheus.until(lambda: len(prometheus.query(ended)) == 1)
        assert prometheus.until(lambda: not fires())
        job.delete()


def test_job_that_waits_longer_than_its_priority_may_is_reported(
    stage: Stage, tmp_path: Path
) -> None:
    """A job holds the quota, and the next one waits for a minute; it ends when it is admitted."""
    scene = deployed(stage)
    with shown(scene, tmp_path) as prometheus:
        first = scene.submit("nlp", 4, priority_class="batch")
        scene.runs(first)
        second = scene.submit("nlp", 4, priority_class="batch")
        waiting = f'trainyard_workload_quota_timestamp_seconds{{job_name="{second.name}"}}'
        states = {
            "reserved": "False",
            "priority": "batch",
            "active": "true",
            "job_kind": "TrainJob",
        }

        def is_shown() -> bool:
            return any(
                states.items() <= each.labels.items() and each.labels["job_namespace"] == "team-nlp"
                for each in prometheus.query(waiting)
            )

        assert prometheus.until(is_shown), prometheus.query(waiting)
        fires = partial(prometheus.firing, "TrainyardJobWaitsTooLong", priority="batch")
        assert not fires()
        assert prometheus.until(lambda: bool(fires()), 150), second.waiting_reason
        assert {(each["namespace"], each["team"]) for each in fires()} == {("team-nlp", "nlp")}

        first.delete()
        scene.runs(second)
        assert prometheus.until(lambda: not fires())
        second.delete()
