"""Find Git submodules in the tree and among the profiles: no review here shows what they have.

Argo CD fetches them by default: ``EnvGitSubmoduleEnabled`` of
argoproj/argo-cd:common/common.go@v3.5.7, ``Submodule`` of util/git/client.go@v3.5.7.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.git.repository import Repository, staged_submodules
from trainyard.git.worktree import work_tree
from trainyard.rules.delivery.submodule import RULE as SUBMODULE
from trainyard.tree.freshness import printed


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
