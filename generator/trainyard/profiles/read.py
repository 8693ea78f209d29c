"""Read the profiles of the repository and those that ship with the package."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

from trainyard.diagnostics import Diagnostic, Pointer, TreeError
from trainyard.plainfile import NotRegularError, read_regular
from trainyard.profiles.component import Read, read_component
from trainyard.profiles.discover import ProfileFile, discover
from trainyard.profiles.inherited import whole
from trainyard.profiles.releases import Releases, UnusableError, join, read_folder
from trainyard.rules.release.unusable_release import RULE as UNUSABLE_RELEASE
from trainyard.rules.shape.misplaced_file import RULE as MISPLACED_FILE
from trainyard.shipped import FOLDERS, shipped
from trainyard.yaml_io.bytescan import MAX_BYTES
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import NOTHING, Plain, Profiles, Source

PACKAGE = Path(str(files("trainyard")))


def load(
    root: Path, known: Mapping[str, Source] = NOTHING
) -> tuple[Profiles, tuple[Diagnostic, ...]]:
    """Return every profile below a folder, and the faults of those that can't be read.

    Args:
        root: the folder.
        known: files that were read without a fault; one with the same content is not read again.

    Raises:
        ToolError: a preset or release is not the one that was shipped.
        TreeError: a file can't be opened.
        OSError: the folder itself can't be listed; the command line asks for it first.
    """
    return _joined(root, *_read_all(root, known))


def shipped_only() -> Profiles:
    """Return no profile, and the presets and releases that are shipped.

    Raises:
        ToolError: a preset or release is not the one that was shipped.
    """
    return _joined(Path(), defaultdict(dict), [])[0]


def _joined(
    root: Path, kinds: Mapping[str, dict[str, Source]], diagnostics: list[Diagnostic]
) -> tuple[Profiles, tuple[Diagnostic, ...]]:
    """Return the profiles that were read, with what is beside them."""
    components: dict[str, Read] = {}
    files: dict[str, Source] = {}
    for name, source in kinds["components"].items():
        components[name] = read_component(root / "components" / name, source)
        diagnostics += components[name].problems
        files |= {file.file: file for file in components[name].sources}
    settings = _alone(kinds, "trainyard", None)
    every, found = _all_releases(root, kinds["releases"], settings)
    diagnostics += found
    profiles = Profiles(
        settings=settings,
        allocations=_alone(kinds, "allocations", {}),
        waivers=_alone(kinds, "waivers", {}),
        hardware=kinds["hardware"],
        clusters=kinds["clusters"],
        compliance=kinds["compliance"],
        runtimes=kinds["runtimes"],
        teams=kinds["teams"],
        components=kinds["components"],
        component_objects={name: each.objects for name, each in components.items()},
        component_files=files,
        presets=presets(),
        releases=every.whole,
        plurals=every.plurals,
        own_releases=every.own,
        release_folders=every.folders,
        other_releases=other_releases(),
    )
    return profiles, tuple(diagnostics)


def _all_releases(
    root: Path, own: Mapping[str, Source], settings: Source
) -> tuple[Releases, list[Diagnostic]]:
    """Return the releases that are shipped and those of the repository."""
    every = Releases(dict(releases()), dict(plurals()), dict(own))
    folders: dict[str, dict[str, bytes]] = {}
    found = []
    for name, source in own.items():
        try:
            folders[name] = read_folder(root, name)
        except UnusableError as problem:
            found.append(UNUSABLE_RELEASE.at(Pointer(source.file), f"release {name}: {problem}"))
    found += join(every, folders, _digests(settings))
    return every, found


def _digests(settings: Source) -> Plain:
    """Return the digests that the settings state; None when they can't be read."""
    fields = settings.value
    return fields.get("releases", {}) if isinstance(fields, dict) else None


def _read_all(
    root: Path, known: Mapping[str, Source]
) -> tuple[dict[str, dict[str, Source]], list[Diagnostic]]:
    """Return every profile below a folder by kind and name, and the faults of the others."""
    kinds: dict[str, dict[str, Source]] = defaultdict(dict)
    diagnostics: list[Diagnostic] = []
    for item in discover(root):
        if isinstance(item, ProfileFile):
            source, problems = read_profile(root, item, known)
            kinds[item.kind][item.name] = source
            diagnostics.extend(problems)
        else:
            diagnostics.append(item)
    return kinds, diagnostics


def _alone(kinds: Mapping[str, Mapping[str, Source]], name: str, absent: Plain) -> Source:
    """Return a profile at the top, or one with a default value if the file is absent."""
    return kinds.get(name, {}).get(name, Source(f"profiles/{name}.yaml", b"", absent))


def presets() -> dict[str, Source]:
    """Return the hardware presets by name.

    Raises:
        ToolError: one is not as it was shipped.
    """
    return _shipped(PACKAGE / "presets", "*.yaml", ".yaml")


def releases() -> dict[str, Source]:
    """Return the releases by name, each with the fields of the one that it extends.

    Raises:
        ToolError: one is not as it was shipped.
    """
    return _releases(PACKAGE / "releases")


def other_releases() -> Source:
    """Return the versions of products that no release is for.

    Raises:
        ToolError: they are not as they were shipped.
    """
    return _shipped(PACKAGE / "releases", FOLDERS["releases"], "others.yaml")[""]


def behaviour() -> Source:
    """Return how a release of a repository follows from its schemas and versions.

    Raises:
        ToolError: it is not as it was shipped.
    """
    return _shipped(PACKAGE / "releases", FOLDERS["releases"], "behaviour.yaml")[""]


def plurals() -> dict[str, Source]:
    """Return the plurals of each release's kinds, by name of the release.

    Raises:
        ToolError: one is not as it was shipped.
    """
    return _shipped(PACKAGE / "releases", FOLDERS["releases"], "/plurals.yaml")


def read_profile(
    root: Path, found: ProfileFile, known: Mapping[str, Source] = NOTHING
) -> tuple[Source, tuple[Diagnostic, ...]]:
    """Return a profile and its faults.

    It is a finding if it was replaced by something else since it was found.

    Raises:
        TreeError: it can't be opened.
    """
    try:
        content = read_regular(root, found.path.relative_to(root).as_posix(), MAX_BYTES)
    except NotRegularError as problem:
        message = f"`{found.path.name}` is not a profile: {problem.strerror}"
        hint = "Replace it by a regular file, or remove it."
        return Source(found.shown, b""), (
            MISPLACED_FILE.at(Pointer(found.shown), message, hint=hint),
        )
    except OSError as problem:
        raise TreeError(f"{found.path}: {problem.strerror}") from problem
    same = known.get(found.shown)
    return (same, ()) if same and same.content == content else read(found.shown, content)


@cache
def _releases(folder: Path) -> dict[str, Source]:
    """Return the releases in a folder by name, each with what holds for all.

    The mapping is cached: do not change it.
    """
    stated = _shipped(folder, FOLDERS["releases"], "/release.yaml")
    fields = {name: source.value for name, source in stated.items()}
    for_all = {
        **_shipped(folder, FOLDERS["releases"], "known-bad.yaml")[""].value,
        **_shipped(folder, FOLDERS["releases"], "changes.yaml")[""].value,
    }
    return {
        name: replace(source, value={**whole(name, fields), **for_all})
        for name, source in stated.items()
    }


@cache
def _shipped(folder: Path, pattern: str, ending: str) -> dict[str, Source]:
    """Return our own files by what their paths have before an ending.

    The reader treats them like any other file; a test makes sure that it finds no fault.
    The mapping is cached: do not change it.
    """
    sources = {}
    for path, content in sorted(shipped(folder, pattern).items()):
        if path.endswith(ending):
            source, _ = read(f"trainyard:{folder.name}/{path}", content)
            sources[path.removesuffix(ending)] = source
    return sources
