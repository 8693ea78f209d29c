"""Check the bytes of a file before a YAML reader gets them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.rules.delivery.secret_in_git import RULE as SECRET_IN_GIT
from trainyard.rules.shape.conflict_marker import RULE as CONFLICT_MARKER
from trainyard.rules.shape.hidden_character import RULE as HIDDEN_CHARACTER
from trainyard.rules.shape.not_utf8 import RULE as NOT_UTF8
from trainyard.rules.shape.too_large import RULE as TOO_LARGE
from trainyard.yaml_io.credentials import find_credentials
from trainyard.yaml_io.lookalikes import name_of
from trainyard.yaml_io.scalars import HIDDEN

MAX_BYTES: Final = 1 << 20
"""Largest profile, bytes: the allocations of 5,000 teams take a quarter of it."""

_MAX_HIDDEN: Final = 20
_LFS_POINTER: Final = "version https://git-lfs.github.com/spec/"
_CONFLICT: Final = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
_LONE_RETURN_OR_HIDDEN: Final = re.compile(rf"\r(?!\n)|(?!\r){HIDDEN.pattern}")


def scan(file: str, content: bytes) -> tuple[str, tuple[Diagnostic, ...]]:
    """Return a file's text without BOM, and its faults; parse the text only if there are none."""
    if len(content) > MAX_BYTES:
        message = f"the file has more than {MAX_BYTES:,} bytes, the most that a profile may have"
        return "", (TOO_LARGE.at(Pointer(file, line=1, column=1), message),)
    try:
        text = content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        place = _place(file, content[: error.start].decode("utf-8"), error.start)
        return "", (
            NOT_UTF8.at(
                place, f"byte {error.start + 1} (0x{content[error.start]:02X}) is not UTF-8"
            ),
        )
    return text, (
        *islice(_hidden(file, text), _MAX_HIDDEN),
        *_left_by_git(file, text),
        *_secrets(file, text),
    )


def _place(file: str, text: str, offset: int) -> Pointer:
    start = text.rfind("\n", 0, offset) + 1
    return Pointer(file, line=text.count("\n", 0, offset) + 1, column=len(text[start:offset]) + 1)


def _hidden(file: str, text: str) -> Iterator[Diagnostic]:
    for match in _LONE_RETURN_OR_HIDDEN.finditer(text):
        yield HIDDEN_CHARACTER.at(
            _place(file, text, match.start()), f"the file holds {name_of(match[0])}"
        )


def _left_by_git(file: str, text: str) -> Iterator[Diagnostic]:
    if text.startswith(_LFS_POINTER):
        hint = "run `git lfs pull`, or keep profiles out of Git LFS"
        yield CONFLICT_MARKER.at(_place(file, text, 0), "the file is a Git LFS pointer", hint=hint)
    for match in _CONFLICT.finditer(text):
        yield CONFLICT_MARKER.at(
            _place(file, text, match.start()), f"a merge conflict marker, `{match[0].strip()}`"
        )


def _secrets(file: str, text: str) -> Iterator[Diagnostic]:
    """Yield each credential by its place; its text must never reach a log."""
    for start, _, what in find_credentials(text):
        yield SECRET_IN_GIT.at(_place(file, text, start), f"the file holds what looks like {what}")
