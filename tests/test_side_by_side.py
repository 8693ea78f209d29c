"""Work in several processes has the results, the order and the errors of work in one."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainyard.diagnostics import ToolError
from trainyard.side_by_side import Early, side_by_side

_HERE = os.getpid()


@pytest.fixture(autouse=True)
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})


def _square(number: int) -> tuple[int, int]:
    time.sleep(0.01)
    return number * number, os.getpid()


def _no_step(_: int, __: int) -> None:
    """Count nothing."""


def test_results_are_in_order_whoever_made_them() -> None:
    made = side_by_side(_square, range(40), 3, _no_step)
    assert [square for square, _ in made] == [number * number for number in range(40)]
    assert len({process for _, process in made}) == 3


@pytest.mark.parametrize("processes", [0, 1])
def test_one_process_is_this_one(processes: int) -> None:
    steps: list[tuple[int, int]] = []
    made = side_by_side(_square, [3, 4], processes, lambda *each: steps.append(each))
    assert made == [(9, os.getpid()), (16, os.getpid())]
    assert steps == [(0, 2), (1, 2)]


def test_nothing_to_do_starts_no_process() -> None:
    assert side_by_side(_square, [], 8, _no_step) == []


def test_what_a_killed_process_owes_is_made_here() -> None:
    parent = os.getpid()

    def work(number: int) -> int:
        time.sleep(0.01)
        if os.getpid() != parent and number % 3 == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    assert side_by_side(work, range(20), 4, _no_step) == list(range(20))


def test_an_error_is_raised_here_with_its_traceback() -> None:
    def work(number: int) -> int:
        if number == 7:
            raise LookupError(number)
        return number

    with pytest.raises(LookupError) as raised:
        side_by_side(work, range(20), 4, _no_step)
    assert raised.traceback[-1].name == "work"


def test_no_process_is_left_after_an_interrupt() -> None:
    parent = os.getpid()

    def work(_: int) -> None:
        if os.getpid() == parent:
            raise KeyboardInterrupt
        time.sleep(60)

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        side_by_side(work, range(8), 4, _no_step)
    assert time.monotonic() - begun < 30
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_work_is_done_where_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refuse)
    assert [square for square, _ in side_by_side(_square, [1, 2], 4, _no_step)] == [1, 4]


def test_files_of_processes_are_closed(tmp_path: Path) -> None:
    def opened() -> Iterator[str]:
        for each in Path("/proc/self/fd").iterdir():
            yield each.name

    before = sorted(opened())
    side_by_side(_square, range(8), 4, _no_step)
    assert sorted(opened()) == before
    assert not any(tmp_path.iterdir())


def test_processes_that_begin_early_do_all_work_in_order() -> None:
    steps: list[tuple[int, int]] = []
    with Early(_square) as early:
        made = early.each(range(40), lambda *each: steps.append(each))
    assert [square for square, _ in made] == [number * number for number in range(40)]
    processes = {process for _, process in made}
    assert len(processes) == 4
    assert _HERE not in processes
    assert {total for _, total in steps} == {40}


def test_processes_without_work_end() -> None:
    begun = time.monotonic()
    with Early(_square) as early:
        assert early.each([], _no_step) == []
    with Early(_square):
        pass
    assert time.monotonic() - begun < 30
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_the_first_error_of_early_work_is_raised_and_no_other_item_begun(tmp_path: Path) -> None:
    def work(number: int) -> None:
        (tmp_path / str(number)).touch()
        raise ToolError(f"item {number} hangs")

    with Early(work) as early, pytest.raises(ToolError, match="item 0 hangs"):
        early.each(range(40), _no_step)
    assert len([*tmp_path.iterdir()]) <= 4


def test_what_a_killed_early_process_owes_is_made_here() -> None:
    def work(number: int) -> int:
        if os.getpid() != _HERE and number == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with Early(work) as early:
        assert early.each(range(20), _no_step) == list(range(20))


def test_early_work_is_done_where_no_process_can_be_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refuse)
    with Early(_square) as early:
        assert [square for square, _ in early.each([1, 2], _no_step)] == [1, 4]


def test_files_of_early_processes_are_closed() -> None:
    before = sorted(each.name for each in Path("/proc/self/fd").iterdir())
    with Early(_square) as early:
        early.each(range(8), _no_step)
    assert sorted(each.name for each in Path("/proc/self/fd").iterdir()) == before
