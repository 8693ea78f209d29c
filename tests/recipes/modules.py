"""The Go modules that schemas come from: tests make no connection, and take what is there."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache

import pytest

from trainyard.profiles.read import PACKAGE

OFFLINE = {"GOPROXY": "off", "GOSUMDB": "off", "GOFLAGS": "-mod=mod", "GOWORK": "off"}


def need_modules() -> None:
    """Skip a test unless each module of the releases was downloaded, as `make schemas` does."""
    if not _are_there():
        pytest.skip("Go or its modules are missing: `python -m tools.derive --check` gets them")


@cache
def _are_there() -> bool:
    go = shutil.which("go")
    return go is not None and all(
        subprocess.run(
            [go, "mod", "download"],
            cwd=path.parent,
            env={**os.environ, **OFFLINE},
            capture_output=True,
            check=False,
        ).returncode
        == 0
        for path in PACKAGE.glob("releases/*/go.mod")
    )
