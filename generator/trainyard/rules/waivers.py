"""Warnings that the platform team has decided to live with, for a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.yaml_io.source import Source

EXPIRED_WAIVER = Rule(
    id="change/expired-waiver",
    severity=Severity.ERROR,
    summary="A waiver in profiles/waivers.yaml has not passed its last day.",
    why="An exception that nobody looks at again becomes the rule.",
    fix="Mend what it waives, or decide anew and move `expires`.",
)
UNUSED_WAIVER = Rule(
    id="change/unused-waiver",
    severity=Severity.WARNING,
    summary="A waiver in profiles/waivers.yaml still has a warning to waive.",
    why="It would silence the same mistake when somebody makes it anew.",
    fix="Remove the waiver. Errors can't be waived.",
)
RULES = (EXPIRED_WAIVER, UNUSED_WAIVER)


def apply_waivers(
    diagnostics: Iterable[Diagnostic], source: Source, today: str, *, complete: bool = True
) -> Iterator[Diagnostic]:
    """Yield the diagnostics without the waived warnings, and what is wrong with the waivers.

    Args:
        diagnostics: of all rules.
        source: ``profiles/waivers.yaml``.
        today: ISO date that ``expires`` is compared with; the only thing in the tool that depends
            on a clock, and no byte of the tree does.
        complete: whether every rule has seen everything; otherwise no waiver is called unused.
    """
    waivers = (source.value or {}).get("waivers", [])
    used = set()
    for diagnostic in diagnostics:
        index = _waived_by(diagnostic, waivers)
        if index is None:
            yield diagnostic
        else:
            used.add(index)
    for index, waiver in enumerate(waivers):
        at = Pointer(source.file) / "waivers" / index
        if waiver["expires"] < today:
            message = (
                f"the waiver of {waiver['rule']} in {waiver['file']} ended on {waiver['expires']}"
            )
            yield EXPIRED_WAIVER.at(at / "expires", message)
        elif complete and index not in used:
            yield UNUSED_WAIVER.at(
                at / "rule", f"no warning {waiver['rule']} stands in {waiver['file']}"
            )


def _waived_by(diagnostic: Diagnostic, waivers: list[dict[str, str]]) -> int | None:
    if diagnostic.severity is Severity.ERROR:
        return None
    key = (diagnostic.rule, diagnostic.at.file)
    return next(
        (index for index, each in enumerate(waivers) if (each["rule"], each["file"]) == key), None
    )
