"""Read commits with Git, so that nothing is executed that the repository or the user configured.

``rev-parse``, ``merge-base``, ``ls-tree -z``, ``ls-files --stage``, ``cat-file --batch`` and
``merge-file`` run no hook, filter, driver or pager. All others are refused here by not being there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from trainyard.diagnostics import ToolError, TreeError
from trainyard.git.objects import Blob, Commit, Listing
from trainyard.plainfile import LARGEST
from trainyard.programs import find, read_from

_TIMEOUT = 60.0
"""Seconds; 36,000 objects take less than one."""

_AT_ONCE = 32 * 1024 * 1024
"""Bytes that one process of Git is asked for, less than what a program may print."""

_COMMITTER = re.compile(rb"^committer .* (\d+) [+-]\d+$", re.MULTILINE)
_AUTHOR = re.compile(rb"^author (.*?) ?<", re.MULTILINE)
_FATAL = 128
"""Exit code of Git for a name of no form, and for a repository that it can't read."""
_EXECUTABLE = "100755"
_REGULAR = frozenset({"100644", _EXECUTABLE})
_SUBMODULE = "160000"
"""Mode of an entry that names a commit of another repository (Git: `gitformat-index`)."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A Git repository.

    Args:
        root: of its work tree.
    """

    root: Path

    def read(self, *arguments: str, stdin: bytes = b"", accept: Collection[int] = (0,)) -> bytes:
        """Return what a subcommand prints.

        Args:
            arguments: the subcommand, its options, and what the caller has checked.
            stdin: what it reads.
            accept: exit codes that are an answer.

        Raises:
            ToolError: Git is missing, fails or hangs.
        """
        command: list[str | Path] = [_program(), *_settings(self.root), *arguments]
        return read_from(
            command, timeout=_TIMEOUT, environment=_environment(), stdin=stdin, accept=accept
        )


def _program() -> Path:
    program = find("git")
    if program is None:
        raise ToolError("`git` is missing: install it, so that commits can be read")
    return program


def _settings(root: Path) -> Iterable[str]:
    """Return options that hold whatever is configured.

    The user of a container is often not the owner of the work tree; what Git protects from by
    refusing it, programs that a foreign repository configures, is not run here.
    """
    return (
        "-C",
        str(root),
        "-c",
        f"safe.directory={root}",
        "-c",
        "safe.bareRepository=explicit",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "merge.conflictStyle=merge",
    )


def _environment() -> dict[str, str]:
    """Return the variables of Git's processes; none of the caller's that changes what is read."""
    home = {"HOME": os.environ["HOME"]} if "HOME" in os.environ else {}
    return {
        **home,
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }


def find_commit(repository: Repository, ref: str) -> Commit:
    """Return the commit that a branch, tag or id names.

    Raises:
        TreeError: there is none.
        ToolError: Git is missing or broken.
    """
    # Git reads a name that begins with a hyphen as an option of its own.
    if ref.startswith("-"):
        raise TreeError(f"`{ref}` is not a branch, tag or commit")
    options = ("--verify", "--quiet", "--end-of-options")
    found = repository.read("rev-parse", *options, f"{ref}^{{commit}}", accept=(0, 1, _FATAL))
    if not found:
        raise TreeError(
            f"`{ref}` names no commit of {repository.root}; fetch it first: "
            "`git fetch origin BRANCH`, then use `origin/BRANCH`"
        )
    commit = found.decode().strip()
    content = _content(repository, [commit])[commit]
    return Commit(commit, _date(content), _author(content))


def merge_base(repository: Repository, one: Commit, other: Commit) -> Commit | None:
    """Return the newest commit that two others have in common; None when they have none.

    Raises:
        ToolError: Git is missing or broken.
    """
    found = repository.read("merge-base", one.id, other.id, accept=(0, 1)).decode().split()
    return find_commit(repository, found[0]) if found else None


def is_shallow(repository: Repository) -> bool:
    """Return whether a clone lacks the older part of its history.

    Raises:
        ToolError: Git is missing or broken.
    """
    return repository.read("rev-parse", "--is-shallow-repository").strip() == b"true"


def list_folder(repository: Repository, commit: Commit, folder: str) -> Listing:
    """Return every entry of a folder except folders.

    Args:
        repository: that has the commit.
        commit: whose tree is read.
        folder: from the root, without a slash at its end.

    Raises:
        TreeError: a file is too large.
        ToolError: Git is missing or broken.
    """
    listed = repository.read("ls-tree", "-r", "-z", "--long", commit.id, "--", f"{folder}/")
    files: dict[str, Blob] = {}
    links, submodules = [], []
    for line in listed.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        entry, _, name = line.partition("\t")
        path = _below(name, folder)
        mode, _, identity, size = entry.split()
        if mode in _REGULAR:
            number = _size(f"{folder}/{path}", (identity, size), commit)
            files[path] = Blob(identity, number, mode == _EXECUTABLE)
        elif mode == _SUBMODULE:
            submodules.append(path)
        else:
            links.append(path)
    return Listing(files, tuple(links), tuple(submodules))


def list_paths(repository: Repository, commit: Commit, folder: str) -> list[str]:
    """Return the path from the root of every entry of a folder; of all for an empty one.

    Raises:
        ToolError: Git is missing or broken.
    """
    below = [f"{folder}/"] if folder else []
    listed = repository.read(
        "ls-tree", "-r", "-z", "--full-tree", "--name-only", commit.id, "--", *below
    )
    return listed.decode("utf-8", "surrogateescape").split("\0")[:-1]


def _below(name: str, folder: str) -> str:
    """Return a path below a folder; empty for the folder itself, which may be a submodule."""
    return "" if name == folder else name.removeprefix(f"{folder}/")


def _size(path: str, entry: tuple[str, str], commit: Commit) -> int:
    """Return the size of a file that Git lists with its id and size."""
    identity, size = entry
    if not size.isdecimal():
        raise _missing(identity)
    if int(size) > LARGEST:
        raise TreeError(f"{path} has {size} bytes in commit {commit.short}, more than {LARGEST}")
    return int(size)


def staged_submodules(repository: Repository, folder: str) -> list[str]:
    """Return the submodules of a folder that the index has, by path below it.

    The work tree does not show them: an empty folder, if nobody fetched them.

    Raises:
        ToolError: Git is missing or broken.
    """
    listed = repository.read("ls-files", "--stage", "-z", "--", f":(top,literal){folder}/")
    entries = (line.partition(b"\t") for line in listed.split(b"\0")[:-1])
    paths = (name for entry, _, name in entries if entry.startswith(_SUBMODULE.encode()))
    return [_below(name.decode("utf-8", "surrogateescape"), folder) for name in paths]


def read_files(repository: Repository, files: Mapping[str, Blob]) -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of each file, as committed: no filter changes it.

    Raises:
        ToolError: Git is missing or broken, or an object is missing (a partial clone).
    """
    for part in _parts(files):
        contents = _content(repository, {files[path].id for path in part})
        for path in part:
            yield path, contents[files[path].id]


def _parts(files: Mapping[str, Blob]) -> Iterator[list[str]]:
    """Yield the paths in groups that are small enough for one process of Git."""
    part: list[str] = []
    size = 0
    for path, blob in files.items():
        if part and size + blob.size > _AT_ONCE:
            yield part
            part, size = [], 0
        part.append(path)
        size += blob.size
    if part:
        yield part


def _content(repository: Repository, ids: Iterable[str]) -> dict[str, bytes]:
    """Return the content of objects by id (Git: `cat-file --batch`, "BATCH OUTPUT")."""
    wanted = sorted(ids)
    printed = repository.read(
        "cat-file", "--batch", stdin="".join(f"{i}\n" for i in wanted).encode()
    )
    contents, at = {}, 0
    for identity in wanted:
        end = printed.index(b"\n", at)
        head = printed[at:end].split()
        if len(head) != 3:
            raise _missing(identity)
        begin = end + 1
        at = begin + int(head[2]) + 1
        contents[identity] = printed[begin : at - 1]
    return contents


def _missing(identity: str) -> ToolError:
    return ToolError(
        f"Git has no object {identity}: the clone is partial or broken; fetch it whole"
    )


def _author(commit: bytes) -> str:
    """Return the name of a commit's author; empty when the commit states none."""
    found = _AUTHOR.search(commit)
    return found[1].decode("utf-8", "replace").strip() if found else ""


def _date(commit: bytes) -> str:
    """Return the day on which a commit was made."""
    found = _COMMITTER.search(commit)
    if found is None:
        raise ToolError("Git printed a commit without a date")
    try:
        return datetime.fromtimestamp(int(found[1]), UTC).date().isoformat()
    except (OverflowError, ValueError, OSError) as problem:
        raise ToolError("Git printed a commit with an impossible date") from problem
