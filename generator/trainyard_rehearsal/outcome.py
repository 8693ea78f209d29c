"""What a rehearsal saw: how often a promise held, and each time it did not."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.diagnostics import Pointer


@dataclass(frozen=True, slots=True)
class Failure:
    """A promise that did not hold.

    Args:
        what: object or request, as the reader knows it.
        words: what the controller or the API server said.
        at: the profile place that it was made from.
        logged: what a controller logged about it, after the program's name; empty for nothing.
    """

    what: str
    words: str
    at: Pointer
    logged: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One line of the table.

    Args:
        promise: what was tried, e.g. ``objects accepted``.
        held: how often it held.
        tried: how often it was tried.
        failures: one for each time that it did not hold.
        remark: what a reader should know beside the numbers.
    """

    promise: str
    held: int
    tried: int
    failures: tuple[Failure, ...] = ()
    remark: str = ""

    @property
    def fine(self) -> bool:
        """Whether it always held; what was never tried did not."""
        return self.held == self.tried > 0 and not self.failures


def counted(promise: str, tried: int, failures: list[Failure], remark: str = "") -> Outcome:
    """Return the outcome of a promise of which all but the failures held."""
    return Outcome(
        promise, tried - len({failure.what for failure in failures}), tried, tuple(failures), remark
    )
