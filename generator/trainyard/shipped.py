"""The schemas, presets and releases that come with Trainyard, read only as they were shipped.

A schema that is missing, or that was replaced by `{}`, would accept everything. So each folder has
a list of SHA-256 digests, in the form of `sha256sum`, and a file that differs from it is never
used.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from trainyard.diagnostics import ToolError

LIST = "shipped.sha256"
"""Name of the list; `sha256sum --check` takes it in the folder where it is."""

FOLDERS = {
    "schema": "*.json",
    "schema/documents": "*.json",
    "presets": "*.yaml",
    "releases": "**/*.yaml",
    "releases/handwritten": "**/*.json",
}
"""Pattern of the listed files by the folder of the package; a release's schemas have their own."""


@cache
def shipped(folder: Path, pattern: str) -> dict[str, bytes]:
    """Return the content of each shipped file by its path below a folder.

    The mapping is cached: do not change it.

    Reading and hashing 40 schemas of 230 KB takes 2 ms.

    Raises:
        ToolError: a file or the list is missing, can't be read, differs, or is not listed.
    """
    try:
        listed = (folder / LIST).read_bytes()
        found = {
            path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.glob(pattern)
        }
    except OSError as error:
        raise _broken(str(error.filename), f"can't be read: {error.strerror}") from error
    wanted = {}
    for line in listed.decode(errors="replace").splitlines():
        sha256, _, path = line.partition("  ")
        wanted[path] = sha256
    for path in sorted({*wanted, *found}):
        if path not in found:
            raise _broken(str(folder / path), "is missing")
        if hashlib.sha256(found[path]).hexdigest() != wanted.get(path):
            raise _broken(str(folder / path), "is not what was shipped")
    return found


def write_lists(package: Path) -> None:
    """Write the list of each folder; whatever writes the files calls this."""
    for folder, pattern in FOLDERS.items():
        (package / folder / LIST).write_bytes(digests(package / folder, pattern))


def digests(folder: Path, pattern: str) -> bytes:
    """Return the list of the files that are in a folder now, sorted by path."""
    lines = (
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n"
        for path in sorted(folder.glob(pattern))
    )
    return "".join(lines).encode()


def _broken(path: str, reason: str) -> ToolError:
    return ToolError(f"{path} {reason}; reinstall Trainyard, or run `make docs` in a checkout")
