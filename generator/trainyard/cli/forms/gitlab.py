"""Findings as a code quality report of GitLab."""

from __future__ import annotations

from typing import Any

from trainyard.cli import document
from trainyard.cli.console import printable
from trainyard.cli.findings import Findings
from trainyard.cli.forms.identity import identities
from trainyard.cli.places import Place
from trainyard.diagnostics import Diagnostic, Severity

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor"}
"""GitLab's own words are info, minor, major, critical and blocker."""


def report(_command: str, found: Findings) -> str:
    """Return an array of issues, which is empty when nothing is found.

    The fingerprint does not depend on the command, so GitLab shows a finding of two commands once.
    """
    ordered = found.ordered()
    keys = identities(ordered)
    return document.encoded(
        [_issue(*located, key) for located, key in zip(ordered, keys, strict=True)]
    )


def _issue(diagnostic: Diagnostic, place: Place, fingerprint: str) -> dict[str, Any]:
    help_ = f"; help: {diagnostic.hint}" if diagnostic.hint else ""
    return {
        "description": printable(f"{diagnostic.message}{help_}"),
        "check_name": diagnostic.rule,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[diagnostic.severity],
        "location": {"path": printable(place.file), "lines": {"begin": place.span.line}},
    }
