"""What controllers logged as errors while something was tried, and which of it is about a failure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainyard_rehearsal.outcome import Failure, Outcome

_LEVELS = frozenset({"dpanic", "error", "fatal", "panic"})
_PASSING = ("Operation cannot be fulfilled", "the object has been modified")
"""Words of a conflict between two writers: the controller tries again and nobody is hurt."""
_KLOG = re.compile(r"[EF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+\] (?P<text>.*)")
_LOGRUS = re.compile(r'time="[^"]*" level=(?:error|fatal) msg=(?P<text>"(?:[^"\\]|\\.)*"|\S+)')
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*[a-z0-9]")
_LONG = 600
"""Characters of an error that are shown."""


@dataclass(frozen=True, slots=True)
class LogMark:
    """A time in the logs of a control plane.

    Args:
        folder: of the logs.
        ends: bytes that each file then had.
    """

    folder: Path
    ends: Mapping[str, int]

    def explained(self, outcome: Outcome) -> Outcome:
        """Return an outcome with the error that was logged since about each of its failures, where there is one."""
        if not outcome.failures:
            return outcome
        errors = list(self._errors())
        return replace(
            outcome, failures=tuple(_explained(failure, errors) for failure in outcome.failures)
        )

    def _errors(self) -> Iterator[tuple[str, str, str]]:
        """Yield program, text and whole line of each error since this mark."""
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
    """Return a failure with the error that names most of its object, the most frequent and then the last of several."""
    names = _names(failure.what)
    told = [
        (sum(name in line for name in names), f"{program}: {text}")
        for program, text, line in errors
    ]
    most = max((score for score, _ in told), default=0)
    if not most:
        return failure
    times = Counter(text for score, text in told if score == most)
    text, count = max(reversed(times.items()), key=lambda item: item[1])
    return replace(failure, logged=f"{text[:_LONG]}{f' ({count} times)' if count > 1 else ''}")


def _names(what: str) -> set[str]:
    """Return the names in the words for an object: ``LocalQueue team-nlp/gpu``, ``teams/nlp/localqueue-gpu.yaml``."""
    found = set(_NAME.findall(what.replace(".yaml", "")))
    return found | {name.partition("-")[2] for name in found if "/" in what} - {""}


def _error(line: str) -> str:
    """Return what a line says if it is an error, in the forms of zap, slog, klog and logrus; else nothing."""
    if line.startswith("{"):
        return _structured(line)
    if match := _KLOG.fullmatch(line):
        return match["text"]
    if match := _LOGRUS.match(line):
        return match["text"].strip('"')
    return ""


def _structured(line: str) -> str:
    try:
        said: dict[str, Any] = json.loads(line)
    except ValueError:
        return ""
    if str(said.get("level", "")).lower() not in _LEVELS:
        return ""
    return ": ".join(str(said[key]) for key in ("msg", "error", "err") if said.get(key))
