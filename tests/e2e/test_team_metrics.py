"""A real Prometheus scrapes what the ranks of real jobs serve, as the team's PodMonitor says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.e2e.engines import PROMETHEUS, engine
from tests.e2e.scrapes import Discovery, scrape_configs
from tests.e2e.setup import NEW, OLD, monitored
from tests.e2e.stage import Scene, Stage
from tests.e2e.watching import Prometheus
from trainyard_rehearsal.control_plane.processes import LOOPBACK, START, Processes, free_ports

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [NEW, OLD], indirect=True, ids=[NEW.name, OLD.name]),
]

_PORT = 8080
_OWN = 'training_loss{step="7"} 0.5\n'
_FORGED = (
    'kueue_pending_workloads{cluster_queue="vision-gpu",status="active"} 0\n'
    'trainyard:pool:promised_nodes{pool="dgx-h100"} 1\n'
)


@contextmanager
def served(text: str) -> Iterator[int]:
    """Serve a text below /metrics, as the program of a rank does; return the port."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/metrics" else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer((LOOPBACK, 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@contextmanager
def scraping(scene: Scene, folder: Path, port: int) -> Iterator[Prometheus]:
    """Run Prometheus with the team's PodMonitor; it reaches our server instead of a pod."""
    lab = json.loads(scene.lab.kubeconfig.read_text("utf-8"))
    cluster, user = lab["clusters"][0]["cluster"], lab["users"][0]["user"]
    (monitor,) = [
        each.body
        for each in scene.manifests
        if each.kind.name == "PodMonitor" and each.name == "metrics"
    ]
    token = folder / "token"
    token.write_text(user["token"], "utf-8")
    discovery = Discovery(cluster["server"], cluster["certificate-authority"], str(token))
    (config,) = scrape_configs(monitor, discovery)
    config["relabel_configs"] += [
        {"source_labels": ["__address__"], "target_label": "address"},
        {"target_label": "__address__", "replacement": f"{LOOPBACK}:{port}"},
    ]
    settings = {"global": {"scrape_interval": "1s"}, "scrape_configs": [config]}
    (folder / "prometheus.json").write_text(json.dumps(settings), "utf-8")
    (web,) = free_ports(1)
    with Processes(folder / "logs") as processes:
        arguments = [
            f"--config.file={folder / 'prometheus.json'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address={LOOPBACK}:{web}",
            "--log.level=warn",
        ]
        processes.start(engine(PROMETHEUS), arguments)
        prometheus = Prometheus(web, processes, {})
        processes.wait_until(prometheus.ready, "the start of Prometheus", START)
        yield prometheus


def deployed(stage: Stage) -> Scene:
    return stage.deploy({**monitored(stage.setup), "teams/nlp.yaml": {"metrics": _PORT}})


def test_each_rank_is_one_target_with_its_job(stage: Stage, tmp_path: Path) -> None:
    """Its address is that of its pod, and what looks like the platform's own is dropped."""
    scene = deployed(stage)
    job = scene.submit("nlp", 2)
    scene.runs(job)
    assert stage.until(lambda: [each.phase for each in job.pods] == ["Running"] * 2)
    with served(_OWN + _FORGED) as port, scraping(scene, tmp_path, port) as prometheus:
        assert prometheus.until(partial(prometheus.are_up, len(job.pods))), prometheus.targets()
        found = prometheus.query("training_loss")
        assert {
            (each.labels["pod"], each.labels["address"], each.labels["namespace"]) for each in found
        } == {(pod.name, f"{pod.body['status']['podIP']}:{_PORT}", "team-nlp") for pod in job.pods}
        assert {each.labels["jobset_sigs_k8s_io_jobset_name"] for each in found} == {job.name}
        names = {each.labels["__name__"] for each in prometheus.query('{namespace="team-nlp"}')}
        assert "training_loss" in names
        assert not {name for name in names if name.startswith(("kueue", "trainyard"))}
    job.delete()


def _series(count: int, label: str) -> str:
    return "".join(f'training_loss{{step="{step}",a="{label}"}} 0.5\n' for step in range(count))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (_series(1001, "a"), "sample limit exceeded"),
        (_series(1, "a" * 513), "label_value_length_limit"),
        (_series(1, "a").replace("a=", "a" * 129 + "="), "label_name_length_limit"),
        (f"# {'a' * 1_100_000}\n{_series(1, 'a')}", "body size limit exceeded"),
    ],
    ids=["series", "value", "name", "body"],
)
def test_pod_with_too_much_is_not_stored(
    stage: Stage, tmp_path: Path, text: str, reason: str
) -> None:
    """A job can't fill the Prometheus of all."""
    scene = deployed(stage)
    job = scene.submit("nlp", 2)
    scene.runs(job)
    assert stage.until(lambda: [each.phase for each in job.pods] == ["Running"] * 2)
    with served(text) as port, scraping(scene, tmp_path, port) as prometheus:
        assert prometheus.until(
            lambda: any(reason in each for each in prometheus.errors().values())
        ), prometheus.errors()
        assert prometheus.query("training_loss") == []
    job.delete()
