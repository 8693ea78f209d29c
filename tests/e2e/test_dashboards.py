"""The dashboards of the committed trees, asked of Prometheus.

promtool answers from written series, with the labels that the exporters' sources give them. A real
Prometheus answers from what real controllers and kube-state-metrics report of a job.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.alert_cases import Series
from tests.e2e.test_alerts import groups, promtool
from trainyard.yaml_io.reader import read

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parents[2]
AT = "120m"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A cluster in which one team runs one job.

    Args:
        node_label: of kube-state-metrics, by which the pool has the node.
        keeps: whether the scrape of the GPUs' exporter keeps the exporter's own labels.
    """

    cluster: str
    team: str
    queue: str
    pool: str
    node_label: str
    resource: str
    device: str
    keeps: bool
    job: str = "bert"

    @property
    def devices(self) -> list[str]:
        """Labels of what a node of the pool offers, by kube-state-metrics."""
        names = ["nvidia_com_gpu", *(f"{self.resource}_{rail}" for rail in range(8))]
        return [f'resource="{name}",unit="integer"' for name in names]


WORLDS = (
    World(
        cluster="prod-east",
        team="nlp",
        queue="nlp-gpu",
        pool="dgx-h100",
        node_label='label_ml_example_com_node_type="dgx-h100"',
        resource="openshift_io_ib_rail",
        device="mlx5_0",
        keeps=False,
    ),
    World(
        cluster="lab",
        team="nlp",
        queue="nlp-gpu",
        pool="xe9680-h200",
        node_label='label_ml_example_com_node_type="xe9680-h200"',
        resource="nvidia_com_roce_rail",
        device="rocep26s0f0",
        keeps=True,
    ),
)


@cache
def dashboards(cluster: str) -> dict[str, dict[str, Any]]:
    """Return the committed dashboards of a cluster, by name."""
    found = {}
    for file in sorted((ROOT / "overlays" / cluster).glob("*/*-trainyard-dashboard-*.yaml")):
        body = read(file.name, file.read_bytes())[0].value
        (text,) = body["data"].values() if "data" in body else [body["spec"]["json"]]
        found[file.stem.rpartition("-")[2]] = json.loads(text)
    assert [*found] == ["job", "platform", "team"]
    return found


def panels(cluster: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each query of a cluster's panels, and the query."""
    for name, model in dashboards(cluster).items():
        rows = model.get("rows") or [{"panels": model["panels"]}]
        for panel in (panel for row in rows for panel in row["panels"]):
            for target in panel.get("targets", ()):
                yield f"{name}: {panel['title']}: {target['refId']}", target["expr"]


def asked(query: str, world: World) -> str:
    """Return a query as it is asked when a person chose the world's job."""
    values = {
        "namespace": f"team-{world.team}",
        "team": world.team,
        "job": world.job,
        "baseline": world.job,
        "__range": "1h",
    }
    return re.sub(r"\$(__range|namespace|team|job|baseline)\b", lambda m: values[m[1]], query)


def series(world: World) -> Series:
    """Return what the exporters report each minute, for two hours."""
    others = _virtual_functions(world) if world.cluster == "lab" else {}
    return {**_kueue(world), **_jobs(world), **_pods(world), **_node(world), **others}


def _kueue(world: World) -> Series:
    queue = f'cluster_queue="{world.queue}"'
    replica = 'replica_role="follower",pod="kueue-a"'
    wait = f'kueue_admission_wait_time_seconds_bucket{{{queue},priority_class="",{replica}'
    held = "kueue_cluster_queue_resource_reservation"
    own = "kueue_cluster_queue_nominal_quota"
    amount = f'{{{queue},flavor="{world.pool}",resource="nvidia.com/gpu",cohort="x",{replica}}}'
    return {
        f'kueue_pending_workloads{{{queue},status="active",{replica}}}': "2x130",
        f'kueue_pending_workloads{{{queue},status="inadmissible",{replica}}}': "1x130",
        f'kueue_cluster_queue_status{{{queue},status="active",{replica}}}': "1x130",
        f"kueue_admitted_active_workloads{{{queue},{replica}}}": "1x130",
        f'{wait},le="10"}}': "0+1x130",
        f'{wait},le="20"}}': "0+2x130",
        f'{wait},le="+Inf"}}': "0+2x130",
        f'kueue_evicted_workloads_total{{{queue},reason="Preempted",{replica}}}': "0+1x130",
        f'kueue_preempted_workloads_total{{preempting_cluster_queue="{world.queue}",'
        f'reason="InClusterQueue",{replica}}}': "0+1x130",
        f"{held}{amount}": "16x130",
        f"{own}{amount}": "64x130",
    }


def _jobs(world: World) -> Series:
    """Return what JobSet, and kube-state-metrics of Jobs, say; its own labels win there."""
    namespace = f"team-{world.team}"
    owner = 'owner_is_controller="true"'
    job = f'namespace="{namespace}",job_name="{world.job}-node-0"'
    ended = f'exported_namespace="{namespace}",namespace="jobset-system",jobset_name'
    limit = f'namespace="{namespace}",resource="count/trainjobs.trainer.kubeflow.org"'
    return {
        f'kube_job_owner{{{job},owner_kind="JobSet",owner_name="{world.job}",{owner}}}': "1x130",
        f"kube_job_status_start_time{{{job}}}": "1000x130",
        f"kube_job_status_completion_time{{{job}}}": "4600x130",
        f'jobset_completed_total{{{ended}="one"}}': "_x100 1x30",
        f'jobset_failed_total{{{ended}="two"}}': "_x100 1x30",
        f'kube_resourcequota{{{limit},type="used"}}': "10x130",
        f'kube_resourcequota{{{limit},type="hard"}}': "100x130",
    }


def _pods(world: World) -> Series:
    """Return two pods of the job on two nodes, each with two GPUs, of which only one works."""
    namespace = f"team-{world.team}"
    found: dict[str, str] = {}
    for number in (0, 1):
        pod = f"{world.job}-node-0-{number}-abcde"
        own = f'namespace="{namespace}",pod="{pod}"'
        owner = f'owner_kind="Job",owner_name="{world.job}-node-0",owner_is_controller="true"'
        of = (
            f'namespace="{namespace}",pod="{pod}"'
            if world.keeps
            else (
                f'exported_namespace="{namespace}",exported_pod="{pod}",'
                f'namespace="nvidia-gpu-operator",pod="dcgm-{number}"'
            )
        )
        found |= {
            f"kube_pod_owner{{{own},{owner}}}": "1x130",
            f'kube_pod_info{{{own},node="n{number}",host_ip="10.0.0.{number}"}}': "1x130",
            f'kube_pod_status_phase{{{own},phase="Running"}}': "1x130",
            f'kube_pod_status_phase{{{own},phase="Pending"}}': "0x130",
            f'container_cpu_usage_seconds_total{{{own},container="node"}}': "0+120x130",
            f'container_cpu_usage_seconds_total{{{own},container=""}}': "0+120x130",
            f'container_memory_working_set_bytes{{{own},container="node"}}': "1000x130",
            f'container_network_transmit_bytes_total{{{own},interface="eth0"}}': "0+600x130",
            f'container_fs_reads_bytes_total{{{own},container="",device="sda"}}': "0+60x130",
            f'container_fs_writes_bytes_total{{{own},container="",device="sda"}}': "0+60x130",
        }
        for gpu, busy in ((0, 100 if number == 0 else 0), (1, 0)):
            labels = f'{of},gpu="{gpu}",UUID="GPU-{number}{gpu}",Hostname="n{number}"'
            found[f"DCGM_FI_DEV_GPU_UTIL{{{labels}}}"] = f"{busy}x130"
            found[f"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{{{labels}}}"] = "0.4x130"
    return found


def _node(world: World) -> Series:
    """Return what kube-state-metrics and node exporter say of the nodes; n1 is cordoned."""
    found: dict[str, str] = {}
    for number in (0, 1):
        node = f'node="n{number}"'
        port = f'instance="10.0.0.{number}:9100",device="{world.device}",port="1"'
        state = "4x130" if number == 0 else "1x130"
        host = f'instance="10.0.0.{number}:9100",nodename="n{number}"'
        ready = f'kube_node_status_condition{{{node},condition="Ready",status="true"}}'
        found |= {
            f"kube_node_labels{{{node},{world.node_label}}}": "1x130",
            ready: "1x130",
            f"kube_node_spec_unschedulable{{{node}}}": f"{number}x130",
            **{f"kube_node_status_allocatable{{{node},{each}}}": "8x130" for each in world.devices},
            f"node_uname_info{{{host}}}": "1x130",
            f"node_infiniband_state_id{{{port}}}": state,
            f"node_infiniband_rate_bytes_per_second{{{port}}}": "25000000000x130",
            f"node_infiniband_link_downed_total{{{port}}}": "0+1x130",
            f"node_infiniband_symbol_error_total{{{port}}}": "0+1x130",
        }
    return found


def _virtual_functions(world: World) -> Series:
    """Return two virtual functions of each node, of which one is in the job's pod.

    The operator's scrape keeps the exporter's own labels and adds the node; another scrape may win.
    """
    found: dict[str, str] = {}
    for number in (0, 1):
        own = "" if number == 0 else "exported_"
        pod = f'{own}namespace="team-{world.team}",{own}pod="{world.job}-node-0-{number}-abcde"'
        if own:
            pod = f'{pod},namespace="sriov",pod="exporter-{number}"'
        for function in (0, 1):
            where = f'node="n{number}",pciAddr="0000:1a:00.{function + 1}"'
            counted = f'{{pf="ens1",vf="{function}",numa_node="0",{where}}}'
            found[f"sriov_vf_tx_bytes{counted}"] = "0+6000x130"
            found[f"sriov_vf_rx_bytes{counted}"] = "0+12000x130"
        given = f'dev_type="nvidia.com/roce_rail_0",container="node",{where[:-2]}1"'
        found[f"sriov_kubepoddevice{{{given},{pod}}}"] = "1x130"
    return found


def answer(folder: Path, world: World, tests: list[dict[str, Any]], given: Series) -> None:
    """Have promtool compare the answers of queries with what is expected."""
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in given.items()],
        "promql_expr_test": [{"eval_time": AT, **each} for each in tests],
    }
    whole = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test]}
    (folder / "tests.yaml").write_text(json.dumps(whole), "utf-8")
    promtool(folder, world.cluster, "test", "rules", "tests.yaml")


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.cluster)
def test_every_panel_shows_the_job(world: World, tmp_path: Path) -> None:
    """Each query joins what several exporters say, and has an answer."""
    tests = [
        {"expr": f"group({asked(query, world)})", "exp_samples": [{"labels": "{}", "value": 1}]}
        for _, query in panels(world.cluster)
    ]
    assert len(tests) > 40
    answer(tmp_path, world, tests, series(world))


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.cluster)
def test_rows_of_the_job_and_of_the_team_show_no_other(world: World, tmp_path: Path) -> None:
    """The same world without the chosen job and team: only what is about all jobs is left."""
    other = replace(world, team="theirs", job="theirs")
    tests = [
        {"expr": f"group({asked(query, other)})", "exp_samples": []}
        for _, query in panels(world.cluster)
        if asked(query, other) != asked(query, world)
    ]
    assert len(tests) > 20
    answer(tmp_path, world, tests, series(world))


VALUES = {
    ("platform", "Nodes promised"): ('{pool="dgx-h100"}', 16),
    ("platform", "Nodes used"): ('{pool="dgx-h100"}', 2),
    ("platform", "Nodes borrowed"): ('{pool="dgx-h100"}', 0),
    ("platform", "Nodes idle"): ('{pool="dgx-h100"}', 14),
    ("platform", "Waiting jobs"): ('{cluster_queue="nlp-gpu",team="nlp"}', 3),
    ("platform", "Waiting time"): ('{cluster_queue="nlp-gpu",team="nlp"}', 19),
    ("platform", "Nodes out of use"): ('{pool="dgx-h100"}', 1),
    ("platform", "Rails: slowest port"): ('{pool="dgx-h100"}', 0.5),
    # Nothing shows the other seven rails of both nodes: they have other names.
    ("platform", "Rails: ports without a link"): ('{pool="dgx-h100"}', 1),
    ("platform", "Cost of what teams own"): ('{currency="USD"}', 16 * 96),
    ("platform", "Node-hours held"): ('{pool="dgx-h100",team="nlp"}', 2),
    ("team", "TrainJobs of the limit"): ('{namespace="team-nlp"}', 0.1),
    ("team", "Failed jobs within 1 h"): ('{namespace="team-nlp"}', 1),
    ("team", "GPU use by job"): ('{namespace="team-nlp",trainjob="bert"}', 0.25),
    ("team", "Pods with idle GPUs"): ('{namespace="team-nlp",trainjob="bert"}', 1),
    ("job", "Average run time (7 days)"): ("{}", 3600),
    ("job", "Status"): ('{phase="Running"}', 2),
    ("job", "Scaling efficiency"): ("{}", 1),
}


@pytest.mark.parametrize("shown", VALUES, ids=" ".join)
def test_panel_shows_the_number_that_it_says(shown: tuple[str, str], tmp_path: Path) -> None:
    world, (labels, value) = WORLDS[0], VALUES[shown]
    (query,) = (
        query for name, query in panels(world.cluster) if name.startswith(f"{': '.join(shown)}: A")
    )
    plain = f"sum by ({', '.join(re.findall(r'([a-z_]+)=', labels))}) ({asked(query, world)})"
    expected = {"expr": plain, "exp_samples": [{"labels": labels, "value": value}]}
    answer(tmp_path, world, [expected], series(world))


@pytest.mark.parametrize(
    ("name", "samples"),
    [
        # One virtual function of each node is in no pod, and not counted.
        (
            "platform: Rails: traffic: A",
            {'{pool="xe9680-h200",dev_type="nvidia.com/roce_rail_0"}': 200},
        ),
        *(
            (
                f"job: Bandwidth: rails: {query}",
                {f'{{pod="bert-node-0-{number}-abcde"}}': bytes_a_second for number in (0, 1)},
            )
            for query, bytes_a_second in (("A", 100), ("B", 200))
        ),
    ],
)
def test_traffic_of_rails_is_that_of_the_jobs_virtual_functions(
    name: str, samples: dict[str, int], tmp_path: Path
) -> None:
    world = WORLDS[1]
    (query,) = (query for each, query in panels(world.cluster) if each == name)
    found = [{"labels": labels, "value": value} for labels, value in samples.items()]
    answer(tmp_path, world, [{"expr": asked(query, world), "exp_samples": found}], series(world))


def test_pods_of_a_job_are_listed_with_their_nodes(tmp_path: Path) -> None:
    world = WORLDS[0]
    (query,) = (query for name, query in panels(world.cluster) if name == "job: Pods: A")
    samples = [
        {
            "labels": f'{{pod="bert-node-0-{number}-abcde",phase="Running",node="n{number}"}}',
            "value": 1,
        }
        for number in (0, 1)
    ]
    answer(tmp_path, world, [{"expr": asked(query, world), "exp_samples": samples}], series(world))


def test_groups_have_the_records() -> None:
    """Else a panel would read nothing, and promtool would have nothing to evaluate."""
    for world in WORLDS:
        records = {rule.get("record") for group in groups(world.cluster) for rule in group["rules"]}
        assert "trainyard:pod:job" in records
