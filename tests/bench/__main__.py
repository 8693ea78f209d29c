"""Time Trainyard's commands as users run them, whole processes, and peers in the same run.

``make bench`` prints seconds and ratios. ``make bench CHECK=--check`` compares the ratios with the
recorded ones and fails when a command costs 10 % more; ``CHECK=--record`` records them.
"""

from __future__ import annotations

import json
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.bench.peers import PLAIN, Peer, peers
from tests.bench.platform import write_platform
from trainyard.verify.tools import find_kustomize

REPOSITORY = Path(__file__).resolve().parents[2]
RECORDED = Path(__file__).with_name("ratios.json")
RUNS = 5
SIZES = {"small": (200, 4), "large": (1000, 20), "huge": (5000, 50)}
MOST = 1.10
"""A command may cost this much more than what is recorded, measured against the plain script."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one run: on the clock, and of all cores."""

    wall: float
    cpu: float


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
        return round(min(each.cpu for each in self.costs) / least, 3)


def main(arguments: list[str]) -> int:
    """Print a table of commands with their seconds, and ratios to the plain script."""
    names = [name for name in SIZES if name in arguments] or ["small"]
    for name in names:
        rows = dict(_rows(*SIZES[name]))
        _print(SIZES[name], rows)
        if missing := sorted(_recorded().get(name, {}).keys() - rows.keys()):
            print(f"recorded and not measured, as it is not installed: {', '.join(missing)}\n")
        ratios = {command: row.ratio for command, row in rows.items()}
        if "--record" in arguments:
            _record(name, ratios)
        elif "--check" in arguments and (worse := list(_worse(name, ratios))):
            print(*worse, sep="\n")
            return 1
    return 0


def _rows(teams: int, clusters: int) -> Iterator[tuple[str, Row]]:
    """Yield each command with the cost of each of its runs."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        root = _new(top / "committed", teams, clusters)
        _trainyard(root, "generate")
        _commit(root)
        installed = REPOSITORY / ".tools/peers"
        others = {
            peer.name: _Stamping(top, peer)
            for peer in peers(top / "peers", root, find_kustomize().path, installed)
        }
        plain = others.pop(PLAIN)
        for label, run in _commands(top, root, teams, clusters):
            yield label, _row(run, plain)
        for name, peer in others.items():
            yield name, _row(peer, plain)


_Edit = Callable[[Path, int], None]
_Run = Callable[[int], Cost]


def _commands(top: Path, root: Path, teams: int, clusters: int) -> Iterator[tuple[str, _Run]]:
    yield "trainyard --version", lambda _: _trainyard(top, "--version")

    # ext4 makes files much slower where many were deleted, so each run has a new folder.
    def cold(run: int) -> Cost:
        return _trainyard(_new(top / f"cold-{run}", teams, clusters), "generate")

    yield "generate, no tree yet", cold
    for label, command, edit in _COMMANDS:

        def changed(run: int, command: tuple[str, ...] = command, edit: _Edit = edit) -> Cost:
            edit(root, run)
            return _trainyard(root, *command)

        yield label, changed


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
        return _cost(self.peer.folder, command)


def _new(root: Path, teams: int, clusters: int) -> Path:
    root.mkdir()
    write_platform(root / "profiles", REPOSITORY, teams, clusters)
    return root


def _row(run: _Run, plain: _Stamping) -> Row:
    # The first run fills the file cache and is not counted.
    pairs = [(plain(number), run(number)) for number in range(RUNS + 1)][1:]
    return Row([cost for _, cost in pairs], [cost for cost, _ in pairs])


def _trainyard(root: Path, *arguments: str) -> Cost:
    return _cost(root, [sys.executable, "-m", "trainyard", *arguments])


def _cost(root: Path, command: list[str]) -> Cost:
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY / "generator"),
        "TRAINYARD_CACHE": str(root / ".cache"),
    }
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command, cwd=root, env=environment, check=False, capture_output=True, text=True
    )
    ended, after = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        # For example a build that took longer than `verify` waits, on a machine with other work.
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Cost(ended - begun, cpu)


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


def _change_team(root: Path, run: int) -> None:
    team = root / "profiles" / "teams" / "team-0007.yaml"
    team.write_text(re.sub(r"viewer: \[.*?\]", f"viewer: [guests-{run}]", team.read_text()))


def _merge_team(root: Path, run: int) -> None:
    """Change a team and generate its tree."""
    _change_team(root, 100 + run)
    _trainyard(root, "generate")


def _change_clusters(root: Path, run: int) -> None:
    for cluster in (root / "profiles" / "clusters").iterdir():
        text = re.sub(r"ports: \[443.*?\]", f"ports: [443, {8000 + run}]", cluster.read_text())
        cluster.write_text(text)


def _restore(root: Path, run: int) -> None:
    """Take the profiles of the commit, and its tree."""
    if run == 0:
        subprocess.run(["git", "checkout", "--quiet", "."], cwd=root, check=True)


_COMMANDS: tuple[tuple[str, tuple[str, ...], _Edit], ...] = (
    ("generate, nothing changed", ("generate",), _nothing),
    ("validate", ("validate",), _nothing),
    ("verify, nothing changed", ("verify",), _nothing),
    ("diff, one team changed", ("diff", "--base=main"), _change_team),
    ("generate, one team changed", ("generate",), _change_team),
    ("verify, one team changed", ("verify",), _merge_team),
    ("diff, all clusters changed", ("diff", "--base=main"), _change_clusters),
    ("validate, all clusters changed", ("validate",), _change_clusters),
    ("verify --all", ("verify", "--all"), _restore),
)
"""What is run, and what is edited before each run."""


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


def _record(name: str, ratios: dict[str, float]) -> None:
    RECORDED.write_text(json.dumps({**_recorded(), name: ratios}, indent=2) + "\n")


def _recorded() -> dict[str, dict[str, float]]:
    """Return what was recorded, by size and command."""
    return json.loads(RECORDED.read_text()) if RECORDED.exists() else {}


def _worse(name: str, ratios: dict[str, float]) -> Iterator[str]:
    """Yield each command that costs more than what is recorded, or was never recorded."""
    recorded = _recorded().get(name, {})
    for command, ratio in ratios.items():
        before = recorded.get(command)
        if before is None:
            yield f"{command}: no ratio is recorded; record it by `make bench CHECK=--record`"
        elif ratio > before * MOST:
            yield f"{command}: {ratio / before - 1:.0%} more than recorded"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
