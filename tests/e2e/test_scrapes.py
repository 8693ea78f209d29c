"""A real Prometheus scrapes the real controllers, by the monitors of the tree."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.exporters import HOST
from tests.e2e.expressions import Need, needs
from tests.e2e.git import delivered
from tests.e2e.rules import groups, rules, shown_labels
from tests.e2e.setup import GITOPS, NEW, OLD
from tests.e2e.sources import CONTROLLERS, EXPORTERS, MONITORING, stack_of
from tests.e2e.stage import Scene, Stage
from tests.e2e.watched import Watched, watched
from tests.e2e.watching import ACCOUNT, Prometheus
from trainyard.profiles.read import PACKAGE
from trainyard.yaml_io.reader import read
from trainyard_rehearsal.control_plane.api import Body

pytestmark = pytest.mark.e2e

_TEAMS = 200
_LIMITS = {'__name__=~"trainyard:.+"': 2_000, '__name__!=""': 200_000}
"""Series, by matchers -> how many of them a cluster with so many teams may have."""
_HOST_LABELS = frozenset({"Hostname", "hostname"})
METRICS = PACKAGE / "render" / "alerts" / "metrics.yaml"


@pytest.fixture
def seen(stage: Stage, tmp_path: Path) -> Iterator[Watched]:
    """A control plane of a release with its Prometheus."""
    with watched(stage, tmp_path) as found:
        yield found


@pytest.mark.parametrize("stage", [NEW, OLD], indirect=True, ids=lambda setup: setup.name)
def test_controllers_are_scraped_by_those_who_may(seen: Watched) -> None:
    """Each source is one target in its namespace; Kueue and JobSet refuse who may not read."""
    scene, prometheus = seen.scene, seen.prometheus
    namespaces = {each.name: each.namespace for each in scene.site.cluster.sources}
    expected = {namespaces[name] for name in CONTROLLERS} | {MONITORING[stack_of(scene)]}
    up = prometheus.query('up{job!="apiserver"} == 1')
    assert {each.labels["namespace"] for each in up} == expected
    assert len(up) == len(CONTROLLERS) + len(EXPORTERS)

    reader = scene.api.token(ACCOUNT, MONITORING[stack_of(scene)])
    stranger = scene.api.token("default", "default")
    for name in ("jobset", "kueue"):
        assert [prometheus.answer(name, each) for each in (reader, stranger, "")] == [200, 403, 401]
    # Trainer asks nobody.
    assert prometheus.answer("trainer", "") == 200


@pytest.mark.parametrize("stage", [NEW, OLD], indirect=True, ids=lambda setup: setup.name)
def test_rules_read_metrics_and_labels_that_exist(seen: Watched) -> None:
    """After some jobs have run, failed and been evicted, each series has what the rules need."""
    scene, prometheus = seen.scene, seen.prometheus
    _happen(scene)
    job = scene.submit("nlp", 2)
    assert scene.stage.until(lambda: any(pod.phase == "Running" for pod in job.pods))
    seen.gpu.write(job.pods[0].name)
    scene.api.patch(scene.api.get("v1", "Node", HOST), _gpus(7), "status")
    # OpenShift's machine config operator and kubelet do not run here, Argo CD has its own test, and
    # no webhook of the API server has failed.
    absent = ("apiserver", "argocd", "kubelet", "machine-config")
    elsewhere = {metric for component in absent for metric in _metrics(component)}
    elsewhere |= _recorded_from(seen, elsewhere)
    wanted = {each for each in _wanted(seen) if each.metric not in elsewhere}
    assert wanted
    missing = partial(_missing, prometheus, wanted)
    assert prometheus.until(lambda: not missing()), "\n".join(missing())
    scene.api.patch(scene.api.get("v1", "Node", HOST), _gpus(8), "status")


@pytest.mark.parametrize("stage", [GITOPS], indirect=True, ids=lambda setup: setup.name)
def test_rules_on_applications_read_what_argo_cd_shows(stage: Stage, tmp_path: Path) -> None:
    """Each Application of the tree is in Argo CD's metrics with what the rules need."""
    with delivered(stage), watched(stage, tmp_path) as seen:
        wanted = _wanted(seen, "trainyard-delivery")
        assert {*_metrics("argocd")} < {each.metric for each in wanted}
        missing = partial(_missing, seen.prometheus, wanted)
        assert seen.prometheus.until(lambda: not missing()), "\n".join(missing())

        ours = "argocd_app_info * on (name) group_left (team) trainyard:application:team"
        found = {each.labels["name"] for each in seen.prometheus.query(ours)}
        facts = seen.prometheus.query("trainyard:application:team")
        assert found == {each.labels["name"] for each in facts}


@pytest.mark.parametrize("stage", [NEW], indirect=True, ids=lambda setup: setup.name)
def test_series_of_200_teams_stay_within_their_limit(seen: Watched) -> None:
    """What one team adds to the rules' series and to all series, times 200, is as documented."""
    _happen(seen.scene)
    used = _of_team('__name__="trainyard:cluster_queue:used_ratio"')
    assert seen.prometheus.until(lambda: bool(seen.prometheus.query(used)))
    others = _TEAMS - len(seen.scene.site.tenants)
    for matcher, limit in _LIMITS.items():
        total = len(seen.prometheus.query(f"{{{matcher}}}"))
        of_team = len(seen.prometheus.query(_of_team(matcher)))
        assert 0 < of_team < total
        assert total + others * of_team <= limit


def _of_team(matcher: str) -> str:
    """Return an expression of what a team has of some series, by each label that names it."""
    names = {
        "cluster_queue": "nlp-gpu",
        "exported_namespace": "team-nlp",
        "name": "prod-east-team-nlp",
        "namespace": "team-nlp",
    }
    return " or ".join(f'{{{matcher},{label}="{name}"}}' for label, name in names.items())


def _wanted(seen: Watched, group: str = "") -> set[Need]:
    """Return what the rules of a tree need, or those of one group."""
    found = [each for each in groups(seen.scene.manifests) if each["name"] == group or not group]
    return {
        each
        for rule in rules(found)
        for need in needs(seen.prometheus.parsed(rule["expr"]), shown_labels(rule))
        for each in _by_version(need)
    }


def _recorded_from(seen: Watched, metrics: set[str]) -> set[str]:
    """Return the series that rules of a tree record from some metrics."""
    return {
        rule["record"]
        for rule in rules(groups(seen.scene.manifests))
        if "record" in rule
        and metrics & {each.metric for each in needs(seen.prometheus.parsed(rule["expr"]))}
    }


def _by_version(need: Need) -> Iterator[Need]:
    """Yield a need for each version of DCGM exporter: its label of the host has two names."""
    for other in _HOST_LABELS if need.labels >= _HOST_LABELS else [""]:
        yield Need(need.metric, need.labels - {other})


def _metrics(component: str) -> Iterator[str]:
    for entry in read(METRICS.name, METRICS.read_bytes())[0].value["sources"]:
        if entry["component"] == component:
            yield from entry["metrics"]


def _missing(prometheus: Prometheus, wanted: set[Need]) -> list[str]:
    """Return selectors of the needs that no series satisfies."""
    found = sorted(map(_selector, wanted))
    return [selector for selector in found if not prometheus.query(selector)]


def _selector(need: Need) -> str:
    matchers = ",".join(f'{label}!=""' for label in sorted(need.labels))
    return f"{need.metric}{{{matchers}}}"


def _happen(scene: Scene) -> None:
    """Let happen what the counters count, and what kube-state-metrics shows of a stuck pod."""
    stage = scene.stage
    job = scene.submit("nlp", 2)
    assert scene.runs(job)
    assert stage.until(lambda: any(pod.phase == "Running" for pod in job.pods))
    stage.api.patch(job.workload, {"spec": {"active": False}})
    assert scene.is_evicted(job)
    failing = scene.submit("vision", 2)
    assert scene.runs(failing)

    def failed() -> bool:
        for role in ("launcher", "node"):
            failing.finish(role, 1)
        return failing.has_finished

    assert stage.until(failed)
    stage.api.create(_pod("stuck"))
    for kind in ("containerStatuses", "initContainerStatuses"):
        pod = stage.api.get("v1", "Pod", "stuck", "default")
        stage.api.patch(pod, {"status": {kind: [_waiting()]}}, "status")


def _pod(name: str) -> Body:
    """Return a pod for which no node exists."""
    containers = [{"name": "main", "image": "none"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "containers": containers,
            "initContainers": [{"name": "first", "image": "none"}],
            "nodeSelector": {"no": "node"},
        },
    }


def _gpus(amount: int) -> Body:
    """Return what the device plugin reports of a node with so many GPUs."""
    return {"status": {"allocatable": {"nvidia.com/gpu": str(amount)}}}


def _waiting() -> Body:
    state = {"waiting": {"reason": "ImagePullBackOff", "message": ""}}
    return {
        "name": "main",
        "image": "none",
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": state,
    }
