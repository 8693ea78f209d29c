"""Print converted jobs: YAML on stdout, a line for each note on stderr."""

from __future__ import annotations

from trainyard.cli.console import notify, printable, result
from trainyard.cli.exits import Exit
from trainyard.cli.places import Places
from trainyard.convert.text import document, lines
from trainyard.diagnostics import Pointer
from trainyard.model.quantity import counted
from trainyard.workflows.convert import Converted


def printed(converted: Converted) -> int:
    """Print converted jobs, and return the exit code."""
    places = Places(converted.sources, {})
    documents = []

    def place(at: Pointer) -> str:
        return str(places.find(at))

    for each in converted.conversions:
        notify("\n".join([printable(each.name), *lines(each, place, printable)]))
        if each.job is not None:
            documents.append(document(each, place, printable))
    if documents:
        result("---\n".join(documents).rstrip("\n"))
    _sum_up(converted, len(documents))
    return Exit.FINE if len(documents) == len(converted.conversions) else Exit.FINDINGS


def _sum_up(converted: Converted, done: int) -> None:
    parts = [f"{counted(done, 'job')} converted"]
    if refused := len(converted.conversions) - done:
        parts.append(f"{counted(refused, 'job')} not converted")
    if converted.others:
        parts.append(f"{counted(converted.others, 'object')} of other kinds left out")
    notify(", ".join(parts))
