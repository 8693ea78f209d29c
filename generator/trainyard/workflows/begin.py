"""A new repository, from a release and a hardware preset."""

from __future__ import annotations

from pathlib import Path

from trainyard.profiles.read import plurals, presets, releases
from trainyard.resolve.release import resolve_release
from trainyard.scaffold.init import FirstCluster, init


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
