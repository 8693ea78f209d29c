"""Write the files of a CI system into the Git repository of a platform."""

from __future__ import annotations

from pathlib import Path

from trainyard.git.worktree import enclosing_work_tree
from trainyard.scaffold.ci import SYSTEMS, ci_files, missing


def plan_ci(name: str, folder: Path, origin: str = "") -> tuple[Path, dict[str, bytes]]:
    """Return the root of a platform's Git repository, and the files that it lacks.

    Args:
        name: of the CI system.
        folder: of the platform; need not exist.
        origin: what pins Trainyard; empty for a placeholder.

    Raises:
        TreeError: a file is there with other content.
        ValueError: ``origin``, or the folder's path in the repository, has another form.
    """
    system = SYSTEMS[name]
    root, inside = enclosing_work_tree(folder)
    return root, missing(root, ci_files(system, inside, origin), system.beside)
