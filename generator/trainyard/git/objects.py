"""What Git has in a commit: its files, links and submodules."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

_SHA1_DIGITS = 40
"""Length of an id in a repository whose ids are SHA-1."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit.

    Args:
        id: 40 or 64 hexadecimal digits.
        date: ISO date of its committer, in UTC.
        author: name of its author, as the commit states it.
    """

    id: str
    date: str
    author: str = ""

    @property
    def short(self) -> str:
        """The id as people read it."""
        return self.id[:10]


@dataclass(frozen=True, slots=True)
class Blob:
    """A regular file of a commit.

    Args:
        size: bytes.
        executable: it has the execute bit.
    """

    id: str
    size: int
    executable: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """The entries of a folder of a commit, by path below it.

    Args:
        files: the regular ones.
        links: symlinks, and everything else that is not a file.
        submodules: commits of other repositories; an empty path for the folder itself.
    """

    files: dict[str, Blob]
    links: tuple[str, ...] = ()
    submodules: tuple[str, ...] = ()


def blob_id(content: bytes, commit: Commit) -> str:
    """Return the id that Git gives to the content of a file (Git: `hash-object`).

    Args:
        content: of the file.
        commit: of the repository, whose ids have the same length.
    """
    name = "sha1" if len(commit.id) == _SHA1_DIGITS else "sha256"
    head = f"blob {len(content)}\0".encode()
    return hashlib.new(name, head + content, usedforsecurity=False).hexdigest()
