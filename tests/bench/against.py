"""Compare what commands cost in this checkout with what they cost in a commit, in pairs of runs."""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.bench.commands import REPOSITORY, Build

PAIRS = 20
TEAMS, CLUSTERS = 40, 2
LEAST = 0.5
"""CPU seconds of a run; a shorter command runs several times, since the kernel counts in ticks."""

MOST = 1.05
"""The median of the pairs may be this much.

With other work on the machine (load 12 on two cores) the median of 20 pairs of one build was
within 4 % of 1 in 95 of 100 samples. So a build that costs 10 % more is beyond the limit.
"""


def compare(top: Path, commit: str) -> Iterator[tuple[str, float]]:
    """Yield each command with its CPU time in that of the commit."""
    old = Build(_source(top / "source", commit), top / "old", TEAMS, CLUSTERS)
    new = Build(REPOSITORY, top / "new", TEAMS, CLUSTERS)
    for build in (old, new):
        build.prepare()
    after = dict(new.commands())
    for label, before in old.commands():
        # The first pair fills the file cache. Other work makes both runs of a pair dearer.
        earlier, later = before(0).cpu, after[label](0).cpu
        times = max(1, round(LEAST / max(earlier, later)))
        runs = [range(1 + pair * times, 1 + (pair + 1) * times) for pair in range(PAIRS)]
        yield (
            label,
            statistics.median(
                sum(after[label](run).cpu for run in pair) / sum(before(run).cpu for run in pair)
                for pair in runs
            ),
        )


def _source(folder: Path, commit: str) -> Path:
    """Write what a build needs of a commit into a folder."""
    archive = ["git", "archive", commit, "generator", "templates", "profiles"]
    packed = subprocess.run(archive, cwd=REPOSITORY, check=False, capture_output=True)
    if packed.returncode:
        raise SystemExit(packed.stderr.decode())
    folder.mkdir()
    subprocess.run(["tar", "--extract"], cwd=folder, input=packed.stdout, check=True)
    return folder
