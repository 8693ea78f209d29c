"""Only regular files are read, none of them without end, and no path leads through a symlink."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from trainyard.plainfile import LARGEST, NotRegularError, TooLargeError, holds, read_regular


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_regular_file_is_read_whole(tmp_path: Path) -> None:
    """Without a limit the whole file is returned, from any depth."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").write_bytes(b"x" * 100_000)

    assert read_regular(tmp_path, "a/b/c") == b"x" * 100_000


@pytest.mark.parametrize(("limit", "length"), [(4, 5), (5, 6), (6, 6), (7, 6)])
def test_at_most_one_byte_more_than_the_limit_is_read(
    limit: int, length: int, tmp_path: Path
) -> None:
    """The length of what is returned tells whether the file is larger than the limit."""
    (tmp_path / "file").write_bytes(b"123456")

    assert len(read_regular(tmp_path, "file", limit)) == length


def test_file_larger_than_any_of_ours_is_refused(tmp_path: Path) -> None:
    """Nothing is read without an end, even where the caller has no limit of its own."""
    with (tmp_path / "file").open("wb") as file:
        file.truncate(LARGEST)
    assert len(read_regular(tmp_path, "file")) == LARGEST

    with (tmp_path / "file").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(TooLargeError, match="it is larger than 16 MiB"):
        read_regular(tmp_path, "file")
    assert not holds(tmp_path / "file", b"\0" * 10)


@pytest.mark.parametrize(("content", "same"), [(b"a", False), (b"ab", True), (b"abc", False)])
def test_content_is_compared_whole(content: bytes, same: bool, tmp_path: Path) -> None:
    """A longer and a shorter file differ, and so does what is not a regular file."""
    (tmp_path / "file").write_bytes(content)
    (tmp_path / "link").symlink_to("file")

    assert holds(tmp_path / "file", b"ab") is same
    assert not holds(tmp_path / "link", content)
    assert not holds(tmp_path / "gone", content)


@pytest.mark.parametrize(
    "make",
    [
        os.mkfifo,
        Path.mkdir,
        _socket,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to("x"),
    ],
)
def test_anything_but_a_regular_file_is_refused(
    make: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A FIFO is not waited for, a symlink is not followed, and nothing of them is read."""
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    make(tmp_path / "file")

    with pytest.raises(NotRegularError, match="it is not a regular file"):
        read_regular(tmp_path, "file")


def test_folder_on_the_way_may_be_no_symlink(tmp_path: Path) -> None:
    """What lies in the folder that a symlink leads to is not read."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").touch()
    (tmp_path / "teams").symlink_to("real")

    with pytest.raises(NotRegularError):
        read_regular(tmp_path, "teams/file")


def test_folder_that_the_user_names_may_be_a_symlink(tmp_path: Path) -> None:
    """`--profiles` may name a link; the choice is the user's and no commit's."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_bytes(b"a")
    (tmp_path / "link").symlink_to("real")

    assert read_regular(tmp_path / "link", "file") == b"a"


@pytest.mark.parametrize("path", ["gone", "gone/file"])
def test_missing_file_is_missing(path: str, tmp_path: Path) -> None:
    """A caller tells a file that is not there from one that can't be used."""
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path, path)


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    """A thousand profiles are read without running out of descriptors, refused ones included."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").touch()
    (tmp_path / "a" / "link").symlink_to("file")
    before = _descriptors()
    read_regular(tmp_path, "a/file")
    with pytest.raises(NotRegularError):
        read_regular(tmp_path, "a/link")

    assert _descriptors() == before
