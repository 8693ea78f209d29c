"""Find Git work trees by their folders. Git itself is not run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def path_in_work_tree(folder: Path) -> str | None:
    """Return a folder's path from the root of its Git work tree, e.g. ``platform/gpu/overlays``.

    Args:
        folder: need not exist.

    Returns:
        The path with forward slashes; None when the folder is in no Git work tree.
    """
    found = work_tree(folder)
    return found[1] if found else None


def work_tree(folder: Path) -> tuple[Path, str] | None:
    """Return the root of a folder's Git work tree, and the folder's path from there.

    Args:
        folder: need not exist.

    Returns:
        None when the folder is in no Git work tree.
    """
    return next(work_trees(folder), None)


def enclosing_work_tree(folder: Path) -> tuple[Path, str]:
    """Return the root from here of the Git work tree of a folder, and the folder's path there.

    The folder may be the root itself, and is taken for it when it is in no work tree.
    """
    real = Path(os.path.realpath(folder))
    root = next((each for each in (real, *real.parents) if _is_root(each)), real)
    return Path(os.path.relpath(root)), real.relative_to(root).as_posix()


def work_trees(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield a folder's Git work tree and path there, then those that have it as a submodule."""
    real = Path(os.path.realpath(folder))
    for root in real.parents:
        if _is_root(root):
            yield root, real.relative_to(root).as_posix()
            if (root / ".git").is_dir():
                return


def _is_root(folder: Path) -> bool:
    # Unlike Path.exists, it is false for a path that may not be read.
    return os.path.exists(folder / ".git")  # noqa: PTH110
