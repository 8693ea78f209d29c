"""Files to Profiles: the repository's own and those that ship with the package."""

from __future__ import annotations

from collections import defaultdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from generator.diagnostics import Diagnostic, Pointer, Rule, Severity, TreeError
from generator.dialect.manifests import parse_manifests
from generator.dialect.reader import read
from generator.dialect.source import Profiles, Source
from generator.load.discover import Found, discover

BROKEN_COMPONENT = Rule(
    id="delivery/broken-component",
    severity=Severity.ERROR,
    summary="Each file that a hand-written Component lists exists beside it and holds Kubernetes objects.",
    why="Kustomize can't build the team's unit, and Argo CD delivers nothing of that team any more.",
    fix="Correct the Component's `resources`, or the file.",
)
RULES = (BROKEN_COMPONENT,)
PACKAGE = Path(str(files("generator")))


def load(root: Path) -> tuple[Profiles, tuple[Diagnostic, ...]]:
    """Return every profile below a folder, read, with what could not be.

    Raises:
        TreeError: a file can't be opened.
        OSError: the folder itself can't be listed; the command line asks for it first.
    """
    kinds: dict[str, dict[str, Source]] = defaultdict(dict)
    diagnostics: list[Diagnostic] = []
    for item in discover(root):
        if isinstance(item, Found):
            source, problems = read(item.shown, _content(item.path))
            kinds[item.kind][item.name] = source
            diagnostics.extend(problems)
        else:
            diagnostics.append(item)
    profiles = Profiles(
        settings=kinds["trainyard"].get("trainyard", Source("profiles/trainyard.yaml", b"")),
        allocations=kinds["allocations"].get("allocations", Source("profiles/allocations.yaml", b"", {})),
        waivers=kinds["waivers"].get("waivers", Source("profiles/waivers.yaml", b"", {})),
        hardware=kinds["hardware"],
        clusters=kinds["clusters"],
        compliance=kinds["compliance"],
        runtimes=kinds["runtimes"],
        teams=kinds["teams"],
        components=kinds["components"],
        component_objects={
            name: _component_objects(root / "components" / name, source, diagnostics)
            for name, source in kinds["components"].items()
        },
        presets=_shipped("presets/*.yaml"),
        releases=_shipped("releases/*/release.yaml"),
    )
    return profiles, tuple(diagnostics)


def _component_objects(
    folder: Path, source: Source, diagnostics: list[Diagnostic]
) -> dict[str, tuple[dict[str, Any], ...]]:
    """Return the objects of each file that a Component lists; only plain files beside it are read."""
    objects = {}
    resources = (source.value or {}).get("resources", [])
    for i, entry in enumerate(resources if isinstance(resources, list) else []):
        path = folder / str(entry)
        try:
            objects[str(entry)] = _objects(path, folder)
        except (OSError, TypeError, KeyError, ValueError, RecursionError) as problem:
            at = Pointer(source.file) / "resources" / i
            diagnostics.append(BROKEN_COMPONENT.at(at, f"`{entry}` can't be used: {_reason(problem)}"))
    return objects


def _objects(path: Path, folder: Path) -> tuple[dict[str, Any], ...]:
    if path.parent != folder or path.is_symlink() or (path.exists() and not path.is_file()):
        raise ValueError("not a file beside the kustomization")
    bodies = tuple(parse_manifests(path.read_text(encoding="utf-8")))
    if not all(isinstance(each, str) for b in bodies for each in (b["apiVersion"], b["kind"], b["metadata"]["name"])):
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


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise TreeError(f"{path}: {problem.strerror}") from problem


def _shipped(pattern: str) -> dict[str, Source]:
    """Return our own files by name; the reader takes them like any other, and a test demands no finding."""
    shipped = {}
    for path in sorted(PACKAGE.glob(pattern)):
        name = path.parent.name if path.stem == "release" else path.stem
        shipped[name], _ = read(f"trainyard:{path.relative_to(PACKAGE).as_posix()}", path.read_bytes())
    return shipped
