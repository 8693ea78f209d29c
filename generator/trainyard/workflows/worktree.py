"""Check that Argo CD syncs the folder in which the tree is. Git itself is not run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from trainyard.diagnostics import Diagnostic
from trainyard.rules.delivery.wrong_tree_path import RULE as WRONG_TREE_PATH
from trainyard.workflows.generate import Checked


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
    return next(_work_trees(folder), None)


def enclosing_work_tree(folder: Path) -> tuple[Path, str]:
    """Return the root from here of the Git work tree of a folder, and the folder's path there.

    The folder may be the root itself, and is taken for it when it is in no work tree.
    """
    real = Path(os.path.realpath(folder))
    root = next((each for each in (real, *real.parents) if _is_root(each)), real)
    return Path(os.path.relpath(root)), real.relative_to(root).as_posix()


def check_tree_path(profiles: Path, target: Path, checked: Checked) -> Iterator[Diagnostic]:
    """Yield a finding when Argo CD syncs another folder than the tree's.

    A tree that is written elsewhere on purpose is not reported while `path` names the usual place
    beside the profiles.

    Args:
        profiles: folder of the profiles.
        target: folder of the tree.
        checked: the profiles, read and checked.
    """
    here = path_in_work_tree(target)
    if here is None or checked.platform is None:
        return
    settings = checked.platform.settings
    usual = profiles.parent / "overlays"
    if settings.path not in {path for each in (target, usual) for _, path in _work_trees(each)}:
        message = f"`path` is `{settings.path}`, and the tree is in `{here}` of its Git repository"
        hint = f"Set `path: {here}` in `profiles/trainyard.yaml`, then run `trainyard generate`."
        yield WRONG_TREE_PATH.at(settings.at / "path", message, hint=hint)


def _work_trees(folder: Path) -> Iterator[tuple[Path, str]]:
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
