"""Find kustomize and kubeconform in the pinned versions."""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trainyard.diagnostics import ToolError
from trainyard.programs import folders, run

VERSION_TIMEOUT = 8.0
"""Seconds; the answer takes 0.05 s. With the limits of a build, two tools that hang cost less than
a minute in all."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that was found and has the pinned version."""

    name: str
    path: Path
    version: str


@dataclass(frozen=True, slots=True)
class _Pin:
    """A program that Trainyard needs.

    Args:
        module: Go module that it is built from.
        package: of it, the program.
        version: the one version that is accepted.
        ask: argument that makes it print its version.
    """

    name: str
    module: str
    package: str
    version: str
    ask: str

    @property
    def variable(self) -> str:
        return f"TRAINYARD_{self.name.upper()}"

    @property
    def how(self) -> str:
        """How to get it: only a checkout of Trainyard has a Makefile."""
        path = f"set {self.variable} to the path of {self.name} {self.version}"
        if _MAKEFILE.is_file():
            return f"run `make tools`, or {path}"
        program = f"{self.module}{self.package}@{self.version}"
        return f"run `go install {program}` or download it into a folder of your PATH, or {path}"


_PINS = (
    _Pin("kustomize", "sigs.k8s.io/kustomize/kustomize/v5", "", "v5.8.1", "version"),
    _Pin("kubeconform", "github.com/yannh/kubeconform", "/cmd/kubeconform", "v0.7.0", "-v"),
)
_MAKEFILE = Path(__file__).parents[3] / "Makefile"


def find_kustomize() -> Tool:
    """Return kustomize.

    Raises:
        ToolError: it is missing, broken, hangs or is another version.
    """
    return _find(_PINS[0])


def find_kubeconform() -> Tool:
    """Return kubeconform.

    Raises:
        ToolError: it is missing, broken, hangs or is another version.
    """
    return _find(_PINS[1])


def _find(pin: _Pin) -> Tool:
    path = _locate(pin)
    try:
        version = run([path, pin.ask], timeout=VERSION_TIMEOUT).stdout.strip()
    except ToolError as error:
        raise ToolError(f"{path} does not work: {error}; {pin.how}") from error
    if version != pin.version and not _is_built_from(path, pin):
        raise ToolError(f"{path} is version {version[:80]!r} instead of {pin.version}; {pin.how}")
    return Tool(pin.name, path, pin.version)


def _locate(pin: _Pin) -> Path:
    named = os.environ.get(pin.variable)
    candidates = [Path(named)] if named else [folder / pin.name for folder in _folders()]
    for path in candidates:
        if path.is_absolute() and path.is_file() and os.access(path, os.X_OK):
            return path
    where = f"{pin.variable} names no program by its absolute path" if named else "it was not found"
    raise ToolError(f"{pin.name} {pin.version} is needed, but {where}; {pin.how}")


def _folders() -> Iterator[Path]:
    """Yield the folders to look in, the nearest to this code first."""
    prefix = Path(sys.prefix)
    yield Path(__file__).parents[3] / ".tools" / "bin"
    yield prefix / "bin"
    yield prefix.parent / ".tools" / "bin"
    yield from map(Path, folders())


def _is_built_from(path: Path, pin: _Pin) -> bool:
    """Return whether Go's linker recorded the pinned module and version in the program.

    ``go install`` leaves kubeconform's own version at "development" (only its releases set it, by a
    linker flag), but the linker writes the line ``mod <module> <version> <checksum>``,
    tab-separated, into every program; ``go version
    -m`` prints it, and Go need not be on the machine that runs Trainyard.
    """
    line = f"\nmod\t{pin.module}\t{pin.version}\t".encode()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(line) >= 0
