"""Fill the templates of new files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from string import Template

from trainyard.yaml_io.placeholders import MARK

SCAFFOLD = files("trainyard.scaffold") / "files"


def filled(name: str, values: Mapping[str, object]) -> bytes:
    """Return a file of the scaffold with its values, without the lines that are then empty."""
    text = Template((SCAFFOLD / name).read_text(encoding="utf-8")).substitute(values)
    return "".join(line for line in text.splitlines(keepends=True) if line.strip()).encode()


def static_files() -> dict[str, bytes]:
    """Return the files that every new repository has, by path."""
    return {
        path.replace("dot-", ".", 1): body for path, body in _below(SCAFFOLD / "repository", "")
    }


def placeholders(content: bytes) -> Iterator[tuple[int, str]]:
    """Yield the line number of each placeholder in a new file, and what belongs there."""
    for number, line in enumerate(content.decode().splitlines(), start=1):
        value, mark, comment = line.partition(MARK)
        if mark:
            yield number, comment.removeprefix(": ") or value.strip()


def _below(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        path = prefix + entry.name
        found += _below(entry, f"{path}/") if entry.is_dir() else [(path, entry.read_bytes())]
    return found
