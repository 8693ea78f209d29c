"""Waivers: warnings, and a few errors, that the platform team accepts until a day."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trainyard.diagnostics import Diagnostic, Pointer, Severity
from trainyard.rules import live, review
from trainyard.rules.change.expired_waiver import RULE as EXPIRED_WAIVER
from trainyard.rules.change.unused_waiver import RULE as UNUSED_WAIVER
from trainyard.rules.check import RULES
from trainyard.yaml_io.source import Source

_OF_OTHERS = frozenset(rule.id for rule in (*review.RULES, *live.RULES))
"""Rules without a finding where no change, or no running cluster, is looked at."""

_FIRM = frozenset(
    rule.id for rule in RULES if rule.severity is Severity.ERROR and not rule.waivable
)
"""Rules that no waiver lifts, whatever is looked at."""


@dataclass(frozen=True, slots=True)
class Waiver:
    """One file of an entry of ``profiles/waivers.yaml``.

    Args:
        source: of the entry.
        at: key that the finding is at or below; empty for anywhere in the file.
    """

    source: Pointer
    rule: str
    file: str
    reason: str
    owner: str
    expires: str
    at: str = ""

    @property
    def where(self) -> str:
        """What it is about, e.g. ``profiles/clusters/lab.yaml at pools.gpu``."""
        return f"{self.file} at {self.at}" if self.at else self.file

    def covers(self, finding: Diagnostic) -> bool:
        """Whether a finding is waived; most errors can't be."""
        if finding.severity is Severity.ERROR and not finding.waivable:
            return False
        path = ".".join(map(str, finding.at.path))
        there = not self.at or f"{path}.".startswith(f"{self.at}.")
        return there and (self.rule, self.file) == (finding.rule, finding.at.file)


def apply_waivers(
    diagnostics: Iterable[Diagnostic], source: Source, today: str, *, complete: bool = True
) -> tuple[tuple[Diagnostic, ...], int]:
    """Return what is left of the diagnostics, then findings about waivers, and how many are waived.

    Args:
        diagnostics: of all rules.
        source: ``profiles/waivers.yaml``.
        today: ISO date that ``expires`` is compared with; it never changes the tree.
        complete: whether every rule has seen all profiles; if not, a waiver is reported as unused
            only if it can't be of use.
    """
    waivers = waivers_of(source)
    used = {waiver for waiver in waivers if waiver.rule in _OF_OTHERS - _FIRM}
    left, waived = [], 0
    for finding in diagnostics:
        waiver = _waived_by(finding, waivers)
        if waiver is None:
            left.append(finding)
        else:
            used.add(waiver)
            waived += 1
    unused = {waiver for waiver in waivers if complete or waiver.rule in _FIRM} - used
    return (*left, *_about(waivers, unused, today)), waived


def _about(waivers: list[Waiver], unused: set[Waiver], today: str) -> Iterator[Diagnostic]:
    """Yield the findings about waivers: of one that has ended it does not matter what it hid."""
    for waiver in waivers:
        waived = f"{waiver.rule} in {waiver.where}"
        if waiver.expires < today:
            message = f"the waiver of {waived} ended on {waiver.expires}"
            yield EXPIRED_WAIVER.at(waiver.source / "expires", message)
        elif waiver in unused:
            useless = f"{waiver.rule} is an error that no waiver lifts"
            message = useless if waiver.rule in _FIRM else f"there is no finding {waived}"
            yield UNUSED_WAIVER.at(waiver.source / "rule", message)


def not_waived(diagnostics: Iterable[Diagnostic], source: Source) -> Iterator[Diagnostic]:
    """Yield the diagnostics that no waiver covers.

    Args:
        diagnostics: about a change.
        source: ``profiles/waivers.yaml`` of the base.
    """
    waivers = waivers_of(source)
    return (finding for finding in diagnostics if _waived_by(finding, waivers) is None)


def waivers_of(source: Source) -> list[Waiver]:
    """Return the waivers of a ``profiles/waivers.yaml`` that has the right shape."""
    return [
        Waiver(**{**entry, "source": Pointer(source.file) / "waivers" / index, "file": file})
        for index, entry in enumerate((source.value or {}).get("waivers", ()))
        for file in ([entry["file"]] if isinstance(entry["file"], str) else entry["file"])
    ]


def _waived_by(finding: Diagnostic, waivers: Iterable[Waiver]) -> Waiver | None:
    """Return the first waiver of a finding."""
    return next((waiver for waiver in waivers if waiver.covers(finding)), None)
