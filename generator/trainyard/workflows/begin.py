"""The first files of a repository: profiles from a release and a preset, and those of its CI."""

from __future__ import annotations

from pathlib import Path

from trainyard.git.worktree import enclosing_work_tree
from trainyard.profiles.discover import ProfileFile
from trainyard.profiles.read import plurals, presets, read_profile, releases
from trainyard.resolve.release import resolve_release
from trainyard.scaffold.ci import SYSTEMS, ci_files, missing
from trainyard.scaffold.init import FirstCluster, init
from trainyard.schema.profiles import profile_schema


def begin(folder: Path, tree: str, release: str, preset: str, nodes: int) -> dict[Path, bytes]:
    """Write the first profiles of a repository; return the content of each file by its path.

    Args:
        folder: the repository, or a folder of it.
        tree: path of the tree from the root of the Git repository.
        release: name of a release that is shipped.
        preset: name of a hardware preset that is shipped.
        nodes: number of nodes of the cluster.

    Raises:
        TreeError: there are profiles already, or the folder can't be written; nothing is changed.
        ToolError: a release or preset is not as it was shipped.
    """
    cluster = FirstCluster(
        release=resolve_release(release, releases()[release], plurals()[release]),
        preset=preset,
        hardware=presets()[preset].value,
        nodes=nodes,
    )
    return init(folder, cluster, tree)


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
