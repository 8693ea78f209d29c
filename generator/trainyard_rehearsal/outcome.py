"""Outcomes of a rehearsal: how often a promise held, and each failure."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.diagnostics import Pointer


@dataclass(frozen=True, slots=True)
class Failure:
    """A promise that did not hold.

    Args:
        what: description of the object or request for the reader.
        words: message of the controller or the API server.
        at: place in the profiles that the object was generated from.
        logged: program and text of an error that was logged about it; empty for none.
    """

    what: str
    words: str
    at: Pointer
    logged: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One line of the table.

    Args:
        promise: the promise, e.g. ``objects accepted``.
        held: number of times that it held.
        tried: number of times that it was tried.
        failures: one for each time that it did not hold.
        remark: further facts for the reader.
    """

    promise: str
    held: int
    tried: int
    failures: tuple[Failure, ...] = ()
    remark: str = ""

    @property
    def fine(self) -> bool:
        """True if it was tried, and held each time."""
        return self.held == self.tried > 0 and not self.failures


def counted(promise: str, tried: int, failures: list[Failure], remark: str = "") -> Outcome:
    """Return the outcome of a promise that held except for the failures, counted by object.

    More objects than were tried may fail: all folders of a delivery after one change.
    """
    failed = {failure.what for failure in failures}
    return Outcome(promise, max(0, tried - len(failed)), tried, tuple(failures), remark)
