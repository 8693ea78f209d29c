"""The evaluator in a wheel: pip installs it, and `fit` and `doctor` find it."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tools.evaluator_wheel import PLATFORMS, main, pack
from trainyard.golang import find_program, installed_name
from trainyard_jobs.admission.evaluator import SOURCE, build, is_built

HERE = next(name for name, processor in PLATFORMS.items() if processor == "amd64")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an environment with the wheel of a program that prints, and no cache beside it."""
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho judged\n", "utf-8")
    wheel = pack(program, HERE, tmp_path)
    target = tmp_path / "environment"
    venv.create(target, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(target / "bin" / "python")]
    options = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([*pip, *options], check=True)
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "prefix", str(target))
    return target


def test_installed_program_is_found_and_runs(installed: Path) -> None:
    found = find_program(SOURCE)

    assert found == installed / "bin" / installed_name(SOURCE)
    assert is_built()
    assert build() == found
    assert subprocess.run([str(found)], capture_output=True, check=True).stdout == b"judged\n"


def test_program_of_another_source_is_not_taken(installed: Path) -> None:
    """As after an update of Trainyard alone."""
    program = installed / "bin" / installed_name(SOURCE)
    program.rename(program.with_name("trainyard-evaluator-000000000000"))

    assert not is_built()


def test_wheel_is_the_same_each_time(tmp_path: Path) -> None:
    (tmp_path / "program").write_bytes(b"x")
    first = pack(tmp_path / "program", HERE, tmp_path).read_bytes()

    assert pack(tmp_path / "program", HERE, tmp_path).read_bytes() == first


@pytest.mark.thorough
def test_program_is_built_and_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For this platform: Go compiles for another one for minutes, as the release does."""
    monkeypatch.setattr("tools.evaluator_wheel.PLATFORMS", {HERE: PLATFORMS[HERE]})

    assert main([str(tmp_path)]) == 0

    (wheel,) = tmp_path.iterdir()
    assert wheel.name.endswith(f"{HERE}.whl")
