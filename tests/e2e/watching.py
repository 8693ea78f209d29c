"""A real Prometheus beside a control plane: it finds and scrapes the controllers that run there.

Each controller is a process of this machine. Its Service and its Deployment are objects of the
API server, with a pod that no program runs in. Prometheus discovers that pod as in production, so
each series has the labels of production; only the address is that of the process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from ssl import _create_unverified_context
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from tests.e2e import exporters
from tests.e2e.engines import PROMETHEUS, engine
from tests.e2e.scrapes import Discovery, scrape_configs
from tests.e2e.sources import MONITORING, Sources, deployed, monitors, remove, stack_of
from tests.e2e.stage import Scene
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.processes import LOOPBACK, START, Processes, free_ports

ACCOUNT = "prometheus-k8s"
"""Account of Prometheus in the namespace of the one that scrapes."""

_RBAC = "rbac.authorization.k8s.io"
_DISCOVER = {
    "apiGroups": [""],
    "resources": ["services", "endpoints", "pods"],
    "verbs": ["get", "list", "watch"],
}
_SLOWLY = "5s"
"""Interval in which the API server is scraped: its page has megabytes."""
_READ = {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}


@dataclass(frozen=True, slots=True)
class Series:
    """A series of an answer, with its value now."""

    labels: dict[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A running Prometheus.

    Args:
        ports: component -> port of its metrics.
    """

    port: int
    processes: Processes
    ports: Mapping[str, int]

    def query(self, expr: str) -> list[Series]:
        """Return the series of an instant vector, or a scalar as a series without labels.

        Raises:
            ValueError: Prometheus refuses the expression; the message has its words.
        """
        data = self._get("query", query=expr)
        if data["resultType"] == "scalar":
            return [Series({}, float(data["result"][1]))]
        return [Series(each["metric"], float(each["value"][1])) for each in data["result"]]

    def parsed(self, expr: str) -> Body:
        """Return the syntax tree of an expression, as Prometheus' own pages get it."""
        found: Body = self._get("parse_query", query=expr)
        return found

    def alerts(self) -> list[Body]:
        """Return what is pending or firing: ``labels``, ``annotations``, ``state``, ``value``."""
        found: list[Body] = self._get("alerts")["alerts"]
        return found

    def firing(self, alert: str, /, **labels: str) -> list[dict[str, str]]:
        """Return the labels of each alert that fires under a name, with some labels."""
        wanted = {"alertname": alert, **labels}
        return [
            each["labels"]
            for each in self.alerts()
            if each["state"] == "firing" and wanted.items() <= each["labels"].items()
        ]

    def groups(self) -> list[Body]:
        """Return the groups of rules with the state of each rule."""
        found: list[Body] = self._get("rules")["groups"]
        return found

    def targets(self) -> list[Body]:
        """Return what is scraped: ``labels``, ``scrapePool``, ``health``, ``lastError``."""
        found: list[Body] = self._get("targets", state="active")["activeTargets"]
        return found

    def answer(self, component: str, token: str) -> int:
        """Return the status with which a controller answers a token that asks for its metrics."""
        address = f"https://{LOOPBACK}:{self.ports[component]}/metrics"
        request = Request(address, headers={"Authorization": f"Bearer {token}"})
        try:
            with urlopen(request, timeout=60, context=_create_unverified_context()) as answer:
                return int(answer.status)
        except HTTPError as error:
            return error.code

    def errors(self) -> dict[str, str]:
        """Return why each target is not scraped, by its pool; empty for one that is."""
        return {each["scrapePool"]: each["lastError"] for each in self.targets()}

    def are_up(self, count: int) -> bool:
        """Return whether a number of targets is scraped, and no other."""
        found = self.targets()
        return len(found) == count and all(each["health"] == "up" for each in found)

    def until(self, ready: Callable[[], bool], seconds: float = 120) -> bool:
        """Wait for a condition; return whether it came true in time."""
        return self.processes.waited(ready, seconds)

    def _get(self, what: str, **query: str) -> Any:
        address = f"http://{LOOPBACK}:{self.port}/api/v1/{what}?{urlencode(query)}"
        try:
            with urlopen(address, timeout=60) as answer:
                return json.load(answer)["data"]
        except HTTPError as error:
            raise ValueError(json.load(error)["error"]) from None

    def ready(self) -> bool:
        """Return whether it answers."""
        try:
            with urlopen(f"http://{LOOPBACK}:{self.port}/-/ready", timeout=10) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


@contextmanager
def watching(
    scene: Scene, folder: Path, rules: Sequence[Body] = (), interval: str = "1s"
) -> Iterator[Prometheus]:
    """Run Prometheus and the exporters, until every target of the cluster is scraped.

    Args:
        scene: the applied tree, with the block ``monitoring`` in its cluster's profile.
        folder: for files and logs; the exporters read what they show from it.
        rules: groups of rules.
        interval: of scrapes and evaluations, instead of that of the monitors and groups.
    """
    with Processes(folder / "logs") as processes:
        sources = deployed(scene, exporters.start(scene, processes, folder))
        try:
            _authorize(scene)
            config = _config(scene, sources, folder, interval)
            (folder / "rules.json").write_text(json.dumps({"groups": list(rules)}), "utf-8")
            (folder / "prometheus.json").write_text(json.dumps(config), "utf-8")
            (web,) = free_ports(1)
            processes.start(engine(PROMETHEUS), _arguments(folder, web))
            prometheus = Prometheus(web, processes, sources.ports)
            processes.wait_until(prometheus.ready, "the start of Prometheus", START)
            # Each source is one pod, so a monitor that selects more, or none, is seen here.
            up = partial(prometheus.are_up, len(config["scrape_configs"]))
            assert prometheus.until(up), prometheus.errors()
            yield prometheus
        finally:
            remove(scene, sources)


def _config(scene: Scene, sources: Sources, folder: Path, interval: str) -> Body:
    """Return Prometheus' configuration for the monitors of a cluster."""
    discovery = _discovery(scene, folder)
    configs = [
        sources.reached(config, component)
        for component, body in monitors(scene)
        for config in scrape_configs(body, discovery)
    ]
    return {
        "global": {"scrape_interval": interval, "evaluation_interval": interval},
        "rule_files": ["rules.json"],
        "scrape_configs": [*configs, _api_server(discovery)],
    }


def _api_server(discovery: Discovery) -> Body:
    """Return the scrape of the API server itself; of its thousands of series those that we read."""
    kept = {"source_labels": ["__name__"], "regex": "apiserver_.*admission_.+", "action": "keep"}
    return {
        "job_name": "apiserver",
        "scheme": "https",
        "authorization": {"credentials_file": discovery.token},
        "tls_config": {"ca_file": discovery.authority},
        "static_configs": [{"targets": [urlsplit(discovery.server).netloc]}],
        "scrape_interval": _SLOWLY,
        "metric_relabel_configs": [kept],
    }


def _arguments(folder: Path, port: int) -> list[str]:
    return [
        f"--config.file={folder / 'prometheus.json'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={LOOPBACK}:{port}",
        "--log.level=warn",
    ]


def _authorize(scene: Scene) -> None:
    """Create Prometheus' account; it may find targets and read their metrics."""
    namespace = MONITORING[stack_of(scene)]
    account = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": namespace}
    metadata = {"name": ACCOUNT, "namespace": namespace}
    scene.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    for name, rule in (("discover", _DISCOVER), ("read-metrics", _READ)):
        for body in bound(f"{ACCOUNT}-{name}", rule, account):
            scene.api.apply(body)


def bound(name: str, rule: Body, subject: Body) -> list[Body]:
    """Return a ClusterRole with one rule, and its binding to a subject."""
    head = {"apiVersion": f"{_RBAC}/v1", "metadata": {"name": name}}
    reference = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name}
    binding = {"kind": "ClusterRoleBinding", "roleRef": reference, "subjects": [subject]}
    return [{**head, "kind": "ClusterRole", "rules": [rule]}, {**head, **binding}]


def _discovery(scene: Scene, folder: Path) -> Discovery:
    namespace = MONITORING[stack_of(scene)]
    token = folder / "token"
    token.write_text(scene.api.token(ACCOUNT, namespace), "utf-8")
    config = json.loads(scene.lab.kubeconfig.read_text("utf-8"))
    cluster = config["clusters"][0]["cluster"]
    return Discovery(cluster["server"], cluster["certificate-authority"], str(token))
