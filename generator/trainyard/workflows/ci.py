"""Write the files of a CI system into the Git repository of a platform."""

from __future__ import annotations

from pathlib import Path

from trainyard.git.worktree import enclosing_work_tree
from trainyard.profiles.discover import ProfileFile
from trainyard.profiles.read import read_profile
from trainyard.scaffold.ci import SYSTEMS, ci_files, missing
from trainyard.schema.profiles import profile_schema


def plan_ci(name: str, folder: Path, origin: str = "") -> tuple[Path, dict[str, bytes]]:
    """Return the root of a platform's Git repository, and the files that it lacks.

    Args:
        name: of the CI system.
        folder: of the platform; need not exist.
        origin: what pins Trainyard; empty for a placeholder.

    Raises:
        TreeError: a file is there with other content, or the profile with the branch can't be read.
        ValueError: ``origin``, the branch, or the folder's path in the repository, has another
            form.
    """
    system = SYSTEMS[name]
    root, inside = enclosing_work_tree(folder)
    wanted = ci_files(system, inside, _synced_branch(folder / "profiles"), origin)
    return root, missing(root, wanted, system.beside)


def _synced_branch(profiles: Path) -> str:
    """Return the branch that Argo CD syncs, or the default that `init` is about to write."""
    settings = ProfileFile(
        "trainyard", "trainyard", profiles / "trainyard.yaml", "profiles/trainyard.yaml"
    )
    value = read_profile(profiles, settings)[0].value if settings.path.is_file() else None
    stated = value.get("branch") if isinstance(value, dict) else None
    default = profile_schema("trainyard")["properties"]["branch"]["default"]
    return default if stated is None else str(stated)
