"""Check that Argo CD syncs the folder in which the tree is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from trainyard.diagnostics import Diagnostic
from trainyard.git.worktree import path_in_work_tree, work_trees
from trainyard.model.platform import Platform
from trainyard.rules.delivery.wrong_tree_path import RULE as WRONG_TREE_PATH


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
