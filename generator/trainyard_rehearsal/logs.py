"""Errors that controllers logged while a promise was tried, matched with its failures."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from trainyard_rehearsal.outcome import Failure, Outcome

_LEVELS = frozenset({"dpanic", "error", "fatal", "panic"})
_PASSING = ("Operation cannot be fulfilled", "the object has been modified")
"""Words of a conflict between two writers, after which the controller tries again."""
_KLOG = re.compile(r"[EF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+\] (?P<text>.*)")
_LOGRUS = re.compile(r'time="[^"]*" level=(?:error|fatal) msg=(?P<text>"(?:[^"\\]|\\.)*"|\S+)')
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*[a-z0-9]")
_LONG = 600
"""Maximum number of characters of an error that are shown."""


@dataclass(frozen=True, slots=True)
class LogMark:
    """A point in time in the logs of a control plane.

    Args:
        folder: folder of the logs.
        ends: size of each file at that time, in bytes.
    """

    folder: Path
    ends: Mapping[str, int]

    def explained(self, outcome: Outcome) -> Outcome:
        """Return an outcome whose failures have the error logged about each since this mark."""
        if not outcome.failures:
            return outcome
        errors = list(self._errors())
        failures = tuple(_explained(failure, errors) for failure in outcome.failures)
        return replace(outcome, failures=failures)

    def _errors(self) -> Iterator[tuple[str, str, str]]:
        """Yield program, text and line of each error since this mark."""
        for path in sorted(self.folder.glob("*.log")):
            with path.open("rb") as log:
                log.seek(self.ends.get(path.name, 0))
                for line in log.read().decode("utf-8", "replace").splitlines():
                    text = _error(line)
                    if text and not any(words in text for words in _PASSING):
                        yield path.stem, text, line


def mark(folder: Path) -> LogMark:
    """Return the present time in the logs of a folder."""
    return LogMark(folder, {path.name: path.stat().st_size for path in folder.glob("*.log")})


def _explained(failure: Failure, errors: list[tuple[str, str, str]]) -> Failure:
    """Return a failure with the error that contains the most of its object's names.

    Of several errors it is the most frequent one, and then the last one.
    """
    names = _names(failure.what)
    best = 0
    times: Counter[str] = Counter()
    for program, text, line in errors:
        score = sum(name in line for name in names)
        if score > best:
            best = score
            times.clear()
        if score == best > 0:
            times[f"{program}: {text}"] += 1
    if not times:
        return failure
    text, count = max(reversed(times.items()), key=itemgetter(1))
    repeated = f" ({count} times)" if count > 1 else ""
    return replace(failure, logged=f"{text[:_LONG]}{repeated}")


def _names(what: str) -> set[str]:
    """Return the names in the description of an object.

    Examples: ``LocalQueue team-nlp/gpu``, ``teams/nlp/localqueue-gpu.yaml``.
    """
    found = set(_NAME.findall(what.replace(".yaml", "")))
    if "/" not in what:
        return found
    return found | ({name.partition("-")[2] for name in found} - {""})


def _error(line: str) -> str:
    """Return the text of a line that is an error of zap, slog, klog or logrus, else nothing."""
    if line.startswith("{"):
        return _structured(line)
    if match := _KLOG.fullmatch(line):
        return match["text"]
    if match := _LOGRUS.match(line):
        return match["text"].strip('"')
    return ""


def _structured(line: str) -> str:
    try:
        entry: dict[str, Any] = json.loads(line)
    except ValueError:
        return ""
    if str(entry.get("level", "")).lower() not in _LEVELS:
        return ""
    return ": ".join(str(entry[key]) for key in ("msg", "error", "err") if entry.get(key))
