"""Conversions as text: the TrainJob with comments, and one line a note."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from trainyard.diagnostics import Pointer
from trainyard.yaml_io.emitter import emit
from trainyard_jobs.convert.model import Conversion, Kind, Remark

Place = Callable[[Pointer], str]
"""Returns a place as the user opens it: ``file:line:column``."""

Plain = Callable[[str], str]
"""Returns text on one line without control characters: no text of a job may end a comment."""

_ORDER = list(Kind)


def document(conversion: Conversion, place: Place, plain: Plain) -> str:
    """Return the TrainJob as a YAML document; its comments are what to look at."""
    assert conversion.job is not None
    header = [
        f"Converted from {conversion.name}, {place(conversion.at)}",
        *(f"{note.kind}: {_sentence(note)}" for note in ordered(conversion.notes)),
        *_profile(conversion),
    ]
    below = [f"# {plain(line)}\n" for line in _unread(conversion)]
    return emit(conversion.job, "\n".join(map(plain, header))).decode() + "".join(below)


def _unread(conversion: Conversion) -> Iterator[str]:
    """Yield the lines of the source that its reader has to turn into a command."""
    if conversion.unread:
        yield "The lines of the source, of which nothing is in the command above:"
        yield from (f"  {line}" for line in conversion.unread)


def _profile(conversion: Conversion) -> Iterator[str]:
    """Yield the profile of the runtime that the job needs, so that its reader can copy it."""
    if conversion.runtime is None:
        return
    yield "A runtime with the job's own image, as a profile below `runtimes/`:"
    text = emit(conversion.runtime).decode()
    for line in text.splitlines():
        yield f"  {line}"


def lines(conversion: Conversion, place: Place, plain: Plain) -> Iterator[str]:
    """Yield one line for each note, in the form of a compiler: file:line:column: kind: text.

    Of a job that can't be converted only the reasons.
    """
    refused = conversion.job is None
    for note in ordered(conversion.notes):
        if refused and note.kind is not Kind.REFUSED:
            break
        yield plain(f"{place(note.at)}: {note.kind}: {_sentence(note)}")


def ordered(notes: Iterable[Remark]) -> list[Remark]:
    """Return notes, the most urgent kind first and otherwise in the order of the source."""
    return sorted(notes, key=lambda note: _ORDER.index(note.kind))


def _sentence(note: Remark) -> str:
    return f"{note.what}: {note.meaning}"
