"""Say which command converts the jobs of a file."""

from __future__ import annotations

from pathlib import Path

from trainyard.diagnostics import Pointer
from trainyard.handed_in import objects, read_source
from trainyard.model.lookup import text
from trainyard.yaml_io.source import Source
from trainyard_jobs.convert.kinds import door


def doors_of(file: Path) -> tuple[Source, tuple[tuple[Pointer, str, str], ...]]:
    """Return a file, and for each job in it its place, what it is, and what to do with it.

    Raises:
        TreeError: it can't be read, is not YAML, or has an object without kind.
    """
    source = read_source(file)
    found = []
    for path, body in objects(source.file, source.value):
        if meaning := door(body):
            name = text(body, "metadata", "name") or text(body, "metadata", "generateName")
            what = f"{body['kind']} {name}".rstrip()
            found.append((Pointer(source.file, path), what, meaning))
    return source, tuple(found)
