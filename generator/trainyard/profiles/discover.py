"""Find the files that are profiles, and their kinds."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.names import DEVICES
from trainyard.rules.names.bad_file_name import RULE as BAD_FILE_NAME
from trainyard.rules.shape.misplaced_file import RULE as MISPLACED_FILE
from trainyard.yaml_io.lookalikes import beyond_ascii
from trainyard.yaml_io.scalars import is_typed

FOLDERS = ("hardware", "clusters", "compliance", "runtimes", "teams", "components", "releases")
_OF_FOLDERS = {"components": "kustomization.yaml", "releases": "release.yaml"}
"""Kinds of which each profile is a folder, and the file that each has."""
ALONE = ("trainyard.yaml", "allocations.yaml", "waivers.yaml")
_NAME = re.compile(r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?\Z")
_OF_A_RELEASE = re.compile(r"[a-z]([a-z0-9.-]{0,38}[a-z0-9])?\Z")

_FILE, _FOLDER, _LINK = "regular file", "folder", "symbolic link"
_TYPES = {
    stat.S_IFREG: _FILE,
    stat.S_IFDIR: _FOLDER,
    stat.S_IFLNK: _LINK,
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
}
"""Types of a path; everything else is a device."""


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """One profile file.

    Its kind is its folder, or its own name if it is at the top.
    """

    kind: str
    name: str
    path: Path
    shown: str


def discover(root: Path) -> Iterator[ProfileFile | Diagnostic]:
    """Yield every profile below a folder sorted by name, and a finding for every other file.

    Only regular files are accepted: a symbolic link could lead out of the repository.
    """
    for path in sorted(root.iterdir()):
        shown = f"profiles/{path.name}"
        if path.name.startswith("."):
            yield from hidden_profiles(path, shown)
        elif path.name in FOLDERS and _type(path) != _FOLDER:
            yield _wrong_type(path, shown, "a folder of profiles", _FOLDER)
        elif path.name in FOLDERS:
            yield from _folder(path)
        elif path.name not in ALONE:
            yield MISPLACED_FILE.at(Pointer(shown), f"`{path.name}` is not a profile")
        elif _type(path) != _FILE:
            yield _wrong_type(path, shown, "a profile", _FILE)
        else:
            yield ProfileFile(path.stem, path.stem, path, shown)


def _folder(folder: Path) -> Iterator[ProfileFile | Diagnostic]:
    for path in sorted(folder.iterdir()):
        shown = f"profiles/{folder.name}/{path.name}"
        if path.name.startswith("."):
            yield from hidden_profiles(path, shown)
        elif folder.name not in _OF_FOLDERS:
            yield from _profile(folder.name, path, shown)
        elif _type(path) == _LINK:
            yield _wrong_type(path, shown, f"a {folder.name.removesuffix('s')}", _FOLDER)
        else:
            yield from _of_folder(folder.name, path, shown)


def _profile(kind: str, path: Path, shown: str) -> Iterator[ProfileFile | Diagnostic]:
    if not _type(path) or path.suffix != ".yaml":
        yield MISPLACED_FILE.at(Pointer(shown), f"`{path.name}` is not a profile")
    elif _type(path) != _FILE:
        yield _wrong_type(path, shown, "a profile", _FILE)
    else:
        yield from _named(kind, path.stem, path, shown)


def _of_folder(kind: str, folder: Path, shown: str) -> Iterator[ProfileFile | Diagnostic]:
    file = folder / _OF_FOLDERS[kind]
    if not _type(file):
        yield MISPLACED_FILE.at(Pointer(shown), f"`{folder.name}` is not a profile")
    elif _type(file) != _FILE:
        yield _wrong_type(file, f"{shown}/{file.name}", "a profile", _FILE)
    else:
        yield from _named(kind, folder.name, file, shown)


def _named(kind: str, name: str, file: Path, shown: str) -> Iterator[ProfileFile | Diagnostic]:
    """Yield a profile, or a finding when its name can't be one."""
    problem = check_name(name, shown, kind)
    yield problem or ProfileFile(
        kind, name, file, f"{shown}/{file.name}" if kind in _OF_FOLDERS else shown
    )


def check_name(name: str, shown: str, kind: str = "") -> Diagnostic | None:
    """Return the finding that a name can't be that of a profile; None when it can.

    Args:
        name: of the profile.
        shown: path of its file, as the user knows it.
        kind: folder of the profile; the names of releases have dots.
    """
    if (_OF_A_RELEASE if kind == "releases" else _NAME).match(name) is None:
        message = f"`{name}` can't be the name of a profile{beyond_ascii(name)}"
        return BAD_FILE_NAME.at(Pointer(shown), message)
    if is_typed(name):
        message = f"`{name}` is not text to every YAML reader"
        return BAD_FILE_NAME.at(Pointer(shown), message)
    if name in DEVICES:
        return BAD_FILE_NAME.at(Pointer(shown), f"`{name}` is the name of a device on Windows")
    return None


def hidden_profiles(path: Path, shown: str) -> Iterator[Diagnostic]:
    """Yield each YAML file at or below a hidden file or folder.

    Other hidden files belong to editors and Git; a dangling symlink is a lock of Emacs.
    """
    waiting = [path]
    for each in waiting:
        if each.is_dir() and not each.is_symlink():
            waiting.extend(sorted(each.iterdir()))
        elif each.name.lower().endswith((".yaml", ".yml")) and each.exists():
            at = Pointer(f"{shown}{each.as_posix().removeprefix(path.as_posix())}")
            hint = (
                "Remove the dot if it is a profile; otherwise move the file out of the "
                "profiles, or remove it."
            )
            yield MISPLACED_FILE.at(at, f"`{each.name}` is hidden, and is not a profile", hint=hint)


def _wrong_type(path: Path, shown: str, role: str, wanted: str) -> Diagnostic:
    """Return the finding for a path of a type that its role does not have."""
    actual = _type(path)
    message = f"`{path.name}` is a {actual}, and {role} must be a {wanted}"
    other = wanted.removeprefix("regular ")
    hint = (
        f"Replace the link by the {other} itself."
        if actual == _LINK
        else f"Replace it by a {wanted}, or remove it."
    )
    return MISPLACED_FILE.at(Pointer(shown), message, hint=hint)


def _type(path: Path) -> str:
    """Return what a path is, a link not followed; empty when there is nothing."""
    try:
        return _TYPES.get(stat.S_IFMT(path.lstat().st_mode), "device")
    except (FileNotFoundError, NotADirectoryError):
        return ""
