"""Do the same work for many items in several processes.

A process is a copy of this one (fork), so that it needs nothing but the number of its item. Its
results come back pickled. Whatever a process does not bring back, since it failed or was killed, is
done here once more: so an error is raised where everybody expects it, and a bug has its traceback.
"""

from __future__ import annotations

import os
import pickle
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import IO, Any, NoReturn, Self, TypeVar

from trainyard.programs import dying_with_parent

_MOST = 8
"""Processes: each takes the memory of its results."""
_NUMBER = 4
"""Bytes of an item's number."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    processes: int,
    step: Callable[[int, int], None],
) -> list[Result]:
    """Return the result of each item, in their order.

    Args:
        work: depends on its item only; its result can be pickled.
        items: what is worked on.
        processes: how many are worth it; there are never more than cores.
        step: counts the items.
    """
    done: dict[int, Result] = {}
    others = max(0, min(processes, len(items), _MOST, len(os.sched_getaffinity(0))) - 1)
    with tempfile.TemporaryFile(buffering=0) as queue:
        queue.write(b"".join(number.to_bytes(_NUMBER, "big") for number in range(len(items))))
        queue.seek(0)
        with _Processes(others, lambda: _drawn(work, items, queue)) as running:
            for number in _numbers(queue):
                step(number, len(items))
                done[number] = work(items[number])
            for results in running.results():
                done.update(results)
    return [done[number] if number in done else work(item) for number, item in enumerate(items)]


def _drawn(
    work: Callable[[Item], Result], items: Sequence[Item], queue: IO[bytes]
) -> Iterator[tuple[int, Result]]:
    """Yield the numbers that this process draws, with their results."""
    for number in _numbers(queue):
        yield number, work(items[number])


def _numbers(queue: IO[bytes]) -> Iterator[int]:
    """Yield numbers from a file that all processes read: each number is read once."""
    while number := queue.read(_NUMBER):
        yield int.from_bytes(number, "big")


class _Processes:
    """Copies of this process, which end with the block at the latest.

    Args:
        count: how many.
        work: yields what a copy brings back.
    """

    def __init__(self, count: int, work: Callable[[], Iterator[Any]]) -> None:
        self._count, self._work = count, work
        self._running: dict[int, IO[bytes]] = {}

    def __enter__(self) -> Self:
        with suppress(OSError):  # no process is left, or no memory: the others do all work
            for _ in range(self._count):
                self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        for process, file in self._running.items():
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            file.close()

    def results(self) -> Iterator[list[Any]]:
        """Wait for each process, and yield what it brings back."""
        while self._running:
            process, file = next(iter(self._running.items()))
            os.waitpid(process, 0)
            del self._running[process]
            with file:
                file.seek(0)
                yield list(_loaded(file))

    def _begin(self) -> None:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - `results` and `__exit__` close it
        dies = dying_with_parent()
        try:
            process = os.fork()
        except OSError:
            file.close()
            raise
        if not process:
            _end_after(dies, self._work, file)
        self._running[process] = file


def _end_after(
    dies: Callable[[], None], work: Callable[[], Iterator[Any]], file: IO[bytes]
) -> NoReturn:
    """Do the work of a copy, and end it without whatever this process does at its end."""
    try:
        # Ctrl-C reaches each process of a terminal: the first one ends the others.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        dies()
        for result in work():
            pickle.dump(result, file, protocol=5)
        file.flush()
    finally:
        os._exit(0)


def _loaded(file: IO[bytes]) -> Iterator[Any]:
    """Yield what a process wrote, up to where it ended."""
    with suppress(EOFError, pickle.UnpicklingError):
        while True:
            yield pickle.load(file)  # noqa: S301 - of our own process, in a file without a name
