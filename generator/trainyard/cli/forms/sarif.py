"""Findings as SARIF 2.1.0, with all that GitHub's code scanning asks for besides the schema."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from trainyard import __version__
from trainyard.cli import document
from trainyard.cli.console import printable
from trainyard.cli.findings import NOTES, Findings, told
from trainyard.cli.forms.identity import line_identity
from trainyard.cli.places import Place
from trainyard.diagnostics import Diagnostic, Rule
from trainyard.rulebook import all_rules

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LINK = re.compile(r"\](?=\()|\{(?=[0-9])")
"""What makes a link or a placeholder of a text (SARIF 2.1.0, 3.11.5 and 3.11.6)."""


def report(command: str, found: Findings) -> str:
    """Return a log with one run; its category tells the commands of one job apart."""
    wanted = {diagnostic.rule for diagnostic in found.diagnostics}
    rules = [rule for rule in all_rules() if rule.id in wanted]
    indices = {rule.id: index for index, rule in enumerate(rules)}
    results = []
    for diagnostic, place in found.ordered():
        results.append(_result(diagnostic, place, indices[diagnostic.rule], found))
    run = {
        "tool": {
            "driver": {
                "name": "trainyard",
                "semanticVersion": __version__,
                "rules": list(map(_rule, rules)),
            }
        },
        "automationDetails": {"id": f"trainyard/{command}/"},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return document.encoded({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(rule: Rule) -> dict[str, Any]:
    explain = f"trainyard explain {rule.id}"
    return {
        "id": rule.id,
        "shortDescription": {"text": _literal(rule.summary)},
        "fullDescription": {"text": _literal(rule.why)},
        "help": {
            "text": _literal(f"If merged: {rule.why}\nHelp: {rule.fix}\nMore: {explain}"),
            "markdown": _literal(
                f"**If merged:** {rule.why}\n\n**Help:** {rule.fix}\n\n**More:** `{explain}`"
            ),
        },
        "defaultConfiguration": {"level": rule.severity},
        "properties": {
            "tags": [rule.id.partition("/")[0]],
            "problem.severity": rule.severity,
        },
    }


def _result(diagnostic: Diagnostic, place: Place, index: int, found: Findings) -> dict[str, Any]:
    source = found.places.sources.get(diagnostic.at.file)
    return {
        "ruleId": diagnostic.rule,
        "ruleIndex": index,
        "level": diagnostic.severity,
        "message": _message(*told(diagnostic, found.places)),
        "locations": [_location(place)],
        "relatedLocations": _related(diagnostic, found),
        "partialFingerprints": {
            "primaryLocationLineHash": line_identity(
                diagnostic, place, source.content if source else b""
            )
        },
    }


def _related(diagnostic: Diagnostic, found: Findings) -> list[dict[str, Any]]:
    """Return the places of the notes; the schema allows none twice."""
    related: list[dict[str, Any]] = []
    for note in diagnostic.notes[:NOTES]:
        if note.at:
            place = _location(found.places.find(note.at))
            location = {**place, "message": _message(note.message)}
            related += [] if location in related else [location]
    return related


def _location(place: Place) -> dict[str, Any]:
    span = place.span
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(place.file.encode("utf-8", "surrogateescape"))},
            "region": {
                "startLine": span.line,
                "startColumn": span.column,
                "endLine": span.line,
                "endColumn": span.end_column,
            },
        }
    }


def _message(*lines: str) -> dict[str, str]:
    return {"text": _literal("\n".join(map(printable, lines)))}


def _literal(text: str) -> str:
    """Return a text in which nothing is a link or placeholder: a space is added inside of each.

    GitHub does not document that it reads the standard's escapes, so it might show them.
    """
    return _LINK.sub(r"\g<0> ", text)
