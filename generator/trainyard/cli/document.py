"""Findings and results as JSON: `format`, `version` and `result`; the order of keys is fixed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import IntEnum
from fractions import Fraction
from typing import Any

from trainyard.cli.findings import Findings
from trainyard.cli.places import Place
from trainyard.diagnostics import Diagnostic, Note, Severity
from trainyard.model.money import Money, Price
from trainyard.model.team import Quota
from trainyard.schema.published import VERSION


def envelope(kind: str, result: Any) -> str:
    """Return a document: the name of its schema, the version of the form, and the content.

    Args:
        kind: ``trainyard schema KIND`` prints the schema.
        result: as `plain` takes it.
    """
    return encoded({"format": kind, "version": VERSION, "result": plain(result)})


def plain(value: Any) -> Any:
    """Return part of the model as plain data, its fields in camelCase as those of Kubernetes.

    Keys of mappings stay as they are: they are names, or spelled so already.
    """
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if (parts := _parts(value)) is not None:
        return {_camel_case(name): plain(part) for name, part in parts.items()}
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, IntEnum):
        return value.name.lower()
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


def _parts(value: Any) -> dict[str, Any] | None:
    """Return the fields of a value; None when it has none."""
    if isinstance(value, Quota):
        numbers = {"nodes": value.nodes, "borrow": value.borrow, "lend": value.lend}
        return {**numbers, "term": value.term}
    if isinstance(value, Money | Price):
        return {"amount": value.number, "currency": value.currency}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return dict(value._asdict())
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    return None


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(each.capitalize() for each in others)


def encoded(content: Any) -> str:
    """Return plain data as ASCII JSON in which a runner of GitHub Actions finds no command.

    It reads ``##[command]`` anywhere in a line of a job's output
    (actions/runner:src/Runner.Common/ActionCommand.cs).
    """
    return json.dumps(content, indent=2).replace("##[", "##\\u005b")


def report(kind: str, findings: Findings, **besides: Any) -> str:
    """Return findings, and what the command did besides, as a document."""
    counts = {f"{severity}s": findings.count(severity) for severity in Severity}
    return envelope(
        kind,
        {
            "summary": {**counts, "profiles": len(findings.places.profiles)},
            "diagnostics": [
                _diagnostic(each, place, findings) for each, place in findings.ordered()
            ],
            **besides,
        },
    )


def _diagnostic(diagnostic: Diagnostic, place: Place, findings: Findings) -> dict[str, Any]:
    return {
        "rule": diagnostic.rule,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        **_place(place),
        "path": diagnostic.at.path,
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
