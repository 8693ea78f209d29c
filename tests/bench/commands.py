"""Trainyard's commands as users run them: whole processes, over a committed tree and its edits."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.bench.platform import write_platform

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one run: on the clock, and of all cores."""

    wall: float
    cpu: float


Run = Callable[[int], Cost]
"""Runs a command; takes the number of the run, from 0."""


@dataclass(frozen=True, slots=True)
class Build:
    """A Trainyard with a platform of its own.

    Args:
        checkout: the folder that has its ``generator/`` and ``profiles/``.
        top: an empty folder for the platform.
    """

    checkout: Path
    top: Path
    teams: int
    clusters: int

    @property
    def committed(self) -> Path:
        """The platform whose tree is committed."""
        return self.top / "committed"

    def prepare(self) -> None:
        """Write the platform and commit its tree."""
        self._new(self.committed)
        self.run(self.committed, "generate")
        _commit(self.committed)

    def run(self, root: Path, *arguments: str) -> Cost:
        """Run a command over a platform; ends the measurement if it fails."""
        command = [sys.executable, "-m", "trainyard", *arguments]
        return cost(root, command, PYTHONPATH=str(self.checkout / "generator"))

    def commands(self) -> Iterator[tuple[str, Run]]:
        """Yield what is measured, in an order in which each finds what it needs."""
        yield "trainyard --version", lambda _: self.run(self.top, "--version")
        yield "generate, no tree yet", self._cold
        for label, command, edit in _COMMANDS:

            def changed(run: int, command: tuple[str, ...] = command, edit: _Edit = edit) -> Cost:
                edit(self, run)
                return self.run(self.committed, *command)

            yield label, changed

    def _cold(self, run: int) -> Cost:
        # ext4 makes files much slower where many were deleted, so each run has a new folder.
        return self.run(self._new(self.top / f"cold-{run}"), "generate")

    def _new(self, root: Path) -> Path:
        root.mkdir(parents=True)
        write_platform(root / "profiles", self.checkout, self.teams, self.clusters)
        return root


def cost(root: Path, command: list[str], **variables: str) -> Cost:
    """Run a command in a folder; ends the measurement if it fails."""
    environment = {**os.environ, "TRAINYARD_CACHE": str(root / ".cache"), **variables}
    # A build that was just unpacked would be compiled again at each run.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
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


_Edit = Callable[[Build, int], None]


def _nothing(build: Build, run: int) -> None:
    del build, run


def _change_team(build: Build, run: int) -> None:
    team = build.committed / "profiles" / "teams" / "team-0007.yaml"
    team.write_text(re.sub(r"viewer: \[.*?\]", f"viewer: [guests-{run}]", team.read_text()))


def _merge_team(build: Build, run: int) -> None:
    """Change a team and generate its tree."""
    _change_team(build, 100 + run)
    build.run(build.committed, "generate")


def _change_clusters(build: Build, run: int) -> None:
    for cluster in (build.committed / "profiles" / "clusters").iterdir():
        text = re.sub(r"ports: \[443.*?\]", f"ports: [443, {8000 + run}]", cluster.read_text())
        cluster.write_text(text)


def _restore(build: Build, run: int) -> None:
    """Take the profiles of the commit, and its tree."""
    if run == 0:
        subprocess.run(["git", "checkout", "--quiet", "."], cwd=build.committed, check=True)


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
