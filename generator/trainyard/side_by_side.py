"""Do the same work for many items in several processes.

A process is a copy of this one (fork), so that it needs nothing but the number of its item. Its
results come back pickled. Whatever a process does not bring back, since it failed or was killed, is
done here once more: so an error is raised where everybody expects it, and a bug has its traceback.

`side_by_side` begins the processes when the work is known, `Early` before.
"""

from __future__ import annotations

import os
import pickle
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import IO, Any, Generic, NoReturn, Self, TypeVar

from trainyard.diagnostics import ToolError
from trainyard.programs import dying_with_parent

_MOST = 8
"""Processes: each takes the memory of its results."""
_NUMBER = 4
"""Bytes of an item's number."""
_PAUSE = 0.05
"""Seconds between two looks at how far the processes are."""

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
        _fill(queue, items)
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


def _fill(queue: IO[bytes], items: Sequence[object]) -> None:
    """Write the number of each item."""
    queue.write(b"".join(number.to_bytes(_NUMBER, "big") for number in range(len(items))))
    queue.seek(0)


def _begun(queue: IO[bytes]) -> int:
    """Return how many numbers were read."""
    return queue.tell() // _NUMBER


def _unless_error(result: Result | ToolError) -> Result:
    """Return a result, or raise it if it is an error."""
    if isinstance(result, ToolError):
        raise result
    return result


def _numbers(queue: IO[bytes]) -> Iterator[int]:
    """Yield numbers from a file that all processes read: each number is read once."""
    while number := queue.read(_NUMBER):
        yield int.from_bytes(number, "big")


class Early(Generic[Item, Result]):
    """Processes that begin while this one is small, and are given their work later.

    A process that starts a program copies its own page tables for it. With 400 MiB that took as
    long as the program itself, a kustomize that builds a team.

    Args:
        work: as `side_by_side` takes it.
    """

    def __init__(self, work: Callable[[Item], Result]) -> None:
        self._work = work
        self._opener: int | None = None
        self._running = _Processes(len(os.sched_getaffinity(0)), self._drawn)

    def __enter__(self) -> Self:
        self._items = tempfile.TemporaryFile(buffering=0)
        self._queue = tempfile.TemporaryFile(buffering=0)
        self._gate, self._opener = os.pipe()
        self._running.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.__exit__()
        self._open()
        os.close(self._gate)
        self._items.close()
        self._queue.close()

    def each(self, items: Sequence[Item], step: Callable[[int, int], None]) -> list[Result]:
        """Return the result of each item, in their order; to be called once.

        Args:
            items: what is worked on; each can be pickled.
            step: counts the items.

        Raises:
            ToolError: as the work. No item is begun after the first error.
        """
        self._items.write(pickle.dumps(items, protocol=5))
        _fill(self._queue, items)
        self._open()
        done: dict[int, Result | ToolError] = {}
        for results in self._running.results(lambda: step(_begun(self._queue), len(items))):
            done.update(results)
        return [
            _unless_error(done[number]) if number in done else self._work(item)
            for number, item in enumerate(items)
        ]

    def _open(self) -> None:
        """Let the processes begin: they wait until nobody can write into the gate."""
        if self._opener is not None:
            os.close(self._opener)
            self._opener = None

    def _drawn(self) -> Iterator[tuple[int, Result | ToolError]]:
        """Yield the numbers that this process draws, with their results or the first error."""
        self._open()
        os.read(self._gate, 1)
        size = os.fstat(self._items.fileno()).st_size
        # `pread`, since all processes share the place in a file.
        items = pickle.loads(os.pread(self._items.fileno(), size, 0))  # noqa: S301 - our own
        for number in _numbers(self._queue):
            try:
                yield number, self._work(items[number])
            except ToolError as error:
                self._queue.seek(0, os.SEEK_END)
                yield number, error


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

    def results(self, meanwhile: Callable[[], None] | None = None) -> Iterator[list[Any]]:
        """Wait for each process, and yield what it brings back.

        Args:
            meanwhile: called again and again while this process waits.
        """
        while self._running:
            process, file = next(iter(self._running.items()))
            while os.waitpid(process, os.WNOHANG if meanwhile else 0) == (0, 0):
                assert meanwhile
                meanwhile()
                time.sleep(_PAUSE)
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
