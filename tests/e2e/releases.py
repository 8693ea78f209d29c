"""Rehearse this repository's profiles on each release that no committed cluster names.

`make e2e RELEASES=all` calls `python -m tests.e2e.releases`. For each release it copies the
profiles, generates their tree, builds the programs that are missing and rehearses the cluster.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.releases.platforms import copy_on, uncommitted


def main() -> int:
    """Rehearse each release; return the exit code (1: one did not hold what is promised)."""
    failed = [release for release in uncommitted() if not _holds(release)]
    for release in failed:
        sys.stderr.write(f"{release} failed\n")
    return int(bool(failed))


def _holds(release: str) -> bool:
    """Return whether a rehearsal of a release ended well."""
    with tempfile.TemporaryDirectory() as folder:
        cluster = ("--cluster", copy_on(release, Path(folder)))
        steps = (("generate",), ("rehearse", "--build", *cluster), ("rehearse", *cluster))
        return all(_run(step, folder) for step in steps)


def _run(arguments: tuple[str, ...], folder: str) -> bool:
    command = [sys.executable, "-m", "trainyard", *arguments]
    return subprocess.run(command, cwd=folder, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
