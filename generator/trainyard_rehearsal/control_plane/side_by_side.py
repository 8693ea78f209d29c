"""Concurrent rehearsals: each has its own control plane, and all end when one fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from trainyard_rehearsal.control_plane.processes import HALT, Halted

Done = TypeVar("Done")


def side_by_side(tasks: Sequence[Callable[[], Done]], at_once: int) -> list[Done]:
    """Run tasks, some at a time; return their results in order.

    The first failure ends the other tasks, as Ctrl-C does; all have ended before this returns.
    """
    HALT.clear()
    with ThreadPoolExecutor(at_once) as pool:
        futures = [pool.submit(_unless_halted, task) for task in tasks]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            if not all(map(_is_fine, futures)):
                HALT.set()
                pool.shutdown(cancel_futures=True)
                HALT.clear()
    errors = [future.exception() for future in futures if not future.cancelled()]
    for error in sorted(filter(None, errors), key=lambda error: isinstance(error, Halted)):
        raise error
    return [future.result() for future in futures]


def _unless_halted(task: Callable[[], Done]) -> Done:
    """Run a task; on failure its own thread halts the others before it takes the next task.

    Raises:
        Halted: another task has failed.
    """
    if HALT.is_set():
        raise Halted
    try:
        return task()
    except BaseException:
        HALT.set()
        raise


def _is_fine(future: Future[Done]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None
