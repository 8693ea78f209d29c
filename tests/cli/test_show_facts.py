"""Ranks and rails in `show`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.resolve.changes import together
from tests.rules.cases import platform_of
from tests.rules.test_ranks import CPU
from tests.rules.test_shares import NLP, RUNTIME, TORCHRUN, VISION
from trainyard.cli.effective import effective

ONE = {"quota": {"prod-east": {"dgx-h100": {"nodes": None, "gpus": 2}}}, "largestJob": None}


def reported(changes: dict[str, Any], word: str) -> list[str]:
    """Return the values of team nlp whose name has a word."""
    sections = effective(platform_of(changes), "nlp")
    return [value.value for section in sections for value in section.values if word in value.name]


@pytest.mark.parametrize(
    ("changes", "ranks"),
    [
        ({}, "8 per node, each bound to 13 cores (26 threads)"),
        ({RUNTIME: {"ranks": 16}}, "16 per node, each bound to 6 cores (12 threads)"),
        ({RUNTIME: {"binding": "none"}}, "8 per node, not bound"),
        (TORCHRUN, "8 per node, not bound"),
        (together(CPU, {RUNTIME: {"binding": "none"}}), "62 per node, not bound"),
        (together(CPU, {RUNTIME: {"ranks": 31}}), "31 per node, each bound to 2 cores (4 threads)"),
        (together(CPU, TORCHRUN), "as the job states, not bound"),
        (
            {NLP: ONE, VISION: {"state": "retired"}},
            "1 per pod, each bound to 13 cores (26 threads)",
        ),
    ],
)
def test_ranks_and_what_each_is_bound_to_are_shown(changes: dict[str, Any], ranks: str) -> None:
    """Those of one node, or of one pod of a share; Trainer alone decides them for torchrun without
    GPUs."""
    assert reported(changes, "ranks of") == [ranks]


def test_use_of_a_runtime_is_shown_where_it_is_stated() -> None:
    """It is what users read at the runtime itself."""
    assert reported({RUNTIME: {"description": "Simulations."}}, "use of") == ["Simulations."]
    assert reported({}, "use of") == []


def test_default_runtime_is_shown_by_the_name_that_a_job_writes() -> None:
    stated = {NLP: {"defaultRuntime": "openmpi-cuda"}}
    assert reported(stated, "default runtime") == ["openmpi-cuda-v1-dgx-h100"]
    assert reported({}, "default runtime") == []


def test_sides_of_rails_are_shown_where_they_are_stated() -> None:
    """A pod has them all: none is pinned to GPUs of its side."""
    nics = [
        {"pci": f"0000:{bus}:00.0", "role": "rail", "gpu": gpu}
        for gpu, bus in enumerate(("18", "40"))
    ]
    unstated = {"hardware/dgx-h100.yaml": {"gpu": {"count": 2}, "nics": nics}}
    pinned = "a pod has one virtual function of each, not pinned"

    assert reported({}, ": rails") == [f"8 rails, 4 on NUMA node 0, 4 on NUMA node 1; {pinned}"]
    assert reported(unstated, ": rails") == [f"2 rails; {pinned}"]
    assert reported(CPU, ": rails") == []


def test_small_launcher_is_shown_with_what_it_has() -> None:
    kept = {"hardware/dgx-h100.yaml": {"launcher": {"cores": 1, "memory": "4Gi"}}}
    small = together(kept, {RUNTIME: {"launcherPod": "small"}})
    assert reported(small, "launcher of") == ["a pod without ranks, 2 CPUs, 4Gi"]
    assert reported(kept, "launcher of") == []
