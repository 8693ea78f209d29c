"""Files of the tree that Git could not merge, and marked.

The marks are those of git-merge(1), "How conflicts are presented". `generate` writes the files
anew. Until then each side can still be read.
"""

from __future__ import annotations

_MARKER = b"<<<<<<< "


def is_conflict(content: bytes) -> bool:
    """Return whether Git left marks in a file."""
    return content.startswith(_MARKER) or b"\n" + _MARKER in content


def our_side(content: bytes) -> bytes:
    """Return a file as our side has it: the file itself, if Git left no marks."""
    return sides(content)[0] if is_conflict(content) else content


def sides(content: bytes) -> tuple[bytes, bytes]:
    """Return both sides of a file with marks, without their common base."""
    both: tuple[list[bytes], list[bytes]] = ([], [])
    into: tuple[list[bytes], ...] = both
    for line in content.splitlines(keepends=True):
        match line[:8]:
            case b"<<<<<<< ":
                into = both[:1]
            case b"||||||| ":
                into = ()
            case b"=======\n":
                into = both[1:]
            case b">>>>>>> ":
                into = both
            case _:
                for side in into:
                    side.append(line)
    return b"".join(both[0]), b"".join(both[1])
