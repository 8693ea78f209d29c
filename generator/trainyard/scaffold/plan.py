"""Plan new files before they are written, and write all of them or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trainyard.diagnostics import TreeError
from trainyard.plainfile import read_regular
from trainyard.scaffold.install import put
from trainyard.yaml_io.bytescan import MAX_BYTES

ALLOCATIONS = "allocations.yaml"
"""The ledger, below the profiles."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Files of a new profile, before they are written.

    Args:
        files: content by path below the profiles: the new profile, and the ledger if it changes.
        ledger: content that the ledger must still have.
        clusters: names of those whose tree may change; all when empty.
    """

    files: Mapping[str, bytes]
    ledger: bytes
    clusters: tuple[str, ...]


def write_plan(root: Path, plan: Plan) -> tuple[Path, ...]:
    """Write the files of a plan, all or none.

    Returns:
        The files.

    Raises:
        TreeError: a file can't be written, or changed since it was read; nothing is changed.
    """
    new = [path for path in plan.files if path != ALLOCATIONS]
    gives = ALLOCATIONS in plan.files
    if gives:
        _check_unchanged(root / ALLOCATIONS, plan.ledger)
    put(root, plan.files, new, ALLOCATIONS if gives else "")
    return tuple(root / path for path in plan.files)


def _check_unchanged(ledger: Path, content: bytes) -> None:
    try:
        now = read_regular(ledger.parent, ledger.name, MAX_BYTES)
    except FileNotFoundError:
        now = b""
    except OSError as error:
        raise TreeError(f"{ledger} can't be read: {error.strerror}") from error
    if now != content:
        raise TreeError(
            f"{ledger} changed since it was read; nothing is written, so run the command again"
        )
