"""Read the files of a hand-written Component as Kubernetes reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.lookup import lookup
from trainyard.plainfile import NotRegularError, read_regular
from trainyard.profiles.discover import hidden_profiles
from trainyard.rules.delivery.broken_component import RULE as BROKEN_COMPONENT
from trainyard.rules.shape.misplaced_file import RULE as MISPLACED_FILE
from trainyard.yaml_io.bytescan import MAX_BYTES, scan
from trainyard.yaml_io.events import StreamError
from trainyard.yaml_io.manifests import read_manifests
from trainyard.yaml_io.source import Source

_NAMING = (("apiVersion",), ("kind",), ("metadata", "name"))
"""Text fields that every object has."""


@dataclass(frozen=True, slots=True)
class Read:
    """The content of a Component's folder.

    Args:
        objects: file -> Kubernetes objects in it.
        sources: the files, for the reporter.
    """

    objects: dict[str, tuple[dict[str, Any], ...]] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)


def read_component(folder: Path, source: Source) -> Read:
    """Read the files that a Component lists; they must be plain files beside it."""
    result = Read()
    if not isinstance(source.value, dict):
        return result
    resources = source.value.get("resources", [])
    entries: dict[str, int] = {}
    for i, entry in enumerate(resources if isinstance(resources, list) else ()):
        # A file that is listed a thousand times is read once.
        entries.setdefault(str(entry), i)
    for entry, i in entries.items():
        try:
            content = _content(folder, entry)
        except (OSError, ValueError) as problem:
            reason = str(problem.strerror if isinstance(problem, OSError) else problem)
            at = Pointer(source.file) / "resources" / i
            result.problems.append(BROKEN_COMPONENT.at(at, f"`{entry}` can't be used: {reason}"))
        else:
            _read_file(result, entry, Source(f"profiles/components/{folder.name}/{entry}", content))
    result.problems.extend(_unlisted(folder, {"kustomization.yaml", *entries}))
    return result


def _content(folder: Path, entry: str) -> bytes:
    try:
        if "/" not in entry:
            return read_regular(folder.parents[1], f"components/{folder.name}/{entry}", MAX_BYTES)
    except NotRegularError:
        pass
    raise ValueError("not a file beside the kustomization")


def _read_file(result: Read, entry: str, file: Source) -> None:
    """Note a file, the objects in it when it can be used, and what is wrong with it otherwise."""
    text, problems = scan(file.file, file.content)
    if not problems:
        try:
            file = read_manifests(file.file, file.content, text)
            problems = tuple(_nameless(file))
        except StreamError as problem:
            problems = (_unreadable(file, problem),)
    result.sources.append(file)
    result.problems.extend(problems)
    if not problems:
        result.objects[entry] = tuple(file.value)


def _unreadable(file: Source, problem: StreamError) -> Diagnostic:
    # libyaml's place of a missing end is a line further.
    last = len(file.lines)
    line, column = (
        (problem.line, problem.column) if problem.line <= last else (last, len(file.lines[-1]) + 1)
    )
    at = Pointer(file.file, line=line, column=column)
    return BROKEN_COMPONENT.at(at, f"the file can't be used: {problem.reason}")


def _nameless(file: Source) -> Iterator[Diagnostic]:
    """Yield every document that is not a Kubernetes object, at the first field that it lacks."""
    for i, body in enumerate(file.value):
        lacking = [path for path in _NAMING if not _has_text(body, path)]
        if lacking:
            fields = ", ".join(f"`{'.'.join(path)}`" for path in lacking)
            at = Pointer(file.file, (i, *lacking[0]))
            yield BROKEN_COMPONENT.at(at, f"the object has no {fields}")


def _has_text(body: Any, path: tuple[str, ...]) -> bool:
    return any(value and isinstance(value, str) for _, value in lookup(body, path))


def _unlisted(folder: Path, listed: set[str]) -> Iterator[Diagnostic]:
    for path in sorted(folder.iterdir()):
        shown = f"profiles/components/{folder.name}/{path.name}"
        if path.name.startswith("."):
            yield from hidden_profiles(path, shown)
        elif path.name not in listed:
            at = Pointer(shown)
            message = f"`{path.name}` is not among the `resources` of its component"
            yield MISPLACED_FILE.at(at, message, hint="List it there, or remove it.")
