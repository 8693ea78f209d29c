"""Folders of new repositories, and their content."""

from __future__ import annotations

from pathlib import Path

from trainyard.workflows.begin import ClusterWanted, begin

RELEASE, PRESET = "openshift-ai-3.5", "nvidia-dgx-h100"


def content(folder: Path) -> dict[str, bytes | None]:
    """Return every path below a folder, with the bytes of the files."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def begun(folder: Path, release: str = RELEASE, preset: str = PRESET, nodes: int = 5) -> list[Path]:
    """Begin a repository in a folder; return the files written."""
    return list(begin(folder, "overlays", ClusterWanted(release, preset, nodes)))
