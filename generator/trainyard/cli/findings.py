"""Print findings as text, in the form of rustc."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import click

from trainyard.cli.console import printable
from trainyard.cli.places import Place, Places
from trainyard.diagnostics import Diagnostic, Note, Severity

_WIDTH = 120  # columns of a source line that are shown
_BEFORE = 60  # of them before the span, when the line is longer
_PLACES = 10  # of one cause
_NOTES = 50  # of one finding
_CAUSES = 50  # of one rule
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


@dataclass(frozen=True, slots=True)
class Findings:
    """Diagnostics, and the places that they are shown at."""

    diagnostics: tuple[Diagnostic, ...]
    places: Places

    def ordered(self) -> list[tuple[Diagnostic, Place]]:
        """Return the findings by file, line, column and rule."""
        located = [(each, self.places.find(each.at)) for each in self.diagnostics]
        return sorted(located, key=lambda pair: (*pair[1].order, pair[0].rule, pair[0].message))

    def grouped(self) -> list[list[tuple[Diagnostic, Place]]]:
        """Return the findings grouped by rule and cause, in the order of the first of each."""
        groups: dict[tuple[str, ...], list[tuple[Diagnostic, Place]]] = {}
        for diagnostic, place in self.ordered():
            key = (diagnostic.rule, diagnostic.severity, diagnostic.cause, diagnostic.hint)
            groups.setdefault(key, []).append((diagnostic, place))
        return list(groups.values())

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
    shown = ", ".join(_many(count, severity) for count, severity in counts if count)
    return f"{shown or 'no findings'} in {_many(findings.places.profiles, 'profile')}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _blocks(findings: Findings, *, colour: bool) -> Iterator[str]:
    """Yield one block a cause; of a rule with very many causes the last are only counted."""
    causes: Counter[str] = Counter()
    beyond: Counter[tuple[Severity, str]] = Counter()
    for group in findings.grouped():
        first = group[0][0]
        causes[first.rule] += 1
        if causes[first.rule] <= _CAUSES:
            block = _block(group, findings.places, explain=causes[first.rule] == 1, colour=colour)
            yield "\n".join(block) + "\n"
        else:
            beyond[first.severity, first.rule] += len(group)
    for (severity, rule), count in sorted(beyond.items()):
        yield f"{_paint(f'{severity}[{rule}]', colour, _COLOURS[severity])}: and {count:,} more\n"


def _block(
    group: list[tuple[Diagnostic, Place]], places: Places, *, explain: bool, colour: bool
) -> Iterator[str]:
    """Yield the lines of one cause: its first place in full, then its other places."""
    (diagnostic, place), *others = group
    tone = _COLOURS[diagnostic.severity]
    head = _paint(f"{diagnostic.severity}[{diagnostic.rule}]", colour, tone)
    message = f"{diagnostic.cause} ({_many(len(group), 'place')})" if others else diagnostic.message
    yield f"{head}: {_paint(printable(message), colour, None)}"
    gutter = " " * len(str(place.mark.line)) if place.mark else " "
    yield f"{gutter}{_paint('-->', colour, 'blue')} {printable(str(place))}"
    if place.mark:
        line, carets = _excerpt(place)
        bar = _paint("|", colour, "blue")
        yield f"{gutter} {bar}"
        yield f"{_paint(str(place.mark.line), colour, 'blue')} {bar} {line}".rstrip()
        yield f"{gutter} {bar} {_paint_after_spaces(carets, colour, tone)}"
    remarks = (
        *_elsewhere([other for _, other in others]),
        *_remarks(diagnostic, places, explain=explain),
    )
    for name, remark in remarks:
        sign = _paint("=", colour, "blue")
        yield f"{gutter} {sign} {_paint(name, colour, None)}: {printable(remark)}"


def _elsewhere(others: list[Place]) -> Iterator[tuple[str, str]]:
    """Yield the places of a cause after its first one."""
    shown = others[: _PLACES - 1]
    yield from (("also", str(place)) for place in shown)
    if len(others) > len(shown):
        yield "also", f"and {len(others) - len(shown):,} more"


def _remarks(diagnostic: Diagnostic, places: Places, *, explain: bool) -> Iterable[tuple[str, str]]:
    if diagnostic.consequence and explain:
        yield "if merged", diagnostic.consequence
    for note in diagnostic.notes[:_NOTES]:
        yield "note", _note(note, places)
    if len(diagnostic.notes) > _NOTES:
        yield "note", f"and {len(diagnostic.notes) - _NOTES} more"
    if diagnostic.hint:
        yield "help", diagnostic.hint


def _note(note: Note, places: Places) -> str:
    return f"{note.message} --> {places.find(note.at)}" if note.at else note.message


def _excerpt(place: Place) -> tuple[str, str]:
    """Return the part of the line around the span, and the carets below it."""
    assert place.mark is not None
    first, end = place.mark.column - 1, place.mark.end_column - 1
    start = (
        max(0, min(first - _BEFORE, len(place.text) - _WIDTH)) if len(place.text) > _WIDTH else 0
    )
    stop = start + _WIDTH
    left, right = ("..." if start else ""), ("..." if len(place.text) > stop else "")
    shown = place.text[start:stop].replace("\t", " ")
    before = printable(shown[: first - start])
    span = printable(shown[first - start : end - start])
    indent = " " * (len(left) + len(before))
    return f"{left}{printable(shown)}{right}", f"{indent}{'^' * max(1, len(span))}"


def _paint(words: str, colour: bool, tone: str | None) -> str:
    return click.style(words, fg=tone, bold=True) if colour else words


def _paint_after_spaces(words: str, colour: bool, tone: str) -> str:
    carets = words.lstrip()
    return words[: len(words) - len(carets)] + _paint(carets, colour, tone)
