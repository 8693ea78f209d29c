"""Pull requests of a platform's repository, and the scripts that check them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.pages import call, done
from tests.scaffold.test_ci import ORIGINS
from trainyard.scaffold.ci import SYSTEMS, ci_files

FORK = "somebody/platform"


@dataclass(frozen=True)
class Request:
    """A pull request whose branch is in a fork.

    Args:
        origin: repository of the platform; it has the commit as `refs/pull/7/head`.
        head: its commit.
    """

    origin: Path
    head: str


def committed(folder: Path) -> str:
    done(folder, "git", "add", "--all")
    done(folder, "git", "commit", "--quiet", "--message", "x")
    return done(folder, "git", "rev-parse", "HEAD").strip()


def requested(platform: Path, tmp_path: Path, *, nodes: int, generated: bool) -> Request:
    """Return a request that changes the quota of the team, with the tree or without."""
    tmp_path.mkdir(exist_ok=True)
    origin, fork = tmp_path / "origin", tmp_path / "fork"
    done(tmp_path, "cp", "-r", str(platform), str(origin))
    done(tmp_path, "git", "clone", "--quiet", str(origin), str(fork))
    team = fork / "profiles" / "teams" / "nlp.yaml"
    text = team.read_text("utf-8")
    assert "nodes: 2" in text
    team.write_text(text.replace("nodes: 2", f"nodes: {nodes}"), encoding="utf-8")
    (fork / "page.md").touch()
    if generated:
        done(fork, "trainyard", "generate")
    head = committed(fork)
    done(fork, "git", "push", "--quiet", "origin", f"{head}:refs/pull/7/head")
    return Request(origin, head)


def files(name: str) -> list[Any]:
    bodies = ci_files(SYSTEMS[name], ".", "main", ORIGINS[name]).values()
    return [each for body in bodies for each in yaml.safe_load_all(body)]


def ran(folder: Path, script: str, shell: str = "bash", **variables: str) -> tuple[int, str]:
    """Run a script as a runner does; return its exit code and output."""
    given = [f"{key}={value}" for key, value in variables.items()]
    ended = call(folder, "env", *given, *shlex.split(shell), "-c", script)
    return ended.returncode, ended.stdout


def cloned(origin: Path, head: str, folder: Path) -> Path:
    """Check a commit out, as a runner of GitLab does."""
    checkout = folder / "checkout"
    done(folder, "git", "clone", "--quiet", origin.as_uri(), str(checkout))
    done(checkout, "git", "fetch", "--quiet", "origin", head)
    done(checkout, "git", "checkout", "--quiet", "--detach", "FETCH_HEAD")
    return checkout
