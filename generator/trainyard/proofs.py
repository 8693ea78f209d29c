"""What this machine has seen to hold: digests of inputs together with what was made of them.

A proof is one digest over this installation, all inputs, and the result. It says that these inputs
had that result, so it can't be stale: another input, another Trainyard or another byte has another
digest. What is lost, broken or of another repository only costs time.

It lies in the user's cache and never in the repository: whoever opens a pull request could write
the proof of a tree that nobody generated.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from trainyard.golang import cache_folder
from trainyard.plainfile import read_regular

_MOST = 100_000
"""Proofs that are kept: the newest half of them when there are more."""
_LENGTH = 64
_LIBRARIES = ("jinja2", "jsonschema-rs", "pyyaml")
_SOURCES = frozenset({".cel", ".j2", ".json", ".py", ".sh", ".sha256", ".yaml"})
_PACKAGE = Path(__file__).resolve().parent


class Proofs:
    """The proofs of this machine.

    Args:
        folder: where their file is; None to know nothing and keep nothing.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._known = frozenset(_read(folder)) if folder else frozenset[str]()
        self._new: dict[str, None] = {}

    def __contains__(self, proof: str) -> bool:
        return proof in self._known or proof in self._new

    @property
    def used(self) -> bool:
        """Whether anything can be known."""
        return self._folder is not None

    def keep(self, proofs: Iterable[str]) -> None:
        """Remember some proofs, here and for the next command."""
        new = [each for each in proofs if each not in self] if self._folder else []
        self._new |= dict.fromkeys(new)
        if self._folder and new:
            with suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True)
                _append(self._folder, new)


UNKNOWN = Proofs()
"""Nothing is known, and nothing is kept."""


def of_this_machine() -> Proofs:
    """Return the proofs that earlier commands kept; none with ``TRAINYARD_FORGET`` set, as in CI.

    There a cache may come from a stranger's run.
    """
    return UNKNOWN if os.environ.get("TRAINYARD_FORGET") else Proofs(cache_folder() / "proofs")


def proof(*parts: bytes) -> str:
    """Return the digest of this installation and some parts."""
    digest = hashlib.sha256(_installation())
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def digest_of(value: Any) -> bytes:
    """Return the digest of the content of a value."""
    return hashlib.sha256(content_of(value)).digest()


def content_of(value: Any) -> bytes:
    """Return bytes that two values share only if they are equal.

    Equal values may have different bytes. The same code has the same bytes for the same input.
    """
    buffer = io.BytesIO()
    _Content(buffer, protocol=5).dump(value)
    return buffer.getvalue()


class _Content(pickle.Pickler):
    """Pickles sets in their order: the hashes of strings differ in each process."""

    def persistent_id(self, value: Any) -> Any:
        """Return what stands for a set, and None for any other value."""
        return ("set", sorted(value, key=repr)) if type(value) in {frozenset, set} else None


@cache
def _installation() -> bytes:
    """Return the digest of our code, templates and data, and of what renders and checks them."""
    digest = hashlib.sha256(f"{sys.version} {[*map(version, _LIBRARIES)]}".encode())
    for folder in (_PACKAGE, _PACKAGE.parents[1] / "templates"):
        for path in sorted(folder.rglob("*")):
            if path.suffix in _SOURCES:
                content = path.read_bytes()
                name = path.relative_to(folder).as_posix()
                digest.update(f"{name} {len(content)} ".encode())
                digest.update(content)
    return digest.digest()


def _read(folder: Path) -> list[str]:
    try:
        content = read_regular(folder, "seen")
    except OSError:
        return []
    lines = content.decode(errors="replace").split("\n")
    return [line for line in lines if len(line) == _LENGTH]


def _append(folder: Path, new: list[str]) -> None:
    kept = _read(folder)
    if len(kept) + len(new) <= _MOST:
        with (folder / "seen").open("ab") as file:
            file.write("".join(f"{each}\n" for each in new).encode())
        return
    partial = folder / "seen.partial"
    partial.write_text("".join(f"{each}\n" for each in [*kept, *new][-_MOST // 2 :]))
    partial.replace(folder / "seen")
