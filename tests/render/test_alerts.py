"""Alerts read metrics that exist, and the numbers and names of the profiles."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.e2e.alert_cases import CASES
from tests.pages import ROOT
from tests.rules.cases import platform_of
from trainyard.model.monitoring import EXPORTERS, SRIOV_METRICS
from trainyard.model.platform import Site
from trainyard.profiles.read import PACKAGE
from trainyard.render.alerts.alert import PLATFORM, Alert
from trainyard.render.alerts.rulesets import FAMILIES, web_address
from trainyard.render.alerts.runbooks import WORDS, runbooks
from trainyard.render.site import render_site
from trainyard.render.unit import job_states, readme
from trainyard.render.views.cluster import ClusterView
from trainyard.schema.manifests import schema_folder
from trainyard.schema.profiles import profile_schema
from trainyard.yaml_io.reader import read

USE = ROOT / "docs/how-to/see-what-teams-use.md"
METRICS = PACKAGE / "render" / "alerts" / "metrics.yaml"
ALERTS = [alert for alerts in FAMILIES.values() for alert in alerts]
OPTIONAL = {
    f"Metrics/{name}": "me" for name in ("apiserver", "external-secrets", "job-states", "kubelet")
}
"""Owners of what not every cluster has scraped."""
KUBERNETES = {
    "release": "kubernetes-1.36",
    "monitoring": {"stack": "prometheus-operator"},
    "external": OPTIONAL,
}
_STRING = re.compile(r'"[^"]*"')
_LABELS = re.compile(r"\b(?:by|on|group_left|without|ignoring)\s*\([^)]*\)|\{[^}]*\}|\[[^]]*\]")
_NAME = re.compile(r"(?<![\w:])[a-zA-Z_][a-zA-Z0-9_:]*\b(?!\s*\()")
_WORDS = {"and", "bool", "by", "group_left", "offset", "on", "or", "unless"}


@cache
def known() -> dict[tuple[str, str], set[str]]:
    """Return the versions of each metric of each component."""
    found: dict[tuple[str, str], set[str]] = {}
    for entry in read(METRICS.name, METRICS.read_bytes())[0].value["sources"]:
        for metric in entry["metrics"]:
            found.setdefault((entry["component"], metric), set()).update(entry["tags"])
    return found


def named(expr: str) -> set[str]:
    """Return the metrics and records that an expression reads."""
    plain = _LABELS.sub("", _STRING.sub('""', expr))
    return {name for name in _NAME.findall(plain) if name not in _WORDS}


def site(**cluster: Any) -> Site:
    """Return the base platform's cluster, with other fields."""
    (found,) = platform_of({"clusters/prod-east.yaml": cluster}).sites
    return found


def roce(**cluster: Any) -> Site:
    """Return the base platform's cluster on a RoCE fabric, with other fields."""
    vlans = {
        team: {"partition": None, "vlan": number}
        for team, number in (("nlp", 100), ("vision", 101))
    }
    fabric = {"link": "roce", "partitions": None, "vlans": "100-199"}
    changes = {
        "allocations.yaml": {"prod-east": {"ib": vlans}},
        "clusters/prod-east.yaml": {"fabrics": {"ib": fabric}, **cluster},
    }
    (found,) = platform_of(changes).sites
    return found


def rules(found: Site) -> list[dict[str, Any]]:
    """Return every rule of a cluster."""
    return [
        rule
        for each in render_site(found)
        if each.body["kind"] == "PrometheusRule"
        for group in each.body["spec"]["groups"]
        for rule in group["rules"]
    ]


def metrics_of(found: Site) -> set[str]:
    """Return the metrics that a cluster's rules read, the records left out."""
    names = {name for rule in rules(found) for name in named(rule["expr"])}
    return {name for name in names if ":" not in name}


def test_names_of_an_expression_are_found() -> None:
    """Else the tests below could not fail."""
    expr = 'sum by (a) (rate(b_total{c="d_e"}[5m])) > 1 and on (f) g offset 1h unless h:i < 0.5'
    assert named(expr) == {"b_total", "g", "h:i"}


@pytest.mark.parametrize(
    "cluster", [{"external": OPTIONAL}, KUBERNETES], ids=["openshift", "kubernetes"]
)
def test_each_metric_exists_in_the_versions_of_the_release(cluster: dict[str, Any]) -> None:
    """A rule on a metric that does not exist passes every check and never fires."""
    found = site(**cluster)
    versions = found.cluster.versions
    for metric in metrics_of(found):
        places = {component: tags for (component, name), tags in known().items() if name == metric}
        assert places, metric
        for component, tags in places.items():
            assert "any" in tags or versions[component] in tags, (metric, component)


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: f"{alert.name}-{alert.sources[0]}")
def test_alert_names_the_sources_of_its_metrics(alert: Alert) -> None:
    """By them it is left out where a cluster has none of them."""
    for metric in (name for name in named(alert.expr) if ":" not in name):
        assert {component for component, name in known() if name == metric} & {*alert.sources}


OUT = {"nodes": ["gpu-07", "gpu-08"], "until": "2026-12-01", "reason": "cables", "from": {"nlp": 1}}
MAINTAINED = {"pools": {"dgx-h100": {"maintenance": [OUT]}}}


def test_profile_may_change_the_severity_of_each_alert() -> None:
    """And of no other: a name that does not exist would change nothing."""
    fields = profile_schema("cluster")["properties"]["monitoring"]["properties"]
    assert fields["severity"]["propertyNames"]["enum"] == sorted({each.name for each in ALERTS})
    stated = {"stack": "openshift", "severity": {"TrainyardJobFailed": "critical"}}
    found = site(monitoring=stated)
    usual = {rule["alert"]: rule["labels"]["severity"] for rule in rules(site()) if "alert" in rule}
    now = {rule["alert"]: rule["labels"]["severity"] for rule in rules(found) if "alert" in rule}
    assert {*now.items()} - {*usual.items()} == {("TrainyardJobFailed", "critical")}
    (page,) = runbooks(found).values()
    assert "## TrainyardJobFailed\n\n`critical`" in page


def test_sources_have_the_names_that_external_may_have() -> None:
    """Another name there is a warning; only RoCE has what the exporter of SR-IOV shows."""
    for found in (site(external=OPTIONAL), site(**KUBERNETES)):
        names = {each.name for each in found.cluster.sources}
        assert names - {*found.cluster.release.metrics} == {*EXPORTERS} - {SRIOV_METRICS}


def test_each_fact_is_recorded_and_read() -> None:
    """By another rule, or by people in a query of the documentation."""
    for found in (
        site(**MAINTAINED),
        site(external=OPTIONAL, **MAINTAINED),
        site(**MAINTAINED, **KUBERNETES),
    ):
        recorded = {rule["record"] for rule in rules(found) if "record" in rule}
        read_somewhere = {name for rule in rules(found) for name in named(rule["expr"])}
        assert {name for name in read_somewhere if ":" in name} <= recorded
        queries = "".join(re.findall(r"```promql\n(.+?)```", USE.read_text("utf-8"), re.DOTALL))
        assert recorded - read_somewhere <= named(queries)


def test_alerts_can_be_routed_and_lead_to_their_runbook() -> None:
    found = site()
    (page,) = runbooks(found).values()
    recorded = {rule["record"]: rule["expr"] for rule in rules(found) if "record" in rule}
    for rule in (rule for rule in rules(found) if "alert" in rule):
        url = rule["annotations"]["runbook_url"]
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}
        assert rule["labels"]["cluster"] == "prod-east"
        read = [rule["expr"], *(recorded.get(name, "") for name in named(rule["expr"]))]
        has_team = any("group_left (team)" in expr for expr in read)
        assert rule["labels"].get("team") == PLATFORM or has_team
        assert url.endswith(f"overlays/prod-east/RUNBOOKS.md#{rule['alert'].lower()}")
        assert page.count(f"\n## {rule['alert']}\n") == 1


_COMMAND = re.compile(r"`(?:oc|kubectl|trainyard) [^`]*`")
_WORD = re.compile(r"\b[A-Z]{3,}(?:\.yaml)?\b")
_PRINTED = {
    "JOB": "get trainjobs|jobset-name",
    "NAMESPACE": "--all-namespaces",
    "NODE": "get nodes|-o wide|get machineconfigpool",
    "POD": "get pods|has the pod",
    "WORKLOAD": "get workloads",
}
"""Word of a command -> the steps before it that print what it stands for."""


def sections(page: str) -> dict[str, list[str]]:
    """Return the steps of each alert of a page of runbooks."""
    parts = (part.partition("\n") for part in page.split("\n## ")[2:])
    return {name: re.findall(r"(?m)^- (.+)$", text) for name, _, text in parts}


def is_known(word: str, alert: str, before: str) -> bool:
    """Return whether a person who has an alert and its first steps knows a word's value."""
    labels, elsewhere = WORDS[word]
    results = [{*case.labels} for case in CASES if case.alert == alert]
    if any(result & {*labels} for result in results):
        return all(result & {*labels} for result in results)
    of_queue = word == "NAMESPACE" and all("cluster_queue" in result for result in results)
    printed = bool(re.search(_PRINTED[word], before)) if word in _PRINTED else bool(elsewhere)
    return printed or of_queue


@pytest.mark.parametrize(
    "cluster", [{"external": OPTIONAL}, KUBERNETES], ids=["openshift", "kubernetes"]
)
def test_each_word_of_a_command_can_be_replaced(cluster: dict[str, Any]) -> None:
    """By a label that the alert has in each of its cases, by a step before, or by the header."""
    (page,) = runbooks(site(**cluster)).values()
    header = page.partition("\n## ")[0]
    used: set[str] = set()
    for alert, steps in sections(page).items():
        for number, step in enumerate(steps):
            words = {word for each in _COMMAND.findall(step) for word in _WORD.findall(each)}
            used |= {*_WORD.findall(step)} & {*WORDS} | words
            for word in words:
                assert f"\n| {word} |" in header, (alert, word)
                assert is_known(word, alert, "\n".join(steps[:number])), (alert, word, step)
    assert {*re.findall(r"(?m)^\| ([A-Z.yaml]+) \|", header)} == used


def numbers(found: Site, name: str) -> dict[str, str]:
    """Return the facts of a name, by pool, queue or device."""
    keys = ("cluster_queue", "device", "pool")
    return {
        next(rule["labels"][key] for key in keys if key in rule["labels"]): rule["expr"]
        for rule in rules(found)
        if rule.get("record") == name
    }


def queue_states(found: Site) -> dict[str, str]:
    """Return the state of each queue that has a team."""
    labels = [
        rule["labels"]
        for rule in rules(found)
        if rule.get("record") == "trainyard:cluster_queue:team"
    ]
    return {each["cluster_queue"]: each["state"] for each in labels}


def test_nodes_in_maintenance_are_facts_and_promised_to_nobody() -> None:
    """The day ends at midnight UTC."""
    found = site(**MAINTAINED)
    until = [
        (rule["labels"]["node"], rule["labels"]["pool"], rule["expr"])
        for rule in rules(found)
        if rule.get("record") == "trainyard:node:maintenance_until"
    ]
    # date --utc --date 2026-12-02 +%s
    assert until == [
        ("gpu-07", "dgx-h100", "vector(1796169600)"),
        ("gpu-08", "dgx-h100", "vector(1796169600)"),
    ]
    assert numbers(found, "trainyard:pool:promised_nodes") == {"dgx-h100": "vector(7)"}


def test_held_queue_is_no_inactive_one() -> None:
    whole = {**OUT, "nodes": [f"gpu-{number}" for number in range(9)]}
    del whole["from"]
    held = site(pools={"dgx-h100": {"maintenance": [whole]}})
    assert {*queue_states(held).values()} == {"held"}
    assert {*queue_states(site()).values()} == {"active"}


def test_numbers_are_those_of_the_profiles() -> None:
    """8 of the 9 nodes belong to teams, and a rail has 400 Gb/s."""
    assert numbers(site(), "trainyard:pool:promised_nodes") == {"dgx-h100": "vector(8)"}
    rates = numbers(site(), "trainyard:rail:bytes_per_second")
    assert len(rates) == 8
    assert set(rates.values()) == {'50000000000 * trainyard:instance:pool{pool="dgx-h100"}'}


def test_labels_of_nodes_are_those_of_kube_state_metrics() -> None:
    """It writes them in lower case, with underscores."""
    changes = {"hardware/dgx-h100.yaml": {"labels": {"example.com/gpuKind": "h100"}}}
    (found,) = platform_of(changes).sites
    (nodes,) = numbers(found, "trainyard:node:pool").values()
    assert 'label_example_com_gpu_kind="h100"' in nodes


@pytest.mark.parametrize("state", ["held", "draining"])
def test_queue_that_a_state_stops_is_not_missed(state: str) -> None:
    """It is stopped on purpose."""
    (found,) = platform_of({"teams/nlp.yaml": {"state": state}}).sites
    assert queue_states(found) == {"nlp-gpu": state, "vision-gpu": "active"}
    for changes in ({"state": state}, {"pools": {"dgx-h100": {"state": state}}}):
        assert {*queue_states(site(**changes)).values()} == {state}


def test_alerts_are_about_open_queues_and_dashboards_about_all() -> None:
    """Its running jobs go on, and its team looks at them."""
    queues = re.compile(r"trainyard:cluster_queue:team(?P<which>\{[^}]*\})?")
    alerts = [queues.search(rule["expr"]) for rule in rules(site()) if "alert" in rule]
    assert {found["which"] for found in alerts if found} == {'{state="active"}'}


def test_what_a_cluster_lacks_has_no_alert() -> None:
    """Argo CD on another cluster, no time limit until pods are ready, no InfiniBand."""
    alerts = {rule.get("alert") for rule in rules(site(**KUBERNETES))}
    assert "TrainyardJobsNotReadyInTime" in alerts
    assert "TrainyardJobsNotReadyInTime" not in {rule.get("alert") for rule in rules(site())}
    remote = site(server="https://api.example.com:6443")
    assert "argocd_app_info" not in metrics_of(remote)
    assert "Argo CD runs on another cluster" in runbooks(remote)["RUNBOOKS.md"]


def test_roce_has_no_errors_of_symbols() -> None:
    symbols = {"node_infiniband_symbol_error_total"}
    assert metrics_of(site()) - metrics_of(roce()) == symbols


IMAGE = f"registry.example.com/kubectl@sha256:{'a' * 64}"
FINISHED_JOBS = {"finishedJobs": {"keep": "7d", "image": IMAGE}}


def test_clean_up_is_watched_where_it_runs() -> None:
    watched = "TrainyardCleanUpFails"
    assert watched not in {rule.get("alert") for rule in rules(site())}
    assert watched in {rule.get("alert") for rule in rules(site(**FINISHED_JOBS))}


def test_node_lacks_what_its_profile_states_of_gpus_and_rails() -> None:
    """By the names of kube-state-metrics; without GPUs and rails it is the CPUs."""
    needed = {
        rule["labels"]["resource"]: rule["expr"]
        for rule in rules(site())
        if rule.get("record") == "trainyard:node:lacking"
    }
    assert {*needed} == {"nvidia.com/gpu", *(f"openshift.io/ib_rail_{rail}" for rail in range(8))}
    for resource, expr in needed.items():
        name = re.sub(r"\W", "_", resource)
        assert f'kube_node_status_allocatable{{resource="{name}"}}) >= 8' in expr


def test_export_of_nfs_is_no_volume_of_a_team() -> None:
    """Its size is that of all teams' folders."""

    def measured(**storage: Any) -> str:
        (rule,) = (
            rule
            for rule in rules(site(external=OPTIONAL, storage=storage))
            if rule.get("record") == "trainyard:claim:used_ratio"
        )
        return str(rule["expr"])

    assert '{persistentvolumeclaim!~"home"}' in measured()
    other = {"nfs": {"server": "nfs.corp.internal", "path": "/export/other"}}
    assert '{persistentvolumeclaim!~"home|other"}' in measured(other=other)


def test_virtual_functions_of_infiniband_have_no_counters() -> None:
    """The exporter of SR-IOV reads Ethernet cards only, so another cluster declares it in vain."""
    owners = {"external": {f"Metrics/{SRIOV_METRICS}": "me"}}
    assert SRIOV_METRICS in {each.name for each in roce(**owners).cluster.sources}
    assert SRIOV_METRICS not in {each.name for each in roce().cluster.sources}
    assert SRIOV_METRICS not in {each.name for each in site(**owners).cluster.sources}


def kinds(found: Site) -> Iterator[str]:
    """Yield what of monitoring a cluster has."""
    for each in render_site(found):
        if each.body["apiVersion"].startswith("monitoring.coreos.com/"):
            yield f"{each.body['kind']}/{each.name}"


def test_we_write_a_scrape_only_where_no_operator_does() -> None:
    own = {each for each in kinds(site(**KUBERNETES)) if not each.startswith("PrometheusRule/")}
    assert own == {
        "PodMonitor/trainyard-trainer",
        "ServiceMonitor/trainyard-argocd",
        "ServiceMonitor/trainyard-jobset",
        "ServiceMonitor/trainyard-kueue",
    }
    assert {each.partition("/")[0] for each in kinds(site())} == {"PrometheusRule"}
    assert [*kinds(site(monitoring=None))] == []
    assert runbooks(site(monitoring=None)) == {}


def test_prometheus_finds_the_objects_by_its_labels_and_ours_stay() -> None:
    labels = {"release": "prom", "app.kubernetes.io/managed-by": "me"}
    found = site(monitoring={"stack": "prometheus-operator", "labels": labels})
    written = {
        tuple(sorted(each.body["metadata"]["labels"].items()))
        for each in render_site(found)
        if each.body["kind"] == "PrometheusRule"
    }
    (only,) = written
    assert dict(only) == {
        "app.kubernetes.io/managed-by": "trainyard",
        "ml.example.com/part": "platform",
        "release": "prom",
    }


def states(**cluster: Any) -> dict[str, Any]:
    """Return what kube-state-metrics is configured with, by kind."""
    (body,) = job_states(site(**cluster)).values()
    return {each["groupVersionKind"]["kind"]: each for each in body["spec"]["resources"]}


def test_states_are_of_what_the_cluster_has() -> None:
    """A second kube-state-metrics is refused what it may not read, and warns of unknown kinds."""
    jobs, nodes = {"Workload", "TrainJob"}, {"SriovNetworkNodeState"}
    assert {*states(**KUBERNETES)} == jobs | nodes
    assert {*states(external=OPTIONAL)} == jobs | nodes | {"MachineConfigPool"}
    assert job_states(site()) == {}
    assert job_states(site(external=OPTIONAL, monitoring=None)) == {}


def test_states_have_the_metrics_and_labels_that_alerts_read() -> None:
    shown = states(external=OPTIONAL)
    found = {
        f"{each['metricNamePrefix']}_{metric['name']}": {
            *each["labelsFromPath"],
            *metric["each"].get("gauge", {}).get("labelsFromPath", {}),
            *[metric["each"].get("stateSet", {}).get("labelName", "node")],
        }
        for each in shown.values()
        for metric in each["metrics"]
    }
    assert {*found} == {metric for component, metric in known() if component == "job-states"}
    for rule in rules(site(external=OPTIONAL)):
        for metric, matchers in re.findall(r"(trainyard_\w+)\{([^}]*)\}", rule["expr"]):
            assert {each.partition("=")[0].rstrip("!") for each in matchers.split(",")} <= (
                found[metric]
            ), (metric, matchers)


def test_paused_is_a_field_of_openshifts_pools() -> None:
    """No module that the rehearsal builds has this CRD."""
    pool = states(external=OPTIONAL)["MachineConfigPool"]
    (metric,) = pool["metrics"]
    schema = schema_folder("openshift-ai-3.5") / (
        "machineconfiguration.openshift.io/machineconfigpool_v1.json"
    )
    fields = json.loads(schema.read_text("utf-8"))["properties"]
    assert metric["each"]["gauge"]["path"] == ["spec", "paused"]
    assert "paused" in fields["spec"]["properties"]


def test_account_may_read_exactly_what_the_states_name() -> None:
    """The README's command names them as RBAC does."""
    found = site(external=OPTIONAL)
    read_by = {
        f"{each['groupVersionKind']['kind'].lower()}s.{each['groupVersionKind']['group']}"
        for each in states(external=OPTIONAL).values()
    }
    assert {*ClusterView(found.cluster).state_resources} == read_by


def test_cluster_without_an_owner_of_a_source_says_what_is_not_watched() -> None:
    text = readme(site())
    assert "No alert reports a job that waits too long" in text
    assert "No alert reports a Secret that is not synced" in text
    assert "No alert reports" not in readme(site(external=OPTIONAL))


def test_limits_of_waiting_are_those_of_the_profile() -> None:
    """A priority without a limit, and a job without a priority, have a day."""
    found = site(
        external=OPTIONAL,
        priorities={"high": 2, "low": 1},
        monitoring={"stack": "openshift", "waiting": {"high": "30m"}},
    )
    limits = {
        rule["labels"]["priority"]: rule["expr"]
        for rule in rules(found)
        if rule.get("record") == "trainyard:priority:waiting_seconds"
    }
    assert (limits["high"], limits["low"], limits["(none)"]) == (
        "vector(1800)",
        "vector(86400)",
        "vector(86400)",
    )


@pytest.mark.parametrize(
    ("repository", "page"),
    [
        ("https://git.example.com/ml/platform.git", "https://git.example.com/ml/platform"),
        ("https://git.example.com/ml/platform/", "https://git.example.com/ml/platform"),
        ("ssh://git@git.example.com:2222/ml/platform.git", "https://git.example.com/ml/platform"),
        ("ssh://git.example.com/ml/platform", "https://git.example.com/ml/platform"),
    ],
)
def test_pages_of_a_repository(repository: str, page: str) -> None:
    assert web_address(repository) == page


def test_job_can_forge_no_metric_that_a_rule_or_panel_reads() -> None:
    """What a team's own metrics are called is up to its jobs, and rules read all namespaces."""
    text = (ROOT / "templates/team/pod-monitor.yaml.j2").read_text("utf-8")
    (dropped,) = re.findall(r"(?m)^ +regex: (ALERTS.+)$", text)
    assert [metric for _, metric in known() if not re.fullmatch(dropped, metric)] == []
