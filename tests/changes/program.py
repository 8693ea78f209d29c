"""The command line inside this process, without the two programs of `verify`, and its examples."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import tempfile
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from tests.changes.repository import Call, Repository
from tests.cli.calls import Ended, edit
from trainyard.cli.main import run
from trainyard.verify.kubeconform import Report
from trainyard.verify.tools import Tool
from trainyard.workflows import generate as workflow
from trainyard.workflows.generate import Checked, Generation
from trainyard.yaml_io.manifests import parse_manifests

REPOSITORY = Path(__file__).resolve().parents[2]
SMALL = {
    "init": "openshift-ai-3.5",
    "two-generations": "openshift-ai-3.5",
    "init-kubernetes": "kubernetes-1.36",
}
"""Examples with a cluster of one release, by name."""

EXAMPLES = (*SMALL, "own")
_KEPT = 12


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


def accept(_: Tool, streams: Mapping[str, str], schemas: str) -> Report:
    """Return a report that accepts every object; `verify` itself checks the strict schemas."""
    assert schemas
    objects = sum(len(re.findall(r"^kind:", text, re.MULTILINE)) for text in streams.values())
    return Report(objects, (), (), 0, objects)


class Remembered:
    """Generates once for the same profiles and lockfiles, since five commands need one tree."""

    def __init__(self) -> None:
        self._kept: dict[str, Generation] = {}
        self._render = workflow.render

    def __call__(self, checked: Checked, *args: Any) -> Generation:
        """Render as `workflows.generate.render`; the last argument may be what counts progress."""
        read = {file: source.content for file, source in checked.profiles.sources().items()}
        locks = {path: path.read_bytes() for path in sorted(Path().glob("overlays/*/*.lock"))}
        key = repr((read, checked.diagnostics, locks, args[:3]))
        generation = self._kept.pop(key, None) or self._render(checked, *args)
        self._kept[key] = generation
        for old in list(self._kept)[:-_KEPT]:
            del self._kept[old]
        return generation


def make(folder: Path, name: str, label: str) -> Repository:
    """Create an example in a folder."""
    folder.mkdir()
    call = _inside(folder)
    if name.startswith("init"):
        assert not call("init", ".").code
        edit(
            folder / "profiles" / "clusters" / "lab.yaml",
            f"release: {SMALL['init']}",
            f"release: {SMALL[name]}",
        )
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
