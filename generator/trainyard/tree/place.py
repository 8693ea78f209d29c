"""Check where the tree is: in the folder that Argo CD syncs, and with no Git submodule in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.git.repository import Repository, staged_submodules
from trainyard.git.worktree import path_in_work_tree, work_tree, work_trees
from trainyard.model.platform import Platform
from trainyard.rules.delivery.submodule import RULE as SUBMODULE
from trainyard.rules.delivery.wrong_tree_path import RULE as WRONG_TREE_PATH
from trainyard.tree.freshness import printed


def check_tree_path(
    profiles: Path, target: Path, platform: Platform | None
) -> Iterator[Diagnostic]:
    """Yield a finding when Argo CD syncs another folder than the tree's.

    A tree that is written elsewhere on purpose is not reported while `path` names the usual place
    beside the profiles.

    Args:
        profiles: folder of the profiles.
        target: folder of the tree.
        platform: the profiles, resolved; None when they can't be.
    """
    here = path_in_work_tree(target)
    if here is None or platform is None:
        return
    settings = platform.settings
    usual = profiles.parent / "overlays"
    trees = chain(work_trees(target), work_trees(usual))
    if settings.path not in {path for _, path in trees}:
        message = f"`path` is `{settings.path}`, and the tree is in `{here}` of its Git repository"
        hint = f"Set `path: {here}` in `profiles/trainyard.yaml`, then run `trainyard generate`."
        yield WRONG_TREE_PATH.at(settings.at / "path", message, hint=hint)


def check_submodules(profiles: Path, tree: Path) -> Iterator[Diagnostic]:
    """Yield the submodules below the profiles and the tree, as Git's index has them.

    Git makes a folder for each: an empty one, or one with `.git`. It is asked only when there is
    such a folder, so a platform in no work tree, or on a machine without Git, needs none.

    Args:
        profiles: their folder, with the hand-written components.
        tree: the tree; it may not exist.

    Raises:
        ToolError: Git is missing or broken.
    """
    for folder, name in ((profiles, "profiles"), (tree, "overlays")):
        found = work_tree(folder)
        if found and _may_have(folder):
            root, path = found
            yield from found_submodules(name, staged_submodules(Repository(root), path))


def found_submodules(folder: str, paths: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield submodules of a folder, by their paths below it; its own path is empty."""
    for path in paths:
        shown = printed(f"{folder}/{path}".rstrip("/"))
        yield SUBMODULE.at(Pointer(shown), f"`{shown}` is a Git submodule")


def _may_have(folder: Path) -> bool:
    """Return whether a folder has one that is empty or the root of a work tree."""
    return any(
        (not folders and not files) or ".git" in {*folders, *files}
        for _, folders, files in os.walk(folder)
    )
