"""Concurrent tasks: all end when one fails, and a halt has no lasting effect."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from trainyard.diagnostics import ToolError
from trainyard_rehearsal.control_plane.processes import HALT, Halted, Processes
from trainyard_rehearsal.control_plane.side_by_side import side_by_side


def test_results_keep_the_order_of_the_tasks() -> None:
    """The first task waits for the second."""
    second = threading.Event()

    def first() -> str:
        assert second.wait(10)
        return "first"

    def other() -> str:
        second.set()
        return "second"

    assert side_by_side([first, other, lambda: "third"], 2) == ["first", "second", "third"]
    assert not HALT.is_set()


def test_first_failure_ends_the_others(tmp_path: Path) -> None:
    """Running tasks are halted, waiting ones do not start, and the failure itself is raised."""
    waiting, begun = threading.Event(), []

    def endless() -> None:
        with Processes(tmp_path) as processes:
            waiting.set()
            processes.waited(lambda: False, 60)

    def fails() -> None:
        assert waiting.wait(10)
        raise ToolError("etcd ended with -9")

    with pytest.raises(ToolError, match="etcd ended"):
        side_by_side([endless, fails, lambda: begun.append("third")], 2)
    assert not begun
    assert not HALT.is_set()


def test_interrupt_ends_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C interrupts the thread that waits for the tasks."""
    ended, waiting = [], threading.Event()

    def endless() -> None:
        try:
            with Processes(tmp_path) as processes:
                waiting.set()
                processes.waited(lambda: False, 60)
        except Halted:
            ended.append(True)
            raise

    def interrupted(*_: object, **__: object) -> None:
        assert waiting.wait(10)
        raise KeyboardInterrupt

    monkeypatch.setattr("trainyard_rehearsal.control_plane.side_by_side.wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        side_by_side([endless], 2)
    assert ended == [True]
