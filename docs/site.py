"""Collect the pages of the documentation site: `python -m docs.site build/pages`.

The site is built from copies in the repository's own layout, so that a link between two files is
the same on GitHub and on the site. A page that links to a file outside `docs/` brings it along.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAVIGATION = ROOT / "docs" / "navigation.yml"
_FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r'\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)|(?:src|srcset)="([^"]+)"', re.MULTILINE)


class LinkError(Exception):
    """A link names something that is not a file of the repository."""


def main(arguments: list[str]) -> int:
    """Copy the pages and what they link to into the folder that the first argument names."""
    target = Path(arguments[0])
    shutil.rmtree(target, ignore_errors=True)
    for path in sorted(linked_files()):
        _copy(path, target / path.relative_to(ROOT))
    _copy(NAVIGATION, target / ".nav.yml")
    return 0


def linked_files() -> set[Path]:
    """Return the pages of the site, and every file that can be reached from them by links.

    Raises:
        LinkError: A link leads out of the repository, or to something that is not a file.

    """
    found: set[Path] = set()
    waiting = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        if path.suffix == ".md":
            waiting.extend(_targets(path))
    return found


def _targets(page: Path) -> Iterator[Path]:
    """Yield the files of the repository that a page links to or shows, in any form of a link."""
    text = _FENCE.sub("", page.read_text("utf-8"))
    for forms in _LINK.findall(text):
        link = "".join(forms).partition("#")[0]
        if not link or link.startswith(("http://", "https://")):
            continue
        path = (page.parent / link).resolve()
        if not path.is_relative_to(ROOT) or not path.is_file():
            raise LinkError(f"{page.relative_to(ROOT)}: `{link}` is not a file of the repository")
        yield path


def _copy(source: Path, target: Path) -> None:
    """Copy a file into a folder that may not exist yet."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
