"""The Go modules that schemas come from: tests make no connection, and take what is there."""

from __future__ import annotations

import os
from functools import cache
from unittest.mock import patch

import pytest

from trainyard.derivation.modules import modules
from trainyard.diagnostics import ToolError
from trainyard.profiles.read import PACKAGE

OFFLINE = {"GOPROXY": "off", "GOSUMDB": "off", "GOFLAGS": "-mod=mod", "GOWORK": "off"}


def need_modules() -> None:
    """Skip a test unless each module of the releases was downloaded, as `make schemas` does."""
    if reason := _missing():
        pytest.skip(f"{reason}; `python -m tools.derive --check` downloads what is missing")


@cache
def _missing() -> str:
    """Return why the modules can't be had without a connection; empty when they can."""
    try:
        with patch.dict(os.environ, OFFLINE):
            for path in PACKAGE.glob("releases/*/go.mod"):
                modules(path.parent)
    except ToolError as error:
        return str(error)
    return ""
