"""Findings and results as JSON, with a version of its form and a fixed order of keys."""

from __future__ import annotations

import json
from typing import Any

from trainyard import __version__
from trainyard.cli.findings import Findings
from trainyard.cli.places import Place
from trainyard.diagnostics import Diagnostic, Note, Severity

FORMAT = 1
"""Raised when a key goes or changes its meaning; a new key does not raise it."""


def envelope(command: str, **content: Any) -> str:
    """Return a document: who wrote it for which command, then the content in the order given."""
    head = {
        "version": FORMAT,
        "tool": {"name": "trainyard", "version": __version__},
        "command": command,
    }
    return encoded({**head, **content})


def encoded(content: Any) -> str:
    """Return plain data as ASCII JSON in which a runner of GitHub Actions finds no command.

    It reads ``##[command]`` anywhere in a line of a job's output
    (actions/runner:src/Runner.Common/ActionCommand.cs).
    """
    return json.dumps(content, indent=2).replace("##[", "##\\u005b")


def report(command: str, findings: Findings, result: Any = None) -> str:
    """Return findings, and what the command did besides, as a document."""
    counts = {f"{severity}s": findings.count(severity) for severity in Severity}
    return envelope(
        command,
        summary={**counts, "profiles": len(findings.places.profiles)},
        diagnostics=[_diagnostic(each, place, findings) for each, place in findings.ordered()],
        result=result,
    )


def _diagnostic(diagnostic: Diagnostic, place: Place, findings: Findings) -> dict[str, Any]:
    return {
        "rule": diagnostic.rule,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        **_place(place),
        "path": list(diagnostic.at.path),
        "consequence": diagnostic.consequence,
        "hint": diagnostic.hint,
        "notes": [_note(note, findings) for note in diagnostic.notes],
        "cause": diagnostic.cause,
    }


def _note(note: Note, findings: Findings) -> dict[str, Any]:
    where = (
        _place(findings.places.find(note.at))
        if note.at
        else {"file": None, "start": None, "end": None}
    )
    return {"message": note.message, **where}


def _place(place: Place) -> dict[str, Any]:
    """Return a half-open span; without one when the file was not read or is not there."""
    if place.mark is None:
        return {"file": place.file, "start": None, "end": None}
    line = place.mark.line
    return {
        "file": place.file,
        "start": {"line": line, "column": place.mark.column},
        "end": {"line": line, "column": place.mark.end_column},
    }
