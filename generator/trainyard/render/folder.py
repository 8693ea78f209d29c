"""The folders of the templates and of the pages for users, and the scripts in the first."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def templates_folder() -> Path:
    """Return templates/: inside an installed package, or beside it in a checkout."""
    packaged = _PACKAGE / "templates"
    return packaged if packaged.is_dir() else _PACKAGE.parents[1] / "templates"


def users_folder() -> Path:
    """Return the folder of the pages for users: inside an installed package, or in a checkout."""
    packaged = _PACKAGE / "users"
    return packaged if packaged.is_dir() else _PACKAGE.parents[1] / "docs" / "users"


@cache
def script(test: str) -> str:
    """Return the script of an acceptance test, with the part that all tests share."""
    folder = templates_folder() / "acceptance"
    parts = (folder / f"{name}.sh" for name in ("common", test))
    return "\n".join(part.read_text(encoding="utf-8") for part in parts)
