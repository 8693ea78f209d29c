"""Files to Profiles: the repository's own and those that ship with the package."""

from __future__ import annotations

from collections import defaultdict
from importlib.resources import files
from pathlib import Path

from trainyard.diagnostics import Diagnostic, Pointer, TreeError
from trainyard.plainfile import NotRegularError, read_regular
from trainyard.profiles.component import read_component
from trainyard.profiles.discover import MISPLACED_FILE, ProfileFile, discover
from trainyard.shipped import shipped
from trainyard.yaml_io.bytescan import MAX_BYTES
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Profiles, Source

PACKAGE = Path(str(files("trainyard")))


def load(root: Path) -> tuple[Profiles, tuple[Diagnostic, ...]]:
    """Return every profile below a folder, read, with what could not be.

    Raises:
        ToolError: a preset or release is not the one that was shipped.
        TreeError: a file can't be opened.
        OSError: the folder itself can't be listed; the command line asks for it first.
    """
    kinds: dict[str, dict[str, Source]] = defaultdict(dict)
    diagnostics: list[Diagnostic] = []
    for item in discover(root):
        if isinstance(item, ProfileFile):
            source, problems = _read(root, item)
            kinds[item.kind][item.name] = source
            diagnostics.extend(problems)
        else:
            diagnostics.append(item)
    components = {
        name: read_component(root / "components" / name, source)
        for name, source in kinds["components"].items()
    }
    diagnostics += (problem for each in components.values() for problem in each.problems)
    profiles = Profiles(
        settings=kinds["trainyard"].get("trainyard", Source("profiles/trainyard.yaml", b"")),
        allocations=kinds["allocations"].get(
            "allocations", Source("profiles/allocations.yaml", b"", {})
        ),
        waivers=kinds["waivers"].get("waivers", Source("profiles/waivers.yaml", b"", {})),
        hardware=kinds["hardware"],
        clusters=kinds["clusters"],
        compliance=kinds["compliance"],
        runtimes=kinds["runtimes"],
        teams=kinds["teams"],
        components=kinds["components"],
        component_objects={name: each.objects for name, each in components.items()},
        component_files={
            source.file: source for each in components.values() for source in each.sources
        },
        presets=presets(),
        releases=releases(),
    )
    return profiles, tuple(diagnostics)


def presets() -> dict[str, Source]:
    """Return the hardware presets by name.

    Raises:
        ToolError: one is not as it was shipped.
    """
    return _shipped("presets", "*.yaml")


def releases() -> dict[str, Source]:
    """Return the releases by name.

    Raises:
        ToolError: one is not as it was shipped.
    """
    return _shipped("releases", "*/release.yaml")


def _read(root: Path, found: ProfileFile) -> tuple[Source, tuple[Diagnostic, ...]]:
    """Read a profile; one that was exchanged for something else since it was found is a finding."""
    try:
        content = read_regular(root, found.path.relative_to(root).as_posix(), MAX_BYTES)
    except NotRegularError as problem:
        message = f"`{found.path.name}` is no profile: {problem.strerror}"
        hint = "Replace it by a regular file, or remove it."
        return Source(found.shown, b""), (
            MISPLACED_FILE.at(Pointer(found.shown), message, hint=hint),
        )
    except OSError as problem:
        raise TreeError(f"{found.path}: {problem.strerror}") from problem
    return read(found.shown, content)


def _shipped(folder: str, pattern: str) -> dict[str, Source]:
    """Return our own files by name; the reader takes them like any other, and a test demands no finding."""
    return {
        path.removesuffix(".yaml").removesuffix("/release"): read(
            f"trainyard:{folder}/{path}", content
        )[0]
        for path, content in sorted(shipped(PACKAGE / folder, pattern).items())
    }
