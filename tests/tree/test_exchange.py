from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.tree import hold


class _OldLibrary:
    """A C library from before renameat2, whose syncfs fails."""

    def syncfs(self, _: int) -> int:
        return -1


def test_folders_are_exchanged_in_one_step(tmp_path: Path) -> None:
    """Both folders are there afterwards, under each other's name."""
    (tmp_path / "a" / "in_a").mkdir(parents=True)
    (tmp_path / "b" / "in_b").mkdir(parents=True)
    hold.renameat2(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a" / "in_b").exists()
    assert (tmp_path / "b" / "in_a").exists()


def test_refused_exchange_is_an_os_error(tmp_path: Path) -> None:
    """The kernel's reason reaches the caller."""
    with pytest.raises(FileNotFoundError):
        hold.renameat2(tmp_path / "a", tmp_path / "b")


def test_library_without_exchange_is_an_os_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A C library without the call sends the caller to its fallback."""
    monkeypatch.setattr(hold, "_libc", _OldLibrary())
    with pytest.raises(OSError, match="no renameat2"):
        hold.renameat2(tmp_path, tmp_path)


def test_failing_flush_is_an_os_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fails is noticed before the old tree is removed."""
    monkeypatch.setattr(hold, "_libc", _OldLibrary())
    with pytest.raises(OSError, match=r"Errno"):
        hold.flush(tmp_path)
