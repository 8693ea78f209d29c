"""What makes a finding the same one in the next run, for systems that compare two runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import sha256

from trainyard.cli.places import Place
from trainyard.diagnostics import Diagnostic

_WINDOW = 100  # characters that a line's hash covers, counted from its begin without blanks
_BASE = 37
_SIZE = 2**64
_END = 65535  # stands for the end of the file


def identities(located: Iterable[tuple[Diagnostic, Place]]) -> Iterator[str]:
    """Yield a different value for each finding, which is the same when its line moves.

    It depends on rule, file, path and message. Findings in which all of them are equal are
    numbered.
    """
    seen: Counter[str] = Counter()
    for diagnostic, place in located:
        path = map(repr, diagnostic.at.path)
        key = "\0".join((diagnostic.rule, place.file, *path, diagnostic.message))
        seen[key] += 1
        yield _digest(f"{key}\0{seen[key]}")


def line_identity(diagnostic: Diagnostic, place: Place, content: bytes) -> str:
    """Return the value of SARIF's ``primaryLocationLineHash``.

    Args:
        diagnostic: the finding.
        place: where it is.
        content: its file, or nothing when it was not read; then the line is not known.
    """
    hashes = line_hashes(content) if content else ()
    line = place.span.line
    if line <= len(hashes):
        return hashes[line - 1]
    return f"{_digest(f'{diagnostic.rule} {place.file} {diagnostic.message}')}:1"


@lru_cache(maxsize=64)
def line_hashes(content: bytes) -> tuple[str, ...]:
    """Return the hash of each line of a file as GitHub's upload computes it where it is missing.

    A different value would make GitHub's upload warn. Source of the algorithm:
    github/codeql-action:src/fingerprints.ts.
    """
    units = _units(content)
    starts = [0, *(place + 1 for place, unit in enumerate(units) if unit == ord("\n"))]
    units += [_END, *[0] * _WINDOW]
    seen: Counter[str] = Counter()
    hashes = []
    for start in starts:
        value = 0
        for unit in units[start : start + _WINDOW]:
            value = (value * _BASE + unit) % _SIZE
        seen[f"{value:x}"] += 1
        hashes.append(f"{value:x}:{seen[f'{value:x}']}")
    return tuple(hashes)


def _units(content: bytes) -> list[int]:
    """Return the UTF-16 units of a file without spaces and tabs, each line's end as one LF."""
    text = content.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    wide = text.translate({ord(" "): None, ord("\t"): None}).encode("utf-16-le")
    return list(memoryview(wide).cast("H"))


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", errors="backslashreplace")).hexdigest()[:32]
