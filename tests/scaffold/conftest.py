from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.server import Host, serving
from tests.pages import done
from tests.scaffold.folders import begun
from tests.scaffold.pull_requests import FORK, Request, committed, requested

IMAGE = f"registry.example.com/second@sha256:{'d' * 64}"


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    """The profiles of a new repository."""
    begun(tmp_path / "repository")
    return tmp_path / "repository" / "profiles"


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of a platform with one team."""
    folder = tmp_path_factory.mktemp("origin")
    done(folder, "git", "init", "--quiet", "--initial-branch", "main")
    done(folder, "trainyard", "init")
    done(folder, "trainyard", "add", "team", "nlp", "--nodes", "2")
    done(folder, "trainyard", "generate")
    # As GitHub's server: a commit of a pull request can be fetched by its id.
    done(folder, "git", "config", "uploadpack.allowAnySHA1InWant", "true")
    committed(folder)
    return folder


@pytest.fixture
def good(platform: Path, tmp_path: Path) -> Request:
    return requested(platform, tmp_path, nodes=3, generated=True)


@pytest.fixture
def stale(platform: Path, tmp_path: Path) -> Request:
    return requested(platform, tmp_path, nodes=3, generated=False)


@pytest.fixture
def together(platform: Path, tmp_path: Path) -> Path:
    """The repository of a platform after two merges that are right alone and wrong together.

    One removes a runtime that no team lists, the other lists it.
    """
    origin = tmp_path / "together"
    done(tmp_path, "cp", "-r", str(platform), str(origin))
    done(origin, "trainyard", "add", "runtime", "second", "--image", IMAGE)
    done(origin, "trainyard", "generate")
    committed(origin)
    team = origin / "profiles" / "teams" / "nlp.yaml"
    done(origin, "git", "checkout", "--quiet", "-b", "removes")
    (origin / "profiles" / "runtimes" / "second.yaml").unlink()
    done(origin, "trainyard", "generate")
    committed(origin)
    done(origin, "git", "checkout", "--quiet", "-b", "lists", "main")
    team.write_text(
        re.sub(r"runtimes: \[", "runtimes: [second, ", team.read_text("utf-8")), "utf-8"
    )
    done(origin, "trainyard", "generate")
    committed(origin)
    done(origin, "git", "checkout", "--quiet", "main")
    for name in ("removes", "lists"):
        done(origin, "git", "merge", "--quiet", "--no-ff", "-m", "Merge", name)
    return origin


@pytest.fixture
def host(good: Request) -> Iterator[Host]:
    pull = {"number": 7, "head": {"sha": good.head, "repo": {"full_name": FORK}}}
    with serving(Host(pulls=[pull], sha=good.head)) as it:
        yield it
