"""The capacity of a cluster while nodes are in maintenance."""

from __future__ import annotations

from tests.rules.cases import platform_of
from trainyard.capacity.measure import measure
from trainyard.capacity.wording import balance, maintenances, size
from trainyard.cli.capacity.document import document
from trainyard.cli.capacity.page import pages
from trainyard.cli.tables.text import COLUMNS, text

OUT = {"nodes": ["gpu-07", "gpu-08"], "until": "2026-12-01", "reason": "cables", "from": {"nlp": 1}}


def test_numbers_are_those_of_the_nodes_in_use() -> None:
    """Nine nodes, one in reserve, of which two teams own four each."""
    platform = platform_of(
        {"clusters/prod-east.yaml": {"pools": {"dgx-h100": {"maintenance": [OUT]}}}}
    )
    capacity = measure(platform.sites[0], platform.allocations)
    (pool,) = capacity.pools
    assert (size(pool), balance(pool)) == (
        "7 of 9 nodes, 0 in reserve, 7 promised",
        "head-room 0 nodes",
    )
    assert [*maintenances(pool)] == [
        "out of use: gpu-07, gpu-08 until 2026-12-01 (cables)",
        "nlp lacks 1 of its 4 nodes until then; larger jobs wait",
    ]
    assert {
        part.team: tuple(map(int, (part.own, part.lend, part.withheld))) for part in pool.parts
    } == {
        "nlp": (3, 3, 1),
        "vision": (4, 4, 0),
    }
    assert {part.team: int(part.largest_job.nodes) for part in pool.parts} == {
        "nlp": 3,
        "vision": 4,
    }
    (gpu,) = (each for each in pool.resources if each.name == "nvidia.com/gpu")
    assert (gpu.nodes, gpu.out_of_use, gpu.promised, gpu.nominal) == (72, 16, 56, 56)
    (shown,) = document([capacity])[0]["pools"]
    assert (shown["nodes"], shown["outOfUse"], shown["reserve"]) == (9, 2, 0)
    assert max(map(len, text(pages([capacity])).splitlines())) <= COLUMNS
