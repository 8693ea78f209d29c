"""The section with all findings: errors first, each with its consequence and its fix."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from htpy import Element, Node, code, details, h3, p, summary

from trainyard.model.quantity import counted
from trainyard.report.content import Content, Finding
from trainyard.report.elements import badge, grid, items, note, part, prose, terms

_PLACES = 5  # of one finding that are shown at once


def findings(content: Content) -> Element:
    """Return the section."""
    ordered = sorted(content.findings, key=attrgetter("severity"))  # "error" < "warning"
    listed = list(map(_finding, ordered)) or p["Nothing was found."]
    return part("findings", "Findings", listed, _waivers(content))


def _waivers(content: Content) -> Node:
    """Return the warnings that are accepted: a waived finding stays visible, but does not count."""
    if not content.waivers:
        return note("No warning is waived.")
    rows = (
        (code[waiver.rule], code[waiver.where], waiver.reason, waiver.owner, waiver.expires)
        for waiver in content.waivers
    )
    head = ("rule", "where", "reason", "owner", "until")
    return details[
        summary[f"{counted(len(content.waivers), 'waiver')} of warnings"],
        grid("Warnings that are waived", head, rows),
    ]


def _finding(finding: Finding) -> Element:
    severe = finding.severity == "error"
    return details(f".finding.{finding.severity}", open=severe)[
        summary[
            badge("bad" if severe else "warned", finding.severity),
            " ",
            h3[prose(finding.message)],
            " ",
            code[finding.rule],
            f" in {len(finding.places)} places" if len(finding.places) > 1 else None,
        ],
        terms(_facts(finding)),
    ]


def _facts(finding: Finding) -> Iterator[tuple[str, Node]]:
    yield "where", _places(finding.places)
    yield "if merged", prose(finding.consequence)
    if finding.notes:
        yield "note", items(map(prose, finding.notes))
    yield "help", prose(finding.hint)


def _places(places: tuple[str, ...]) -> Node:
    first, rest = places[:_PLACES], places[_PLACES:]
    listed = _codes(first)
    if not rest:
        return listed
    more = details[summary[counted(len(rest), "more place")], _codes(rest)]
    return [listed, more]


def _codes(places: tuple[str, ...]) -> Element:
    return items(code[place] for place in places)
