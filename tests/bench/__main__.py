"""Time `trainyard generate` as users run it: whole processes, medians of five."""

from __future__ import annotations

import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.platform import write_platform

REPOSITORY = Path(__file__).resolve().parents[2]
RUNS = 5
TEAMS, CLUSTERS = 200, 4
MANY_TEAMS, MANY_CLUSTERS = 1000, 20
_DIFF = ("diff", "--base=main")


def main() -> int:
    """Print a table of commands with minimum, median and maximum of their wall seconds."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_platform(root / "profiles", REPOSITORY, TEAMS, CLUSTERS)
        rows = [
            ("trainyard --version", _times(root, ("--version",), _nothing)),
            ("validate", _times(root, ("validate",), _nothing)),
            ("generate, cold", _times(root, ("generate",), _remove_tree)),
            ("generate, nothing changed", _times(root, ("generate",), _nothing)),
            ("generate, one team changed", _times(root, ("generate",), _change_team)),
        ]
        _commit(root)
        rows += [
            ("diff, one team changed", _times(root, _DIFF, _change_team)),
            ("diff, all clusters changed", _times(root, _DIFF, _change_clusters)),
        ]
        files = sum(1 for path in (root / "overlays").rglob("*") if path.is_file())
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_platform(root / "profiles", REPOSITORY, MANY_TEAMS, MANY_CLUSTERS)
        _times(root, ("generate",), _nothing, runs=0)
        _commit(root)
        rows.append(("diff, 1 of 1,000 teams", _times(root, _DIFF, _change_team)))
        rows.append(("diff, all of 20 clusters", _times(root, _DIFF, _change_clusters)))
    print(f"{TEAMS} teams on {CLUSTERS} clusters of 104 nodes: {files} files")
    # Of the largest process; Linux counts in KiB.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    machine = f"{os.cpu_count()} cores, {platform.machine()}"
    print(f"Python {platform.python_version()}, {machine}, {RUNS} runs each, {peak} MiB at most\n")
    print(f"{'command':<28} {'min':>6} {'median':>7} {'max':>6}   seconds")
    for name, seconds in rows:
        print(
            f"{name:<28} {min(seconds):>6.2f} {statistics.median(seconds):>7.2f} "
            f"{max(seconds):>6.2f}"
        )
    return 0


def _times(
    root: Path, arguments: tuple[str, ...], before: Callable[[Path, int], None], runs: int = RUNS
) -> list[float]:
    seconds = []
    for run in range(runs + 1):
        before(root, run)
        start = time.perf_counter()
        command = [sys.executable, "-m", "trainyard", *arguments]
        subprocess.run(command, cwd=root, env=_environment(), check=True, capture_output=True)
        seconds.append(time.perf_counter() - start)
    # The first run fills the file cache and is not counted.
    return seconds[1:]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(REPOSITORY / "generator")}


def _commit(root: Path) -> None:
    who = ("-c", "user.name=bench", "-c", "user.email=bench@example.com")
    for arguments in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all", "profiles", "overlays"),
        (*who, "commit", "--quiet", "--message=base"),
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True)


def _nothing(root: Path, run: int) -> None:
    del root, run


def _remove_tree(root: Path, run: int) -> None:
    del run
    tree = root / "overlays"
    if tree.exists():
        tree.rename(root / f"old-{time.monotonic_ns()}")


def _change_team(root: Path, run: int) -> None:
    team = root / "profiles" / "teams" / "team-0007.yaml"
    team.write_text(re.sub(r"viewer: \[.*?\]", f"viewer: [guests-{run}]", team.read_text()))


def _change_clusters(root: Path, run: int) -> None:
    for cluster in (root / "profiles" / "clusters").iterdir():
        text = re.sub(r"ports: \[443.*?\]", f"ports: [443, {8000 + run}]", cluster.read_text())
        cluster.write_text(text)


if __name__ == "__main__":
    sys.exit(main())
