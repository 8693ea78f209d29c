"""The Kubeflow SDK, with which members of teams submit jobs from Python: in a folder of its own."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from trainyard import programs
from trainyard.diagnostics import ToolError

_MODULES = Path(__file__).parent / "modules"


def find_sdk(version: str, cache: Path) -> Path:
    """Return the folder with the modules of an SDK.

    Raises:
        ToolError: it is not installed.
    """
    folder = _folder(version, cache)
    if not folder.exists():
        raise ToolError(
            f"kubeflow {version} is not installed yet; run `trainyard rehearse --build` once"
        )
    return folder


def fetch_sdk(version: str, cache: Path, progress: Callable[[str], None]) -> None:
    """Install an SDK with the pinned hashes of all that it needs, unless it is there.

    Raises:
        ToolError: this Python has no pip, or a package is not available or is another one.
    """
    target = _folder(version, cache)
    if target.exists():
        return
    progress(f"installing kubeflow-{version}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        tools, modules = Path(scratch) / "tools", Path(scratch) / "modules"
        _run(sys.executable, "-m", "venv", str(tools))
        pip = (str(tools / "bin" / "python"), "-m", "pip", "install", "--quiet")
        pinned = ("--no-deps", "--only-binary=:all:", "--require-hashes", "--requirement")
        _run(*pip, "--target", str(modules), *pinned, str(_requirements(version)))
        modules.replace(target)


def _requirements(version: str) -> Path:
    return _MODULES / f"kubeflow-{version}" / "requirements.txt"


def _folder(version: str, cache: Path) -> Path:
    """Return its folder in the cache: some of its modules are for one minor version of Python."""
    digest = sha256(_requirements(version).read_bytes()).hexdigest()[:12]
    return cache / "programs" / f"kubeflow-{version}-{digest}-{sys.implementation.cache_tag}"


def _run(*command: str) -> None:
    try:
        programs.run(command, environment=os.environ, timeout=programs.AN_HOUR)
    except ToolError as error:
        raise ToolError(f"the SDK can't be installed: {error}") from error
