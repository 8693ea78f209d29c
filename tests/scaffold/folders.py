"""What a folder holds, to see that nothing changed."""

from __future__ import annotations

from pathlib import Path


def content(folder: Path) -> dict[str, bytes | None]:
    """Return every path below a folder, with the bytes of the files."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }
