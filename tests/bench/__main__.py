"""Time Trainyard's commands as users run them, whole processes, and peers in the same run.

``make bench`` prints seconds and ratios. ``make bench CHECK=COMMIT`` compares this checkout with a
commit and fails when a command costs 10 % more.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.bench.against import MOST, PAIRS, compare
from tests.bench.commands import REPOSITORY, Build, Cost, Run, cost
from tests.bench.peers import PLAIN, Peer, peers
from trainyard.verify.tools import find_kustomize

RUNS = 5
SIZES = {"small": (200, 4), "large": (1000, 20), "huge": (5000, 50)}


@dataclass(frozen=True, slots=True)
class Row:
    """Costs of a command, and of the plain script that ran before each of its runs.

    A busy machine makes both dearer alike, since they run within the same seconds.
    """

    costs: list[Cost]
    plain: list[Cost]

    @property
    def ratio(self) -> float:
        """The least that the command costs in all cores, in the least of the script."""
        least = min(each.cpu for each in self.plain)
        return min(each.cpu for each in self.costs) / least


@dataclass(slots=True)
class _Stamping:
    """Runs a peer, each time into a new folder."""

    top: Path
    peer: Peer
    times: int = 0

    def __call__(self, run: int) -> Cost:
        del run
        self.times += 1
        into = self.top / f"{self.peer.name}-{self.times}"
        into.mkdir()
        command = [each.replace("{run}", str(into)) for each in self.peer.command]
        return cost(self.peer.folder, command)


def main(arguments: list[str]) -> int:
    """Print a table of commands with their seconds, and ratios to the plain script."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("size", choices=SIZES, nargs="?", default="small")
    parser.add_argument("--against", metavar="COMMIT")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        if chosen.against:
            return _check(Path(folder), chosen.against)
        rows = dict(_rows(Path(folder), *SIZES[chosen.size]))
    _print(SIZES[chosen.size], rows)
    return 0


def _check(top: Path, commit: str) -> int:
    """Print what each command costs beside a commit; return 1 if one costs 10 % more."""
    print(f"CPU time of this checkout in that of {commit}: medians of {PAIRS} pairs of runs")
    slower = 0
    for command, ratio in compare(top, commit):
        print(f"{command:<32} {ratio:>6.3f}{' slower' if ratio > MOST else ''}", flush=True)
        slower |= ratio > MOST
    return slower


def _rows(top: Path, teams: int, clusters: int) -> Iterator[tuple[str, Row]]:
    """Yield each command with the cost of each of its runs."""
    build = Build(REPOSITORY, top / "trainyard", teams, clusters)
    build.prepare()
    installed = REPOSITORY / ".tools/peers"
    others = {
        peer.name: _Stamping(top, peer)
        for peer in peers(top / "peers", build.committed, find_kustomize().path, installed)
    }
    plain = others.pop(PLAIN)
    for label, run in build.commands():
        yield label, _row(run, plain)
    for name, peer in others.items():
        yield name, _row(peer, plain)


def _row(run: Run, plain: _Stamping) -> Row:
    # The first run fills the file cache and is not counted.
    pairs = [(plain(number), run(number)) for number in range(RUNS + 1)][1:]
    return Row([cost for _, cost in pairs], [cost for cost, _ in pairs])


def _print(size: tuple[int, int], rows: dict[str, Row]) -> None:
    # Of the largest process; Linux counts in KiB.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    machine = f"{os.cpu_count()} cores, {platform.machine()}, load {os.getloadavg()[0]:.1f}"
    print(f"{size[0]} teams on {size[1]} clusters; {RUNS} runs each, medians")
    print(f"Python {platform.python_version()}, {machine}, {peak} MiB at most\n")
    print(f"{'command':<32} {'seconds':>8} {'of all cores':>13} {'ratio':>7}")
    plain = [cost for row in rows.values() for cost in row.plain]
    for name, row in {**rows, PLAIN: Row(plain, plain)}.items():
        wall = statistics.median(each.wall for each in row.costs)
        cpu = statistics.median(each.cpu for each in row.costs)
        print(f"{name:<32} {wall:>8.2f} {cpu:>13.2f} {row.ratio:>7.2f}")
    print()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
