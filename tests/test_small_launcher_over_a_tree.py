"""A small launcher over a committed tree: its place, the runtime, and both reverts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.histories import History, begin

pytestmark = pytest.mark.thorough


def runtimes(history: History) -> dict[str, bytes]:
    """Return the runtimes of the tree, by the name of their file."""
    found = (history.folder / "overlays/lab/platform").glob("clustertrainingruntime-*.yaml")
    return {path.name: path.read_bytes() for path in found}


def test_small_launcher_comes_and_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its place out of `system` changes no runtime; the launcher itself needs a new version."""
    monkeypatch.chdir(tmp_path)
    history = begin(tmp_path, capsys)
    before = runtimes(history)
    (hardware,) = (history.folder / "profiles/hardware").glob("*.yaml")
    (runtime,) = (history.folder / "profiles/runtimes").glob("*.yaml")
    plain, first = hardware.read_text("utf-8"), runtime.read_text("utf-8")

    small = "system: {cpu: 14, memory: 92Gi}\nlauncher: {cores: 1, memory: 4Gi}"
    hardware.write_text(re.sub(r"(?m)^system: .*$", small, plain), "utf-8")
    code, shown = history.trainyard("generate")
    assert (code, runtimes(history)) == (0, before), shown
    history.commit()

    runtime.write_text(first + "launcherPod: small\n", "utf-8")
    code, shown = history.trainyard("generate")
    assert (code, "change/runtime-edited-in-place" in shown) == (1, True), shown
    runtime.write_text(
        first.replace("version: 1", "version: 2", 1) + "launcherPod: small\n", "utf-8"
    )
    code, shown = history.trainyard("generate")
    assert (code, runtimes(history).keys() & before.keys()) == (0, set()), shown
    history.commit()

    runtime.write_text(first, "utf-8")
    hardware.write_text(plain, "utf-8")
    code, shown = history.trainyard("generate")
    assert (code, runtimes(history)) == (0, before), shown
    assert history.trainyard("verify")[0] == 0
