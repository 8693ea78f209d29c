"""A session that runs blocks of Python one after the other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trainyard_rehearsal.checks.python_session import python_session
from trainyard_rehearsal.control_plane.processes import Processes

pytestmark = pytest.mark.thorough


def run(folder: Path, *blocks: str) -> tuple[list[str], str]:
    """Return what is wrong with each block, and all that they print."""
    with Processes(folder / "logs") as processes:
        with python_session(folder, blocks, os.environ) as session:
            found = [session.run(number, processes) for number in range(len(blocks))]
        return found, session.done.result().stdout


def test_blocks_share_their_variables(tmp_path: Path) -> None:
    found, printed = run(tmp_path, "one = 1\n", "print(one + 1)\n")
    assert found == ["", ""]
    assert "2\n" in printed


def test_source_of_a_function_is_found(tmp_path: Path) -> None:
    """As in a notebook, where the SDK sends it."""
    blocks = "def one():\n    return 1\n", "import inspect\nprint(inspect.getsource(one))\n"
    found, printed = run(tmp_path, *blocks)
    assert found == ["", ""]
    assert "    return 1\n" in printed


def test_failing_block_is_named_with_its_words(tmp_path: Path) -> None:
    fine, failed = run(tmp_path, "one = 1\n", "print(two)\n")[0]
    assert not fine
    assert "name 'two' is not defined" in failed


def test_cause_of_a_failure_is_named_first(tmp_path: Path) -> None:
    block = """
try:
    raise ValueError("unknown device")
except ValueError as cause:
    raise RuntimeError("list failed") from cause
"""
    assert run(tmp_path, block)[0] == ["ValueError: unknown device; RuntimeError: list failed"]


def test_session_that_is_left_early_ends(tmp_path: Path) -> None:
    with python_session(tmp_path, ["job = 'a'\n", "1 / 0\n"], os.environ) as session:
        with Processes(tmp_path / "logs") as processes:
            assert not session.run(0, processes)
        assert session.job(0) == "a"
    assert session.done.result().code == 0
