"""The first files of a repository: profiles from a release and a preset, and those of its CI."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from trainyard.git.worktree import enclosing_work_tree
from trainyard.profiles.discover import ProfileFile
from trainyard.profiles.read import plurals, presets, read_profile, releases
from trainyard.resolve.release import resolve_release
from trainyard.scaffold.ci import SYSTEMS, ci_files, missing
from trainyard.scaffold.init import FirstCluster, init
from trainyard.schema.profiles import profile_schema

FIRST_CLUSTER = "lab"
"""Name of the cluster of a new repository, unless another is wanted."""


@dataclass(frozen=True, slots=True)
class ClusterWanted:
    """The cluster of a new repository.

    Args:
        release: name of a release that is shipped.
        preset: name of a hardware preset that is shipped.
        nodes: their number.
        name: one that a profile can have.
    """

    release: str
    preset: str
    nodes: int
    name: str = FIRST_CLUSTER


def begin(folder: Path, tree: str, wanted: ClusterWanted) -> dict[Path, bytes]:
    """Write the first profiles of a repository; return the content of each file by its path.

    Args:
        folder: the repository, or a folder of it.
        tree: path of the tree from the root of the Git repository.
        wanted: what the profiles describe.

    Raises:
        TreeError: there are profiles already, or the folder can't be written; nothing is changed.
        ToolError: a release or preset is not as it was shipped.
    """
    release = wanted.release
    cluster = FirstCluster(
        name=wanted.name,
        release=resolve_release(release, releases()[release], plurals()[release]),
        preset=wanted.preset,
        hardware=presets()[wanted.preset].value,
        nodes=wanted.nodes,
    )
    return init(folder, cluster, tree)


def plan_ci(
    name: str, folder: Path, origin: str = "", clusters: Collection[str] = ()
) -> tuple[Path, dict[str, bytes]]:
    """Return the root of a platform's Git repository, and the files that it lacks.

    Args:
        name: of the CI system.
        folder: of the platform; need not exist.
        origin: what pins Trainyard; empty for a placeholder.
        clusters: as `ci_files` takes them.

    Raises:
        TreeError: a file is there with other content, or the profile with the branch can't be read.
        ValueError: ``origin``, the branch, or the folder's path in the repository, has another
            form; or a cluster has no profile.
    """
    system = SYSTEMS[name]
    root, inside = enclosing_work_tree(folder)
    wanted = ci_files(system, inside, _synced_branch(folder / "profiles"), origin, clusters)
    for cluster in clusters:
        profile = folder / "profiles" / "clusters" / f"{cluster}.yaml"
        if not profile.is_file():
            raise ValueError(f"there is no cluster `{cluster}`: {profile} is missing")
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
