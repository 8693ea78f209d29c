"""A new repository: one cluster, one node type, one runtime, no team yet; it validates and generates as it is."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from trainyard.diagnostics import TreeError
from trainyard.scaffold.install import put
from trainyard.yaml_io.scalars import inline

SCAFFOLD = files("trainyard.scaffold") / "files"
_SETTINGS = "profiles/trainyard.yaml"


def init(folder: Path, path: str = "overlays") -> tuple[Path, ...]:
    """Write the first profiles of a repository, and the Git files that it does not have yet.

    Args:
        folder: the repository, or a folder of it; made when it is not there.
        path: the tree's folder from the root of the Git repository.

    Returns:
        The files written, sorted.

    Raises:
        TreeError: there are profiles already, or the folder can't be written; nothing is changed.
    """
    profiles = folder / "profiles"
    if profiles.exists() or profiles.is_symlink():
        raise TreeError(
            f"{profiles} is there already; `trainyard init` only begins where there is none"
        )
    content = {name: body for name, body in scaffold().items() if not (folder / name).exists()}
    if path != "overlays":
        content[_SETTINGS] += (
            f"path: {inline(path)} # of the generated tree, from the root of the Git repository\n".encode()
        )
    alone = sorted(name for name in content if "/" not in name)
    put(folder, content, (*alone, "profiles"))
    return tuple(folder / name for name in sorted(content))


def scaffold() -> dict[str, bytes]:
    """Return the files of a new repository by path."""
    return {
        path.replace("dot-", ".", 1): body for path, body in _below(SCAFFOLD / "repository", "")
    }


def _below(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        path = prefix + entry.name
        found += _below(entry, f"{path}/") if entry.is_dir() else [(path, entry.read_bytes())]
    return found
