"""Write new files into a folder, all or none, and replace the content of files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from errno import EEXIST
from pathlib import Path

from trainyard.diagnostics import TreeError
from trainyard.plainfile import read_regular


def put(folder: Path, files: Mapping[str, bytes], new: Iterable[str], replaced: str = "") -> None:
    """Write files below a folder: stage all, then rename them; a failure restores everything.

    Args:
        folder: made when it is not there.
        files: content by path relative to the folder.
        new: files, or folders of files, that must not be there yet, in the order in which they
            appear.
        replaced: a file that may be there; it appears last.

    Raises:
        TreeError: a part is there already or can't be written; the folder holds what it held.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(prefix=".trainyard-staging-", dir=folder))
        try:
            _stage(staged, files)
            _move(staged, folder, new, replaced)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    except OSError as error:
        raise TreeError(f"{folder} can't be written: {error.strerror}; it is untouched") from error


def overwrite(folder: Path, files: Mapping[str, tuple[bytes, bytes]]) -> None:
    """Replace the content of files below a folder; a reader sees the old or the new one, whole.

    Args:
        folder: of the files.
        files: old and new content by path relative to the folder.

    Raises:
        TreeError: a file can't be written, or has not its old content any more. Files that come
            later in the order stay as they are.
    """
    try:
        staged = Path(tempfile.mkdtemp(prefix=".trainyard-staging-", dir=folder))
        try:
            _stage(staged, {path: new for path, (_, new) in files.items()})
            for path, (old, _) in files.items():
                if read_regular(folder, path) != old:
                    raise TreeError(f"{folder / path} changed since it was read; try again")
                shutil.copymode(folder / path, staged / path)
                (staged / path).replace(folder / path)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    except OSError as error:
        raise TreeError(f"{folder} can't be written: {error.strerror}") from error


def _stage(staged: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        (staged / path).parent.mkdir(parents=True, exist_ok=True)
        (staged / path).write_bytes(content)


def _move(staged: Path, folder: Path, new: Iterable[str], replaced: str) -> None:
    with ExitStack() as undo:
        for part in new:
            place = folder / part
            if place.is_symlink() or place.exists():
                raise FileExistsError(EEXIST, f"{part} is there already")
            if not place.parent.exists():
                undo.callback(_remove_empty, place.parent)
                place.parent.mkdir()
            # Before it is moved: Ctrl-C may come between any two lines.
            undo.callback(_take_back, place, staged / part)
            (staged / part).rename(place)
        if replaced:
            (staged / replaced).replace(folder / replaced)
        undo.pop_all()


def _take_back(place: Path, staged: Path) -> None:
    if not staged.exists():
        place.rename(staged)


def _remove_empty(folder: Path) -> None:
    if folder.exists():
        folder.rmdir()
