"""Small trees to write and compare."""

from __future__ import annotations

from pathlib import Path

from trainyard.tree.lockfile import LOCKFILE, MARK, lock_bytes, make_lock


def cluster_files(cluster: str = "prod", **contents: str) -> dict[str, bytes]:
    """Return a cluster's files and its lockfile; ``a__b="x"`` is the file ``a/b.yaml`` holding
    ``x``, and what says that it is ours."""
    files = {}
    for name, content in contents.items():
        files[f"{name.replace('__', '/')}.yaml"] = content.encode() + b" # " + MARK
    lock = make_lock(files, dict.fromkeys(files, ("profiles/x.yaml",)), tool="0.1.0", release="r-1")
    return {
        f"{cluster}/{path}": body for path, body in {**files, LOCKFILE: lock_bytes(lock)}.items()
    }


def on_disk(target: Path) -> dict[str, bytes]:
    """Return the regular files of a tree."""
    return {
        str(p.relative_to(target)): p.read_bytes() for p in sorted(target.rglob("*")) if p.is_file()
    }
