"""The alerts of the committed trees, judged by Prometheus' own promtool; no cluster is needed."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.alert_cases import BESIDE, CASES, NEW, SOURCES, WAITS, Case, Series
from tests.e2e.engines import PROMTOOL, engine
from tests.e2e.sources import CONTROLLERS
from trainyard.golang import find_go, run_go
from trainyard.model.monitoring import SRIOV_METRICS
from trainyard.profiles.read import releases
from trainyard.yaml_io.reader import read

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / "generator/trainyard_rehearsal/control_plane/modules"
RELEASES = ROOT / "generator/trainyard/releases"
METRICS = ROOT / "generator/trainyard/render/alerts/metrics.yaml"
_IMPORTS = {
    "argoproj/argo-cd": "github.com/argoproj/argo-cd/v3",
    "kubernetes-sigs/controller-runtime": "sigs.k8s.io/controller-runtime",
    "kubernetes-sigs/jobset": "sigs.k8s.io/jobset",
    "kubernetes-sigs/kueue": "sigs.k8s.io/kueue",
}


@cache
def groups(cluster: str) -> list[dict[str, Any]]:
    """Return the groups of a cluster's PrometheusRules, the facts first."""
    files = (ROOT / "overlays" / cluster / "platform").glob("prometheusrule-*.yaml")
    found = [
        group
        for file in sorted(files)
        for group in read(file.name, file.read_bytes())[0].value["spec"]["groups"]
    ]
    return sorted(found, key=lambda each: each["name"] != "trainyard-facts")


def alerts(cluster: str, name: str) -> list[dict[str, Any]]:
    rules = [rule for group in groups(cluster) for rule in group["rules"]]
    return [rule for rule in rules if rule.get("alert") == name]


def promtool(folder: Path, cluster: str, *arguments: str) -> str:
    """Return what promtool says of the rules of a cluster; it must find no fault."""
    (folder / "rules.yaml").write_text(json.dumps({"groups": groups(cluster)}), "utf-8")
    done = subprocess.run(
        [engine(PROMTOOL), *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def expected(rule: Mapping[str, Any], labels: Mapping[str, str], value: str) -> dict[str, Any]:
    """Return an alert as it fires, its summary with the labels in their places."""

    def filled(match: re.Match[str]) -> str:
        return value if match[1] == "$value" else labels.get(match[1].removeprefix("$labels."), "")

    texts = {
        key: re.sub(r"{{ (\$\S+) }}", filled, text) for key, text in rule["annotations"].items()
    }
    return {"exp_labels": {**rule["labels"], **labels}, "exp_annotations": texts}


def judge(folder: Path, case: Case, series: Series, firing: list[dict[str, Any]]) -> None:
    """Have promtool evaluate the rules over some series, and compare what fires."""
    test = {
        "interval": "1m",
        "input_series": [
            {"series": name, "values": values} for name, values in series.items() if values
        ],
        "alert_rule_test": [
            {"eval_time": case.at, "alertname": case.alert, "exp_alerts": firing},
        ],
    }
    tests = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test]}
    (folder / "tests.yaml").write_text(json.dumps(tests), "utf-8")
    promtool(folder, case.cluster, "test", "rules", "tests.yaml")


@pytest.mark.parametrize("cluster", ["lab", "prod-east"])
def test_rules_are_well_formed(cluster: str, tmp_path: Path) -> None:
    """Expressions, templates and durations are what Prometheus reads, and no rule is twice."""
    said = promtool(tmp_path, cluster, "check", "rules", "--lint=all", "--lint-fatal", "rules.yaml")
    assert "SUCCESS" in said


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.alert)
def test_alert_fires_in_its_case_and_not_beside_it(case: Case, tmp_path: Path) -> None:
    (rule,) = alerts(case.cluster, case.alert)
    judge(tmp_path, case, case.series, [expected(rule, case.labels, case.value)])
    for neighbour in case.neighbours:
        judge(tmp_path, case, {**case.series, **neighbour}, [])


MISSING, DOWN = "TrainyardMetricsMissing", "TrainyardControllerDown"


@pytest.mark.parametrize("source", sorted(SOURCES))
def test_missing_source_is_reported_alone(source: str, tmp_path: Path) -> None:
    """With the metrics of the others, only the alert of the one that is missing fires.

    Without one of the controllers no job starts, so somebody is called.
    """
    name, severity = (DOWN, "critical") if source in CONTROLLERS else (MISSING, "warning")
    cluster = "lab" if source == SRIOV_METRICS else "prod-east"
    (rule,) = [each for each in alerts(cluster, name) if each["labels"]["source"] == source]
    assert rule["labels"]["severity"] == severity
    present = {series: "1x30" for other, (series, _) in SOURCES.items() if other != source}
    present |= BESIDE
    found = [expected(rule, SOURCES[source][1], "")]
    for alert, firing in ((name, found), (MISSING if name == DOWN else DOWN, [])):
        case = Case(
            alert=alert, cluster=cluster, at="20m", series=present, labels={}, neighbours=()
        )
        judge(tmp_path, case, present, firing)


@pytest.mark.parametrize(
    ("series", "fires"),
    [
        ({WAITS: "1x30"}, True),
        ({WAITS: "0x30"}, False),
        ({WAITS: "1x30", NEW: "0x30"}, False),
    ],
    ids=["jobs wait", "no job is there", "their states are there"],
)
def test_missing_states_are_reported_while_jobs_wait(
    series: Series, fires: bool, tmp_path: Path
) -> None:
    """A cluster without jobs has no job's states."""
    every = {**BESIDE, **{name: "1x30" for name, _ in SOURCES.values()}}
    (rule,) = [
        each
        for each in alerts("lab", "TrainyardMetricsMissing")
        if each["labels"]["source"] == "job-states"
    ]
    case = Case(
        alert="TrainyardMetricsMissing",
        cluster="lab",
        at="20m",
        series=series,
        labels={},
        neighbours=(),
    )
    firing = [expected(rule, {}, "")] if fires else []
    judge(tmp_path, case, {**every, **series}, firing)


def test_each_alert_has_a_case() -> None:
    known = {(case.cluster, case.alert) for case in CASES}
    for cluster in ("lab", "prod-east"):
        rules = [rule for group in groups(cluster) for rule in group["rules"] if "alert" in rule]
        for name in {rule["alert"] for rule in rules} - {MISSING, DOWN}:
            assert {("lab", name), ("prod-east", name)} & known, name


def schema_of(cluster: str, kind: str) -> Any:
    """Return the OpenAPI schema of a kind whose state is shown, from the module of its CRD."""
    module, path = {
        "SriovNetworkNodeState": (
            "github.com/k8snetworkplumbingwg/sriov-network-operator",
            "config/crd/bases/sriovnetwork.openshift.io_sriovnetworknodestates.yaml",
        ),
        "TrainJob": (
            "github.com/kubeflow/trainer/v2",
            "manifests/base/crds/trainer.kubeflow.org_trainjobs.yaml",
        ),
        "Workload": (
            "sigs.k8s.io/kueue",
            "config/components/crd/bases/kueue.x-k8s.io_workloads.yaml",
        ),
    }[kind]
    versions = {"lab": ("0.19", "2.3"), "prod-east": ("0.16", "2.1")}[cluster]
    folder = {
        "SriovNetworkNodeState": ROOT / "tests/e2e/programs/sriov-network-operator",
        "TrainJob": next(MODULES.glob(f"trainer-{versions[1]}.*")),
        "Workload": next(MODULES.glob(f"kueue-{versions[0]}.*")),
    }[kind]
    home = run_go(find_go(), folder, "list", "-m", "-f", "{{.Dir}}", module).strip()
    return yaml.safe_load((Path(home) / path).read_bytes())


def has(schema: Any, path: list[str]) -> bool:
    """Return whether a schema has a field, in lists too; metadata has no schema of its own."""
    for step in path if path[0] != "metadata" else ():
        if "items" in schema:
            schema = schema["items"]
        if step.startswith("["):
            continue
        if step not in schema.get("properties", {}):
            return False
        schema = schema["properties"][step]
    return True


@pytest.mark.parametrize("kind", ["SriovNetworkNodeState", "TrainJob", "Workload"])
@pytest.mark.parametrize("cluster", ["lab", "prod-east"])
def test_states_read_fields_of_the_versions_that_run(cluster: str, kind: str) -> None:
    """A path that leads nowhere has no series, and no error."""
    path = ROOT / "overlays" / cluster / "monitoring/job-states.yaml"
    resources = read(path.name, path.read_bytes())[0].value["spec"]["resources"]
    (resource,) = [each for each in resources if each["groupVersionKind"]["kind"] == kind]
    spec = schema_of(cluster, kind)["spec"]
    (version,) = [
        each
        for each in spec["versions"]
        if each["name"] == resource["groupVersionKind"]["version"] and each["served"]
    ]
    schema = version["schema"]["openAPIV3Schema"]
    paths = [*resource["labelsFromPath"].values()]
    for metric in resource["metrics"]:
        shown = metric["each"].get("gauge") or metric["each"]["stateSet"]
        paths += [[*shown["path"], *shown.get("valueFrom", [])]]
        paths += [[*shown["path"], *inner] for inner in shown.get("labelsFromPath", {}).values()]
    assert [each for each in paths if not has(schema, each)] == []
    assert spec["group"] == resource["groupVersionKind"]["group"]


@pytest.mark.parametrize(
    ("entry", "version"),
    [
        pytest.param(each, version, id=f"{each['component']}-{version}-{Path(each['source']).name}")
        for each in read(METRICS.name, METRICS.read_bytes())[0].value["sources"]
        for version in each["tags"]
        if version != "any"
    ],
)
def test_metrics_are_in_the_sources_of_what_runs(entry: dict[str, Any], version: str) -> None:
    """The pinned module has each metric, in the file and version that we name.

    Kueue and JobSet compose a name of their own and the rest.
    """
    repository, _, path = entry["source"].partition(":")
    folder = _pins(entry["component"], version)
    module = json.loads(run_go(find_go(), folder, "mod", "download", "-json", _IMPORTS[repository]))
    text = (Path(module["Dir"]) / path).read_text("utf-8")

    assert module["Version"] == entry["tags"][version]
    for metric in entry["metrics"]:
        own = metric.removeprefix(f"{entry['component']}_")
        assert f'"{metric}"' in text or f'"{own}"' in text, metric


def _pins(component: str, version: str) -> Path:
    """Return the folder of the go.mod that pins a version: what is built, or else the schemas."""
    name = {"argocd": "argo-cd"}.get(component, component)
    demanded = (
        RELEASES / release
        for release, source in sorted(releases().items())
        if source.value["versions"].get(component) == version
    )
    return next(iter([*MODULES.glob(f"{name}-{version}.*"), *demanded]))
