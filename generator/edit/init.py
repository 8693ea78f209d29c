"""A new repository: one cluster, one node type, one runtime, no team yet; it validates and generates as it is."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from generator.diagnostics import TreeError
from generator.edit.place import put

SCAFFOLD = files("generator.edit") / "scaffold"


def init(folder: Path) -> tuple[Path, ...]:
    """Write the first profiles of a repository, and the Git files that it does not have yet.

    Args:
        folder: the repository; made when it is not there.

    Returns:
        The files written, sorted.

    Raises:
        TreeError: there are profiles already, or the folder can't be written; nothing is changed.
    """
    profiles = folder / "profiles"
    if profiles.exists() or profiles.is_symlink():
        raise TreeError(f"{profiles} is there already; `trainyard init` only begins where there is none")
    content = {path: body for path, body in scaffold().items() if not (folder / path).exists()}
    alone = sorted(path for path in content if "/" not in path)
    put(folder, content, (*alone, "profiles"))
    return tuple(folder / path for path in sorted(content))


def scaffold() -> dict[str, bytes]:
    """Return the files of a new repository by path."""
    return {path.replace("dot-", ".", 1): body for path, body in _below(SCAFFOLD / "repository", "")}


def _below(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        path = prefix + entry.name
        found += _below(entry, f"{path}/") if entry.is_dir() else [(path, entry.read_bytes())]
    return found
