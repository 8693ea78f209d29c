"""Files to Profiles: the repository's own and those that ship with the package."""

from __future__ import annotations

from collections import defaultdict
from importlib.resources import files
from pathlib import Path

from generator.diagnostics import Diagnostic, TreeError
from generator.dialect.reader import read
from generator.dialect.source import Profiles, Source
from generator.load.component import read_component
from generator.load.discover import Found, discover

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
    components = {
        name: read_component(root / "components" / name, source) for name, source in kinds["components"].items()
    }
    diagnostics += (problem for each in components.values() for problem in each.problems)
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
        component_objects={name: each.objects for name, each in components.items()},
        component_files={source.file: source for each in components.values() for source in each.sources},
        presets=_shipped("presets/*.yaml"),
        releases=_shipped("releases/*/release.yaml"),
    )
    return profiles, tuple(diagnostics)


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
