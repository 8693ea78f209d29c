"""The command line inside this process, without the two programs of `verify`, and its examples."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Generic, TypeVar

from tests.changes.repository import Call, Repository
from tests.cli.calls import Ended
from trainyard.cli.main import run
from trainyard.diagnostics import Diagnostic
from trainyard.generation.generate import Checked
from trainyard.proofs import UNKNOWN, Proofs
from trainyard.verify.kubeconform import Report
from trainyard.verify.tools import Tool
from trainyard.yaml_io.manifests import parse_manifests
from trainyard.yaml_io.source import NOTHING, Profiles, Source

REPOSITORY = Path(__file__).resolve().parents[2]
SMALL = {
    "init": "openshift-ai-3.5",
    "two-generations": "openshift-ai-3.5",
    "init-kubernetes": "kubernetes-1.36",
}
"""Examples with a cluster of one release, by name."""

EXAMPLES = (*SMALL, "own")
_KEPT = 12

Made = TypeVar("Made")


class Day(date):
    """A fixed date, since waivers and runtimes expire on dates."""

    @classmethod
    def today(cls) -> Day:
        return cls(2026, 11, 21)


def no_tool() -> Tool:
    """Return a tool without a program."""
    return Tool("none", Path(), "")


def build(tool: Tool, folder: Path) -> str:
    """Return kustomize's output for a folder that only lists files and components."""
    (body,) = parse_manifests((folder / "kustomization.yaml").read_text("utf-8"))
    texts = [(folder / file).read_text("utf-8") for file in body["resources"]]
    texts += [build(tool, folder / each) for each in body.get("components", ())]
    return "\n---\n".join(texts)


def accept(_: Tool, streams: Mapping[str, str], schemas: str, _own: Mapping[str, bytes]) -> Report:
    """Return a report that accepts every object; `verify` itself checks the strict schemas."""
    assert schemas
    objects = sum(len(re.findall(r"^kind:", text, re.MULTILINE)) for text in streams.values())
    return Report(objects, (), (), 0, objects)


class Remembered(Generic[Made]):
    """Does the same work once, since five commands need it.

    Args:
        work: a function.
        key: returns what its result depends on.
    """

    def __init__(self, work: Callable[..., Made], key: Callable[..., object]) -> None:
        self._kept: dict[str, Made] = {}
        self._work = work
        self._key = key

    def __call__(self, *args: Any) -> Made:
        """Return what the function returns."""
        key = repr(self._key(*args))
        made = self._kept.pop(key, None) or self._work(*args)
        self._kept[key] = made
        for old in list(self._kept)[:-_KEPT]:
            del self._kept[old]
        return made


def rendered_from(checked: Checked, *args: Any) -> object:
    """Return what `render` reads; its last argument may be what counts progress."""
    locks = {path: path.read_bytes() for path in sorted(Path().glob("overlays/*/*.lock"))}
    return _contents(checked.profiles), checked.diagnostics, locks, args[:3]


def checked_from(
    profiles: Profiles,
    diagnostics: tuple[Diagnostic, ...],
    today: str = "",
    known: Mapping[str, Source] = NOTHING,
    _proofs: Proofs = UNKNOWN,
) -> object:
    """Return what `check_loaded` reads; its result does not depend on proofs."""
    return _contents(profiles), diagnostics, today, sorted(known)


def _contents(profiles: Profiles) -> dict[str, bytes]:
    return {file: source.content for file, source in profiles.sources().items()}


def make(folder: Path, name: str, label: str) -> Repository:
    """Create an example in a folder."""
    folder.mkdir()
    call = _inside(folder)
    if name.startswith("init"):
        assert not call("init", ".", "--release", SMALL[name]).code
        for team in ("nlp", "vision"):
            assert not call("add", "team", team, "--nodes", "2").code
    else:
        source = REPOSITORY if name == "own" else REPOSITORY / "examples" / name
        shutil.copytree(source / "profiles", folder / "profiles")
    return Repository(folder, call, label)


def _inside(folder: Path) -> Call:
    """Return a function that calls the command line in a folder; bug reports go there too."""

    def call(*args: str) -> Ended:
        kept = tempfile.tempdir
        tempfile.tempdir = str(folder)
        out, err = io.StringIO(), io.StringIO()
        try:
            with (
                contextlib.chdir(folder),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
            ):
                code = run(args)
        finally:
            tempfile.tempdir = kept
        return Ended(code, out.getvalue(), err.getvalue())

    return call
