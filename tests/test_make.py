"""Recipes of the Makefile that do more than call one program."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

pytestmark = pytest.mark.thorough

_REHEARSAL = """\
import pathlib, signal, sys, time
signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
if "--build" not in sys.argv:
    pathlib.Path("began").touch()
    time.sleep(60)
"""
_TESTS = "import pathlib; pathlib.Path('tested').touch()"
_SCENARIOS = """
import pytest

@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("i", range(4))
def test_scenario(i):
    pass
"""


def test_interrupted_rehearsal_starts_no_tests(tmp_path: Path) -> None:
    """Ctrl-C ends all of `make e2e`, though the rehearsal itself exits with a code like any
    failure."""
    folder = tmp_path / ".venv" / "bin"
    folder.mkdir(parents=True)
    for name, program in (("python", ""), ("trainyard", _REHEARSAL), ("pytest", _TESTS)):
        (folder / name).write_text(f"#!{sys.executable}\n{program}", encoding="utf-8")
        (folder / name).chmod(0o755)
    # A shell in the background starts its programs with SIGINT ignored, and no `trap` changes that.
    make = ["make", "--file", str(REPOSITORY / "Makefile"), "--assume-old", "venv", "e2e"]
    command = ["env", "--default-signal=INT", *make]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            while not (tmp_path / "began").exists() and process.poll() is None:
                time.sleep(0.02)
            os.killpg(process.pid, signal.SIGINT)
            said, _ = process.communicate()
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode
    assert (tmp_path / "began").exists(), said
    assert not (tmp_path / "tested").exists(), said


def test_scenarios_of_a_group_have_one_worker(tmp_path: Path) -> None:
    """A control plane is started once, and no two MPI jobs spin on the same cores."""
    (tmp_path / "test_scenarios.py").write_text(_SCENARIOS, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "2",
        "--dist",
        "loadgroup",
        "--no-loadscope-reorder",
        "--verbose",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)

    assert len(set(re.findall(r"\[(gw\d)\] .* PASSED", done.stdout))) == 1, done.stdout
