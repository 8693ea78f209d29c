"""`#SBATCH` lines are read as sbatch reads them."""

from __future__ import annotations

import pytest

from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.slurm.header import read_header


def options(*lines: str) -> list[tuple[str, str]]:
    return [(each.name, each.value) for each in read_header("x", lines).options]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("#SBATCH -N4", [("nodes", "4")]),
        ("#SBATCH -N 4 -n8", [("nodes", "4"), ("ntasks", "8")]),
        ("#SBATCH\t--nodes=4", [("nodes", "4")]),
        ("#SBATCH --nodes 4", [("nodes", "4")]),
        ("#SBATCH --tasks-per-node=2", [("ntasks-per-node", "2")]),
        ("#SBATCH --exclusive", [("exclusive", "")]),
        ("#SBATCH --exclusive=user", [("exclusive", "user")]),
        ("#SBATCH -HO", [("hold", ""), ("overcommit", "")]),
        ("#SBATCH -t 1:00 # an hour", [("time", "1:00")]),
        ("#SBATCH -t 1:00#an hour", [("time", "1:00")]),
        ("#SBATCH --comment='a # b'", [("comment", "a # b")]),
        ('#SBATCH --comment "a b"', [("comment", "a b")]),
        (r"#SBATCH --comment=a\ b", [("comment", "a b")]),
        (r"#SBATCH --comment=\#1", [("comment", "#1")]),
        ("#SBATCH --job=x", [("job-name", "x")]),
        ("##SBATCH -N4", []),
        ("# SBATCH -N4", []),
        (" #SBATCH -N4", []),
        ("#SBATCH", []),
    ],
)
def test_forms_of_a_line(line: str, expected: list[tuple[str, str]]) -> None:
    assert options("#!/bin/bash", line) == expected


def test_options_end_at_the_first_command() -> None:
    header = read_header("x", ["#!/bin/sh", "#SBATCH -N2", "", "# text", "true", "#SBATCH -N4"])

    assert [each.value for each in header.options] == ["2"]
    assert (header.end, [at.line for at in header.late]) == (4, [6])


def test_last_option_counts_and_knows_its_place() -> None:
    header = read_header("x", ["#SBATCH -N2 -p a", "#SBATCH -N3"])
    last = header.last("nodes")

    assert last is not None
    assert (last.value, last.at.line, last.at.column) == ("3", 2, 9)
    assert header.last("qos") is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("#SBATCH --nods 4", "the next word may be its value or not"),
        ("#SBATCH -Y4", "there is no such option"),
        ("#SBATCH --ntasks-per=4", "it is one of ntasks-per-core, ntasks-per-gpu"),
        ("#SBATCH --nodes", "its value is missing"),
        ("#SBATCH --hold=1", "--hold takes no value"),
        ("#SBATCH -N4 train.py", "it is not an option"),
        ("#SBATCH --comment='a", "sbatch refuses the script"),
        ("#SBATCH hetjob", "a TrainJob has one kind of node"),
        ("#SBATCH : -N4", "a TrainJob has one kind of node"),
    ],
)
def test_what_sbatch_refuses_is_refused(line: str, reason: str) -> None:
    with pytest.raises(RefusedError) as caught:
        read_header("x", [line])

    assert reason in caught.value.reason
    assert caught.value.at.line == 1
