"""Fixtures of commands."""

from __future__ import annotations

from tests.cli.fixtures import (  # noqa: F401
    broken,
    here,
    plain,
    repository,
    trainyard,
    tree,
    written,
)
