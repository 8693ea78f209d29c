"""Findings as text, in the form that rustc made familiar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import click

from generator.cli.console import printable
from generator.cli.places import Place, Places
from generator.diagnostics import Diagnostic, Note, Severity

_WIDTH = 120  # columns of a source line that are shown
_BEFORE = 60  # of them before the span, when the line is longer
_PER_FILE = 50
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found, and how to tell where."""

    diagnostics: tuple[Diagnostic, ...]
    places: Places

    def ordered(self) -> list[tuple[Diagnostic, Place]]:
        """Return the findings by file, line, column and rule."""
        located = [(each, self.places.find(each.at)) for each in self.diagnostics]
        return sorted(located, key=lambda pair: (*pair[1].order, pair[0].rule, pair[0].message))

    def count(self, severity: Severity) -> int:
        """Return how many findings there are of a severity."""
        return sum(each.severity is severity for each in self.diagnostics)


def text(findings: Findings, *, colour: bool) -> str:
    """Return every finding and, in the last line, how many there are."""
    blocks = list(_blocks(findings, colour=colour))
    return "\n".join([*blocks, summary(findings)])


def summary(findings: Findings) -> str:
    """Return how many findings there are, e.g. ``3 errors, 1 warning in 12 profiles``."""
    counts = ((findings.count(severity), severity) for severity in Severity)
    told = ", ".join(_many(count, severity) for count, severity in counts if count)
    return f"{told or 'no findings'} in {_many(findings.places.profiles, 'profile')}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _blocks(findings: Findings, *, colour: bool) -> Iterator[str]:
    """Yield one block a finding; what a single file repeats too often is only counted."""
    seen: Counter[str] = Counter()
    for diagnostic, place in findings.ordered():
        seen[place.file] += 1
        if seen[place.file] <= _PER_FILE:
            yield "\n".join(_block(diagnostic, place, findings.places, colour=colour)) + "\n"
    for file, count in sorted(seen.items()):
        if count > _PER_FILE:
            yield f"{printable(file)}: and {count - _PER_FILE} more\n"


def _block(diagnostic: Diagnostic, place: Place, places: Places, *, colour: bool) -> Iterator[str]:
    tone = _COLOURS[diagnostic.severity]
    head = _paint(f"{diagnostic.severity}[{diagnostic.rule}]", colour, tone)
    yield f"{head}: {_paint(printable(diagnostic.message), colour, None)}"
    gutter = " " * len(str(place.mark.line)) if place.mark else " "
    yield f"{gutter}{_paint('-->', colour, 'blue')} {printable(str(place))}"
    if place.mark:
        line, carets = _excerpt(place)
        bar = _paint("|", colour, "blue")
        yield f"{gutter} {bar}"
        yield f"{_paint(str(place.mark.line), colour, 'blue')} {bar} {line}".rstrip()
        yield f"{gutter} {bar} {_paint_after_spaces(carets, colour, tone)}"
    for name, told in _remarks(diagnostic, places):
        yield f"{gutter} {_paint('=', colour, 'blue')} {_paint(name, colour, None)}: {printable(told)}"


def _remarks(diagnostic: Diagnostic, places: Places) -> Iterable[tuple[str, str]]:
    if diagnostic.consequence:
        yield "if merged", diagnostic.consequence
    for note in diagnostic.notes[:_PER_FILE]:
        yield "note", _note(note, places)
    if len(diagnostic.notes) > _PER_FILE:
        yield "note", f"and {len(diagnostic.notes) - _PER_FILE} more"
    if diagnostic.hint:
        yield "help", diagnostic.hint


def _note(note: Note, places: Places) -> str:
    return f"{note.message} --> {places.find(note.at)}" if note.at else note.message


def _excerpt(place: Place) -> tuple[str, str]:
    """Return the part of the line around the span, and the carets below it."""
    assert place.mark is not None
    first, end = place.mark.column - 1, place.mark.end_column - 1
    start = max(0, min(first - _BEFORE, len(place.text) - _WIDTH)) if len(place.text) > _WIDTH else 0
    stop = start + _WIDTH
    left, right = ("..." if start else ""), ("..." if len(place.text) > stop else "")
    shown = place.text[start:stop].replace("\t", " ")
    before = printable(shown[: first - start])
    span = printable(shown[first - start : end - start])
    indent = " " * (len(left) + len(before))
    return f"{left}{printable(shown)}{right}", f"{indent}{'^' * max(1, len(span))}"


def _paint(told: str, colour: bool, tone: str | None) -> str:
    return click.style(told, fg=tone, bold=True) if colour else told


def _paint_after_spaces(told: str, colour: bool, tone: str) -> str:
    carets = told.lstrip()
    return told[: len(told) - len(carets)] + _paint(carets, colour, tone)
