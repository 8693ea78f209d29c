"""The files of a hand-written Component: read like any profile, and parsed as Kubernetes reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from generator.diagnostics import Diagnostic, Pointer, Rule, Severity
from generator.dialect.bytescan import MAX_BYTES, scan
from generator.dialect.manifests import parse_manifests
from generator.dialect.source import Source
from generator.load.discover import MISPLACED_FILE, hidden_profiles
from generator.plainfile import NotRegularError, read_regular

BROKEN_COMPONENT = Rule(
    id="delivery/broken-component",
    severity=Severity.ERROR,
    summary="Each file that a hand-written Component lists exists beside it and holds Kubernetes objects.",
    why=(
        "Kustomize can't build the team's unit, and Argo CD delivers nothing of that team any more: `ComparisonError`,"
        " `no such file or directory`, soon `Manifest generation error (cached)`, until a commit puts it right (seen"
        " with Argo CD 3.5.7)."
    ),
    fix="Correct the Component's `resources`, or the file.",
)
RULES = (BROKEN_COMPONENT,)


@dataclass(frozen=True, slots=True)
class Read:
    """What a Component's folder holds.

    Args:
        objects: file -> Kubernetes objects in it.
        sources: the files, for whoever shows a place in them.
    """

    objects: dict[str, tuple[dict[str, Any], ...]] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)


def read_component(folder: Path, source: Source) -> Read:
    """Read what a Component lists; only plain files beside it are."""
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
            file = Source(f"profiles/components/{folder.name}/{entry}", _content(folder, entry))
            text, problems = scan(file.file, file.content)
            result.sources.append(file)
            result.problems.extend(problems)
            if not problems:
                result.objects[entry] = _objects(text)
        except (OSError, TypeError, KeyError, ValueError, RecursionError) as problem:
            at = Pointer(source.file) / "resources" / i
            result.problems.append(BROKEN_COMPONENT.at(at, f"`{entry}` can't be used: {_reason(problem)}"))
    result.problems.extend(_unlisted(folder, {"kustomization.yaml", *entries}))
    return result


def _content(folder: Path, entry: str) -> bytes:
    try:
        if "/" not in entry:
            return read_regular(folder.parents[1], f"components/{folder.name}/{entry}", MAX_BYTES)
    except NotRegularError:
        pass
    raise ValueError("not a file beside the kustomization")


def _objects(text: str) -> tuple[dict[str, Any], ...]:
    bodies = tuple(parse_manifests(text))
    named = [each for body in bodies for each in (body["apiVersion"], body["kind"], body["metadata"]["name"])]
    if not all(isinstance(each, str) and each for each in named):
        raise TypeError
    return bodies


def _reason(problem: Exception) -> str:
    if isinstance(problem, OSError):
        return str(problem.strerror)
    if isinstance(problem, RecursionError):
        return "it is nested too deeply"
    if isinstance(problem, KeyError | TypeError):
        return "an object in it has no apiVersion, kind or metadata.name"
    return str(problem)


def _unlisted(folder: Path, listed: set[str]) -> Iterator[Diagnostic]:
    for path in sorted(folder.iterdir()):
        shown = f"profiles/components/{folder.name}/{path.name}"
        if path.name.startswith("."):
            yield from hidden_profiles(path, shown)
        elif path.name not in listed:
            at = Pointer(shown)
            message = f"`{path.name}` is not among the `resources` of its component"
            yield MISPLACED_FILE.at(at, message, hint="List it there, or remove it.")
