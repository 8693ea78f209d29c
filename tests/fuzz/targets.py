"""Check an input as far as possible, and print its findings as for a user."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from functools import cache
from pathlib import Path

from tests.fuzz.corpus import Seed
from trainyard.cli.findings import Findings, text
from trainyard.cli.places import Places
from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.generation.generate import check, render
from trainyard.scaffold.style import styled
from trainyard.schema.profiles import profile_schema
from trainyard.schema.shape import check_shape
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Source

TODAY = "2026-11-22"


class Outcome(StrEnum):
    """Outcome of an input."""

    UNREADABLE = "unreadable"
    REFUSED = "refused"
    ACCEPTED = "accepted"


def check_bytes(kind: str, content: bytes) -> Outcome:
    """Read a file as a profile of a kind and check its shape."""
    source, problems = read("profiles/fuzzed.yaml", content)
    if not problems:
        _check_style(source)
    problems += tuple(check_shape(source, profile_schema(kind)))
    _show(problems, {source.file: source})
    assert problems or source.value is not None, "a file without document has no finding"
    if source.value is None:
        return Outcome.UNREADABLE
    return Outcome.REFUSED if problems else Outcome.ACCEPTED


def check_platform(seed: Seed, content: bytes) -> Outcome:
    """Replace a committed file, and check and render the whole platform as far as possible."""
    with _changed(seed, content) as root:
        checked = check(root, TODAY)
        generation = render(checked, "../profiles/components")
    sources = checked.profiles.sources()
    _show(generation.diagnostics, sources)
    file = sources.get(f"profiles/{seed.path}")
    if file and file.file not in {each.at.file for each in generation.diagnostics}:
        _check_style(file)
    refused = has_errors(generation.diagnostics)
    assert generation.files or refused or not checked.platform or not checked.platform.sites, (
        "no tree and no finding"
    )
    if checked.platform is None and (file is None or file.value is None):
        return Outcome.UNREADABLE
    return Outcome.REFUSED if refused else Outcome.ACCEPTED


def _check_style(source: Source) -> None:
    """Format a profile without faults: a second time nothing changes, or the bytes stay."""
    new, reasons = styled(source)
    _show(reasons, {source.file: source})
    if reasons:
        assert new == source.content, "a file is left alone, and still changed"
    else:
        again, faults = read(source.file, new)
        assert not faults, "a formatted file has a fault"
        assert repr(again.value) == repr(source.value), "a formatted file has other data"
        assert styled(again) == (new, ()), "formatting twice gives another file"


def _show(problems: tuple[Diagnostic, ...], sources: Mapping[str, Source]) -> None:
    shown = text(Findings(problems, Places(sources, {"profiles": "profiles"})), colour=False)
    assert all(line.isprintable() for line in shown.split("\n")), (
        "a finding with control characters of a terminal"
    )


@contextmanager
def _changed(seed: Seed, content: bytes) -> Iterator[Path]:
    root = _copy(seed.root)
    (root / seed.path).write_bytes(content)
    try:
        yield root
    finally:
        (root / seed.path).write_bytes(seed.content)


@cache
def _copy(root: Path) -> Path:
    """Return a copy of profiles, which is deleted at the end of the process."""
    folder = _FOLDERS.enter_context(tempfile.TemporaryDirectory(prefix="trainyard-fuzz-"))
    return shutil.copytree(root, Path(folder) / "profiles")


_FOLDERS = ExitStack()
atexit.register(_FOLDERS.close)
