"""Handle Ctrl-C: end the process at once, or with `KeyboardInterrupt` when cleanup is needed.

Python raises `KeyboardInterrupt` between any two lines. Inside an import it leaves modules half
made, and while an object is collected it is printed and forgotten: a user would see a traceback, or
a command that goes on.

It imports little, since nothing protects its own import from Ctrl-C.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType, TracebackType

_AGAIN = 0.01
"""Seconds until an interrupt that was forgotten is raised once more."""


class at_once:  # noqa: N801 - a context manager; `contextlib` would triple the time of the import
    """Have Ctrl-C end the process at once, for imports."""

    def __enter__(self) -> None:
        self._before = signal.getsignal(signal.SIGINT)
        if self._before != signal.SIG_IGN:
            signal.signal(signal.SIGINT, _end)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        signal.signal(signal.SIGINT, self._before)


def remember() -> None:
    """Have an interrupt that was forgotten raised again."""
    sys.unraisablehook = _unraisable
    signal.signal(signal.SIGALRM, signal.default_int_handler)


def finish() -> None:
    """Ignore Ctrl-C from now on: the result is there, and so is the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end(_: int, __: FrameType | None) -> None:
    try:
        os.write(2, b"\ninterrupted\n")
    finally:
        os._exit(130)


def _unraisable(args: sys.UnraisableHookArgs) -> None:
    if args.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
    else:
        sys.__unraisablehook__(args)
