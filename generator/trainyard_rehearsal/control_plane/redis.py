"""Redis, Argo CD's cache: the machine's, else from Debian's packages in our cache."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trainyard import programs
from trainyard.diagnostics import ToolError

_PACKAGES = ("redis-server", "redis-tools", "libjemalloc2", "liblzf1")
_NEED = "Argo CD needs Redis: install `redis-server`"


@dataclass(frozen=True, slots=True)
class Redis:
    """The program, and folders of its libraries that this machine lacks."""

    program: Path
    libraries: tuple[Path, ...]


def find_redis(cache: Path) -> Redis:
    """Return the Redis of the machine, else of the cache.

    Raises:
        ToolError: there is none.
    """
    if found := programs.find("redis-server"):
        return Redis(found, ())
    home = cache / "redis"
    if not home.exists():
        raise ToolError(
            f"{_NEED}, or have it fetched by `trainyard rehearse --build` (on Debian and its like)"
        )
    return Redis(home / "usr/bin/redis-server", tuple((home / "usr/lib").glob("*-linux-gnu*")))


def fetch_redis(cache: Path, progress: Callable[[str], None]) -> None:
    """Unpack Debian's packages into the cache if the machine has no Redis.

    Raises:
        ToolError: the machine has no apt, or the archive does not answer.
    """
    if programs.find("redis-server") or (cache / "redis").exists():
        return
    progress("fetching redis-server")
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        packages, target = Path(scratch), Path(scratch) / "redis"
        # The machine's own lists may be missing, as in a fresh container, or outdated.
        (packages / "lists/partial").mkdir(parents=True)
        own = ("-o", f"Dir::State::lists={packages / 'lists'}", "-o", f"Dir::Cache={packages}")
        _run(packages, "apt-get", "update", *own)
        _run(packages, "apt-get", "download", *own, *_PACKAGES)
        for package in sorted(packages.glob("*.deb")):
            _run(packages, "dpkg", "-x", str(package), str(target))
        target.replace(cache / "redis")


def _run(folder: Path, *command: str) -> None:
    try:
        programs.run(
            command,
            cwd=folder,
            environment=os.environ,
            timeout=programs.AN_HOUR,
        )
    except programs.NotStartedError:
        raise ToolError(f"{_NEED}; there is no `{command[0]}` here to fetch it with") from None
    except ToolError as error:
        raise ToolError(f"{_NEED}; {error}") from None
