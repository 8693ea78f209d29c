"""Waivers: warnings, and a few errors, that the platform team accepts until a day."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Severity
from trainyard.rules import live, review
from trainyard.rules.change.expired_waiver import RULE as EXPIRED_WAIVER
from trainyard.rules.change.unused_waiver import RULE as UNUSED_WAIVER
from trainyard.yaml_io.source import Source

_OF_OTHERS = frozenset(rule.id for rule in (*review.RULES, *live.RULES))
"""Rules without a finding where no change, or no running cluster, is looked at."""


def apply_waivers(
    diagnostics: Iterable[Diagnostic], source: Source, today: str, *, complete: bool = True
) -> Iterator[Diagnostic]:
    """Yield the diagnostics without the waived ones, then the findings about waivers.

    Args:
        diagnostics: of all rules.
        source: ``profiles/waivers.yaml``.
        today: ISO date that ``expires`` is compared with; it never changes the tree.
        complete: whether every rule has seen all profiles; if not, no waiver is reported as unused.
    """
    waivers = (source.value or {}).get("waivers", [])
    used = set(_of_others(waivers))
    for diagnostic in diagnostics:
        index = _waived_by(diagnostic, waivers)
        if index is None:
            yield diagnostic
        else:
            used.add(index)
    for index, waiver in enumerate(waivers):
        at = Pointer(source.file) / "waivers" / index
        if waiver["expires"] < today:
            waived = f"{waiver['rule']} in {waiver['file']}"
            message = f"the waiver of {waived} ended on {waiver['expires']}"
            yield EXPIRED_WAIVER.at(at / "expires", message)
        elif complete and index not in used:
            message = f"there is no finding {waiver['rule']} in {waiver['file']}"
            yield UNUSED_WAIVER.at(at / "rule", message)


def not_waived(diagnostics: Iterable[Diagnostic], source: Source) -> Iterator[Diagnostic]:
    """Yield the diagnostics that no waiver covers.

    Args:
        diagnostics: about a change.
        source: ``profiles/waivers.yaml`` of the base.
    """
    waivers = (source.value or {}).get("waivers", [])
    return (finding for finding in diagnostics if _waived_by(finding, waivers) is None)


def _of_others(waivers: list[dict[str, str]]) -> Iterator[int]:
    """Yield the indexes of waivers of findings that other commands make."""
    for index, waiver in enumerate(waivers):
        if waiver["rule"] in _OF_OTHERS:
            yield index


def _waived_by(diagnostic: Diagnostic, waivers: list[dict[str, str]]) -> int | None:
    """Return the index of the first waiver of a diagnostic; most errors have none."""
    if diagnostic.severity is Severity.ERROR and not diagnostic.waivable:
        return None
    for index, waiver in enumerate(waivers):
        if (waiver["rule"], waiver["file"]) == (diagnostic.rule, diagnostic.at.file):
            return index
    return None
