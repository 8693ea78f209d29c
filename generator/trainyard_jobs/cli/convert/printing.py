"""Print converted jobs: YAML on stdout, a line for each note on stderr."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from trainyard.cli.console import notify, printable, result
from trainyard.cli.exits import Exit, NoInput
from trainyard.cli.places import Places
from trainyard.diagnostics import Pointer
from trainyard.handed_in import shown
from trainyard.model.quantity import counted
from trainyard_jobs.convert.text import document, lines
from trainyard_jobs.workflows.convert import Converted


def need_jobs(converted: Converted, files: Iterable[Path], what: str) -> None:
    """Refuse files without a job; they have what is named.

    Raises:
        NoInput: there is none.
    """
    if not converted.conversions:
        raise NoInput(f"{', '.join(map(shown, files))} has {what}")


def printed(converted: Converted) -> int:
    """Print converted jobs, and return the exit code."""
    places = Places(converted.sources, {})

    def place(at: Pointer) -> str:
        return str(places.find(at))

    noted = [
        (printable(conversion.name), *lines(conversion, place, printable))
        for conversion in converted.conversions
    ]
    for (name, *notes), same in groupby(noted):
        notify("\n".join([_heading(name, len(list(same))), *notes]))
    documents = [
        document(conversion, place, printable)
        for conversion in converted.conversions
        if conversion.job is not None
    ]
    if documents:
        result("---\n".join(documents).rstrip("\n"))
    _sum_up(converted)
    is_whole = all(conversion.is_whole for conversion in converted.conversions)
    return Exit.FINE if is_whole else Exit.FINDINGS


def _heading(name: str, jobs: int) -> str:
    """Return the name of a source, and how many jobs with equal notes it became."""
    return name if jobs == 1 else f"{name}, {jobs} jobs"


def _sum_up(converted: Converted) -> None:
    made = [conversion for conversion in converted.conversions if conversion.job is not None]
    whole = sum(conversion.is_whole for conversion in made)
    parts = [f"{counted(whole, 'job')} converted"]
    if in_part := len(made) - whole:
        parts.append(f"{counted(in_part, 'job')} in part, without a command")
    if refused := len(converted.conversions) - len(made):
        parts.append(f"{counted(refused, 'job')} not converted")
    if converted.others:
        parts.append(f"{counted(converted.others, 'object')} of other kinds left out")
    notify(", ".join(parts))
