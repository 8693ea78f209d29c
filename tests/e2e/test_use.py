"""The use of each team, as promtool computes it from the rules of the committed trees.

Series of Kueue and DCGM exporter go in, with the labels that their sources give them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.alert_cases import Series
from tests.e2e.test_alerts import promtool

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/how-to/see-what-teams-use.md"
_QUERY = re.compile(r"^```promql\n(.+?)^```$", re.MULTILINE | re.DOTALL)

Samples = Mapping[str, float]
"""Labels of a series -> its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What a query answers after an hour.

    Args:
        query: a record, or PromQL.
        series: of Kueue and the exporters; each minute.
        samples: the whole answer.
    """

    query: str
    cluster: str = "prod-east"
    series: Series
    samples: Samples


def reserved(
    queue: str, pool: str, resource: str = "nvidia.com/gpu", replica: str = "a", cohort: str = "x"
) -> str:
    return (
        f'kueue_cluster_queue_resource_reservation{{cluster_queue="{queue}",flavor="{pool}",'
        f'resource="{resource}",cohort="{cohort}",replica_role="follower",pod="{replica}"}}'
    )


def gpu(number: int, **labels: str) -> str:
    shown = ",".join(f'{key}="{value}"' for key, value in labels.items())
    return f'DCGM_FI_DEV_GPU_UTIL{{UUID="GPU-{number}",gpu="{number}",{shown}}}'


def node(name: str, kind: str = "dgx-h100") -> str:
    return f'kube_node_labels{{node="{name}",label_ml_example_com_node_type="{kind}"}}'


DGX = "dgx-h100"
BORROWS = {
    # nlp owns 8 nodes of 8 GPUs and holds 12; vision owns 4 and holds 1; science holds none.
    reserved("nlp-gpu", DGX): "96x60",
    # The other replica of Kueue sees the same.
    reserved("nlp-gpu", DGX, replica="b"): "96x60",
    # The same nodes, counted by another resource.
    reserved("nlp-gpu", DGX, "cpu"): "2520x60",
    reserved("vision-gpu", DGX): "8x60",
    reserved("science-gpu", DGX): "0x60",
    # Queues of somebody else, and a pool that is no longer in the profiles.
    reserved("theirs", DGX): "16x60",
    reserved("nlp-gpu", "old"): "16x60",
}
PARTS = {
    # 78 of 126 cores have two threads each, and 6 of 8 GPUs.
    reserved("robotics-cpu", "cpu-shared", "cpu"): "156x60",
    reserved("speech-gpu", "xe9680-h200-shared"): "3x60",
    reserved("science-cpu", "cpu", "cpu"): "756x60",
}
BUSY = {
    node("n1"): "1x60",
    node("n2"): "1x60",
    # The scrape keeps the exporter's own namespace, and the exporter is an older one.
    gpu(0, Hostname="n1", namespace="nvidia", exported_namespace="team-nlp"): "100x60",
    gpu(1, Hostname="n1", namespace="nvidia", exported_namespace="team-nlp"): "50x60",
    # Another scrape of the same GPU.
    gpu(1, Hostname="n1", namespace="nvidia", exported_namespace="team-nlp", job="b"): "50x60",
    # The scrape honours the labels of a newer exporter.
    gpu(2, hostname="n2", namespace="team-vision"): "25x60",
    # No pod has it, a pod of somebody else does, and a node of no pool has it.
    gpu(3, Hostname="n1", namespace="nvidia"): "0x60",
    gpu(4, Hostname="n1", namespace="nvidia", exported_namespace="default"): "90x60",
    gpu(5, Hostname="n9", namespace="nvidia", exported_namespace="team-nlp"): "90x60",
}


def of_team(team: str, pool: str = DGX) -> str:
    return f'pool="{pool}",team="{team}"'


RECORDS = (
    Use(
        query="trainyard:team:held_nodes",
        series=BORROWS,
        samples={of_team("nlp"): 12, of_team("vision"): 1, of_team("science"): 0},
    ),
    Use(
        query="trainyard:team:borrowed_nodes",
        series=BORROWS,
        samples={of_team("nlp"): 4, of_team("vision"): 0, of_team("science"): 0},
    ),
    Use(
        query="trainyard:team:idle_nodes",
        series=BORROWS,
        samples={of_team("nlp"): 0, of_team("vision"): 3, of_team("science"): 4},
    ),
    # Without Kueue's metrics nothing is idle, and nothing is held: it is not known.
    Use(query="trainyard:team:idle_nodes", series={}, samples={}),
    Use(
        query="trainyard:team:held_nodes",
        cluster="lab",
        series=PARTS,
        samples={
            of_team("robotics", "cpu-shared"): 78 / 126,
            of_team("speech", "xe9680-h200-shared"): 3 / 8,
            of_team("science", "cpu"): 3,
        },
    ),
    Use(
        query="trainyard:team:idle_nodes",
        cluster="lab",
        series=PARTS,
        samples={
            of_team("robotics", "cpu-shared"): 0,
            of_team("speech", "xe9680-h200-shared"): 3 / 8,
            of_team("science", "cpu"): 3,
        },
    ),
    Use(
        query="trainyard:team:busy_gpus",
        series=BUSY,
        samples={of_team("nlp"): 1.5, of_team("vision"): 0.25},
    ),
)


def judge(folder: Path, case: Use) -> None:
    """Have promtool evaluate the rules for an hour, and compare the answer of a query."""
    record = case.query if re.fullmatch(r"[a-z_:]+", case.query) else ""
    expected = [
        {"labels": f"{record}{{{labels}}}", "value": value}
        for labels, value in case.samples.items()
    ]
    test: dict[str, Any] = {
        "interval": "1m",
        "input_series": [{"series": name, "values": each} for name, each in case.series.items()],
        "promql_expr_test": [{"expr": case.query, "eval_time": "1h", "exp_samples": expected}],
    }
    tests = {
        "rule_files": ["rules.yaml"],
        "evaluation_interval": "1m",
        "fuzzy_compare": True,
        "tests": [test],
    }
    (folder / "tests.yaml").write_text(json.dumps(tests), "utf-8")
    promtool(folder, case.cluster, "test", "rules", "tests.yaml")


@pytest.mark.parametrize(
    "case", RECORDS, ids=lambda case: f"{case.query}-{case.cluster}-{len(case.series)}"
)
def test_series_of_use(case: Use, tmp_path: Path) -> None:
    judge(tmp_path, case)


MONTH = "sum_over_time(trainyard:team:{}_nodes[31d])"
HOURS: Mapping[str, Samples] = {
    # 60 samples of an hour are one hour; the rules wrote the 61st at the time of the question.
    MONTH.format("promised"): {
        of_team("nlp"): 8 * 61 / 60,
        of_team("science"): 4 * 61 / 60,
        of_team("vision"): 4 * 61 / 60,
    },
    MONTH.format("held") + ")": {
        of_team("nlp"): 12 * 61 / 60,
        of_team("science"): 0,
        of_team("vision"): 61 / 60,
    },
    MONTH.format("borrowed"): {
        of_team("nlp"): 4 * 61 / 60,
        of_team("science"): 0,
        of_team("vision"): 0,
    },
    MONTH.format("idle"): {
        of_team("nlp"): 0,
        of_team("science"): 4 * 61 / 60,
        of_team("vision"): 3 * 61 / 60,
    },
    MONTH.format("held") + " / 60": {
        f'cost_center="RES-100",{of_team("nlp")}': 12 * 8 * 61 / 60,
        f'cost_center="RES-100",{of_team("science")}': 0,
        f'cost_center="PROD-300",{of_team("vision")}': 8 * 61 / 60,
    },
    "busy_gpus": {of_team("nlp"): 1.5 * 61 / 60, of_team("vision"): 0.25 * 61 / 60},
    # 13 steps of five minutes.
    "[31d:5m]": {
        'cost_center="RES-100",currency="USD"': 12 * 96 * 13 / 12,
        'cost_center="PROD-300",currency="USD"': 4 * 96 * 13 / 12,
    },
    "count_over_time": {"": 61 / 60},
}
"""What names a query of the page -> its answer after an hour."""


def queries() -> list[str]:
    return _QUERY.findall(PAGE.read_text("utf-8"))


@pytest.mark.parametrize("words", sorted(HOURS))
def test_queries_of_the_page_answer_what_it_says(words: str, tmp_path: Path) -> None:
    (query,) = [each for each in queries() if words in each]
    judge(
        tmp_path,
        Use(query=query, series={**BORROWS, **BUSY}, samples=HOURS[words]),
    )


def test_two_cost_centers_at_once_do_not_end_the_query(tmp_path: Path) -> None:
    """A series lasts 5 minutes longer where Prometheus was restarted with the new rules."""
    (query,) = [each for each in queries() if "[31d:5m]" in each]
    both = {
        'trainyard:team:cost_center{team="nlp",cost_center="OLD"}': "1x20",
        'trainyard:pool:node_hour_price{pool="dgx-h100",currency="EUR"}': "96x20",
    }
    samples = {"": 16 * 96 * 13 / 12}
    judge(tmp_path, Use(query=f"sum({query})", series=both, samples=samples))


def test_each_query_of_the_page_is_tried() -> None:
    assert len(queries()) == len(HOURS)
