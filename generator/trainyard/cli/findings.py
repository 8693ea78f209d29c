"""Print findings as text, in the form of rustc."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import click

from trainyard.cli.console import printable
from trainyard.cli.places import Place, Places
from trainyard.diagnostics import Diagnostic, Note, Severity

_WIDTH = 120  # columns of a source line that are shown
_BEFORE = 60  # of them before the span, when the line is longer
_PLACES = 10  # of one cause
NOTES = 50
"""Notes of one finding that are shown."""
_CAUSES = 50  # of one rule
_RANKS = {severity: rank for rank, severity in enumerate(Severity)}
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


@dataclass(frozen=True, slots=True)
class Findings:
    """Diagnostics, and the places that they are shown at.

    Args:
        waived: how many are not shown, since somebody accepts them.
    """

    diagnostics: tuple[Diagnostic, ...]
    places: Places
    waived: int = 0

    def ordered(self) -> list[tuple[Diagnostic, Place]]:
        """Return the findings, errors first, by file, line, column and rule."""
        located = [(diagnostic, self.places.find(diagnostic.at)) for diagnostic in self.diagnostics]
        return sorted(located, key=_order)

    def grouped(self) -> list[list[tuple[Diagnostic, Place]]]:
        """Return the findings grouped by rule and cause, in the order of the first of each."""
        groups: dict[tuple[str, ...], list[tuple[Diagnostic, Place]]] = {}
        for diagnostic, place in self.ordered():
            key = (diagnostic.rule, diagnostic.severity, diagnostic.cause, diagnostic.hint)
            groups.setdefault(key, []).append((diagnostic, place))
        return list(groups.values())

    def count(self, severity: Severity) -> int:
        """Return how many findings there are of a severity."""
        return sum(diagnostic.severity is severity for diagnostic in self.diagnostics)


def _order(found: tuple[Diagnostic, Place]) -> tuple[int, str, int, int, str, str]:
    diagnostic, place = found
    rank = _RANKS[diagnostic.severity]
    return rank, *place.order, diagnostic.rule, diagnostic.message


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that show findings of one rule and severity.

    Args:
        count: how many findings they stand for.
        text: the lines, without control characters; no line begins with text of a profile.
    """

    severity: Severity
    count: int
    text: str


def text(findings: Findings, *, colour: bool) -> str:
    """Return every finding and, in the last line, how many there are."""
    shown = [f"{block.text}\n" for block in blocks(findings, colour=colour)]
    return "\n".join([*shown, summary(findings)])


def summary(findings: Findings) -> str:
    """Return how many findings there are, e.g. ``3 errors, 1 warning in 12 profiles``."""
    shown = counts({severity: findings.count(severity) for severity in Severity})
    waived = f", {findings.waived:,} waived" if findings.waived else ""
    profiles = _many(len(findings.places.profiles), "profile")
    return f"{shown or 'no findings'}{waived} in {profiles}"


def counts(numbers: Mapping[Severity, int]) -> str:
    """Return numbers of findings, e.g. ``3 errors, 1 warning``; empty when all are 0."""
    return ", ".join(
        _many(numbers[severity], severity) for severity in Severity if numbers.get(severity)
    )


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def blocks(findings: Findings, *, colour: bool) -> list[Block]:
    """Return one block a cause, errors first; a rule with too many causes counts the last ones."""
    return sorted(_blocks(findings, colour=colour), key=lambda block: _RANKS[block.severity])


def _blocks(findings: Findings, *, colour: bool) -> Iterator[Block]:
    causes: Counter[str] = Counter()
    explained: set[tuple[str, str]] = set()
    beyond: Counter[tuple[Severity, str]] = Counter()
    for group in findings.grouped():
        first = group[0][0]
        causes[first.rule] += 1
        if causes[first.rule] <= _CAUSES:
            explain = (first.rule, first.consequence) not in explained
            explained.add((first.rule, first.consequence))
            lines = _lines(group, findings.places, explain=explain, colour=colour)
            yield Block(first.severity, len(group), "\n".join(lines))
        else:
            beyond[first.severity, first.rule] += len(group)
    for (severity, rule), count in sorted(beyond.items()):
        head = _paint(f"{severity}[{rule}]", colour, _COLOURS[severity])
        yield Block(severity, count, f"{head}: and {count:,} more")


def alone(diagnostic: Diagnostic, place: Place, places: Places) -> str:
    """Return the lines of one finding, without colour."""
    return "\n".join(_lines([(diagnostic, place)], places, explain=True, colour=False))


def _lines(
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
    beside = (
        *_elsewhere([other for _, other in others]),
        *remarks(diagnostic, places, explain=explain),
    )
    for name, remark in beside:
        sign = _paint("=", colour, "blue")
        yield f"{gutter} {sign} {_paint(name, colour, None)}: {printable(remark)}"


def _elsewhere(others: list[Place]) -> Iterator[tuple[str, str]]:
    """Yield the places of a cause after its first one."""
    shown = others[: _PLACES - 1]
    for place in shown:
        yield "also", str(place)
    if len(others) > len(shown):
        yield "also", f"and {len(others) - len(shown):,} more"


def remarks(
    diagnostic: Diagnostic, places: Places, *, explain: bool = True
) -> Iterator[tuple[str, str]]:
    """Yield name and text of what follows the message: consequence, notes, help.

    Args:
        diagnostic: the finding.
        places: of its notes.
        explain: whether the consequence is wanted; findings of a rule mostly have the same.
    """
    if diagnostic.consequence and explain:
        yield diagnostic.when, diagnostic.consequence
    for note in diagnostic.notes[:NOTES]:
        yield "note", _note(note, places)
    if len(diagnostic.notes) > NOTES:
        yield "note", f"and {len(diagnostic.notes) - NOTES} more"
    if diagnostic.hint:
        yield "help", diagnostic.hint


def told(diagnostic: Diagnostic, places: Places) -> Iterator[str]:
    """Yield the message, and a line for each remark."""
    yield diagnostic.message
    for name, remark in remarks(diagnostic, places):
        yield f"{name}: {remark}"


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
