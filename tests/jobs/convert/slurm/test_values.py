"""Values of options are read as Slurm reads them."""

from __future__ import annotations

import pytest

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.slurm import values
from trainyard_jobs.convert.slurm.getopt import Option
from trainyard_jobs.convert.slurm.sizes import sizes_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90", 5400),
        ("1:30", 90),
        ("2:00:00", 7200),
        ("1-2", 93600),
        ("1-2:03", 93780),
        ("1-02:03:04", 93784),
        ("0", None),
        ("UNLIMITED", None),
        ("infinite", None),
    ],
)
def test_times(text: str, expected: int | None) -> None:
    assert values.seconds(text) == expected


@pytest.mark.parametrize("text", ["2h", "", "1:2:3:4", "-5", "1-"])
def test_no_times(text: str) -> None:
    with pytest.raises(ValueError, match="is none of"):
        values.seconds(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gpu", (1, "")),
        ("gpu:8", (8, "")),
        ("gpu:h100:8", (8, "h100")),
        ("gpu:h100", (1, "h100")),
        ("gres:gpu:2", (2, "")),
        ("gpu:4(S:0-1)", (4, "")),
        ("nvme:1,gpu:a100:2", (2, "a100")),
        ("none", (0, "")),
    ],
)
def test_gpus_of_gres(text: str, expected: tuple[int, str]) -> None:
    assert values.gres_gpus(text) == expected


def test_gpus_of_two_types_are_refused() -> None:
    with pytest.raises(ValueError, match="none of gpu"):
        values.gres_gpus("gpu:a100:1,gpu:h100:1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0-3", ([0, 1, 2, 3], "")),
        ("1,3,5-9:2%4", ([1, 3, 5, 7, 9], "4")),
        ("7", ([7], "")),
    ],
)
def test_indexes(text: str, expected: tuple[list[int], str]) -> None:
    assert values.indexes(text) == expected


@pytest.mark.parametrize("text", ["0-100000", "a", "", "0-255,300-600"])
def test_no_indexes(text: str) -> None:
    with pytest.raises(ValueError, match=r"index|none of"):
        values.indexes(text)


def sizes(*options: tuple[str, str]) -> tuple[int, int, int | None]:
    found = sizes_of(Option(name, value, Pointer("x")) for name, value in options)
    return found.nodes, found.ranks, found.gpus


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], (1, 1, None)),
        ([("nodes", "4")], (4, 1, None)),
        ([("nodes", "2-4"), ("ntasks-per-node", "8")], (2, 8, None)),
        ([("nodes", "4"), ("ntasks", "32")], (4, 8, None)),
        ([("nodes", "4"), ("ntasks", "16"), ("ntasks-per-node", "8")], (4, 4, None)),
        ([("ntasks", "16"), ("ntasks-per-node", "8")], (2, 8, None)),
        ([("ntasks", "16"), ("gres", "gpu:8")], (2, 8, 8)),
        ([("ntasks", "16"), ("gres", "gpu:8"), ("gpus-per-task", "2")], (4, 4, 8)),
        ([("nodes", "2"), ("gpus", "h100:16")], (2, 1, 8)),
        ([("nodes", "2"), ("ntasks-per-node", "4"), ("gpus-per-task", "2")], (2, 4, 8)),
        ([("nodes", "2"), ("gpus-per-node", "8"), ("ntasks-per-gpu", "1")], (2, 8, 8)),
    ],
)
def test_sizes(options: list[tuple[str, str]], expected: tuple[int, int, int | None]) -> None:
    assert sizes(*options) == expected


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([("nodes", "3"), ("ntasks", "16")], "not the same number on each"),
        ([("nodes", "3"), ("gpus", "16")], "not the same number on each"),
        ([("ntasks", "16")], "Slurm decides how many nodes"),
        ([("nodes", "0")], "not a number of nodes above 0"),
        ([("nodes", "two")], "neither a number of nodes"),
        ([("ntasks-per-node", "0")], "not a whole number above 0"),
        ([("gpus", "all")], "neither N nor TYPE:N"),
    ],
)
def test_sizes_that_are_refused(options: list[tuple[str, str]], reason: str) -> None:
    with pytest.raises(RefusedError) as caught:
        sizes(*options)

    assert reason in caught.value.reason
