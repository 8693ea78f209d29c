from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.verify.programs import program
from trainyard.diagnostics import ToolError
from trainyard.verify import tools
from trainyard.verify.tools import find_kubeconform, find_kustomize


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine where Trainyard is installed in ``venv``, nothing else is, and ``work`` is the
    current folder."""
    for variable in ("TRAINYARD_KUSTOMIZE", "TRAINYARD_KUBECONFORM"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "checkout" / ".venv"))
    monkeypatch.setattr(
        tools,
        "__file__",
        str(tmp_path / "source" / "generator" / "trainyard" / "verify" / "tools.py"),
    )
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


@pytest.mark.parametrize(
    "folder", ["source/.tools/bin", "checkout/.tools/bin", "checkout/.venv/bin", "path"]
)
def test_tool_is_found_where_it_is_installed(machine: Path, folder: str) -> None:
    """Beside the code, beside Python or on PATH: the tool is found by its absolute path and
    version."""
    path = program(machine / folder, "kustomize", "echo v5.8.1")
    assert find_kustomize() == tools.Tool("kustomize", path, "v5.8.1")


def test_variable_comes_first(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program in the variable wins over an installed one."""
    program(machine / "path", "kubeconform", "echo v0.7.0")
    named = program(machine / "mine", "kc", "echo v0.7.0")
    monkeypatch.setenv("TRAINYARD_KUBECONFORM", str(named))
    assert find_kubeconform().path == named


def test_variable_that_names_nothing_is_an_error(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong or relative path in the variable is not papered over by another program."""
    program(machine / "path", "kubeconform", "echo v0.7.0")
    program(machine / "work", "kubeconform", "echo v0.7.0")
    for named in (str(machine / "nowhere"), "kubeconform", "./kubeconform"):
        monkeypatch.setenv("TRAINYARD_KUBECONFORM", named)
        with pytest.raises(
            ToolError, match="TRAINYARD_KUBECONFORM names no program by its absolute path"
        ):
            find_kubeconform()


def test_program_of_the_current_folder_is_not_run(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pull request can't bring its own tool, even if PATH has the current folder."""
    for folder in ("work", "work/.tools/bin", ".tools/bin"):
        program(machine / folder, "kustomize", f"touch {machine}/run; echo v5.8.1")
    monkeypatch.setenv("PATH", f":.:../work:{machine}/work:{machine}/work/")
    with pytest.raises(ToolError, match="it was not found; run `make tools`"):
        find_kustomize()
    assert not (machine / "run").exists()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo v5.8.0", "is version 'v5.8.0' instead of v5.8.1"),
        ("echo development", "is version 'development'"),
        ("true", "is version ''"),
        ("exit 2", "does not work: `kustomize version` failed with exit code 2"),
    ],
)
def test_tool_that_is_not_the_pinned_one_is_refused(
    machine: Path, script: str, message: str
) -> None:
    """The error of a broken or other tool shows how to get the right one."""
    program(machine / "path", "kustomize", script)
    with pytest.raises(ToolError, match=f"{message}.*run `make tools`, or set TRAINYARD_KUSTOMIZE"):
        find_kustomize()


def test_hanging_tool_is_refused(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that never prints its version does not block the run."""
    monkeypatch.setattr(tools, "VERSION_TIMEOUT", 0.5)
    program(machine / "path", "kustomize", "sleep 60")
    with pytest.raises(
        ToolError,
        match="does not work: `kustomize version` did not end in time and was stopped; run `make "
        "tools`",
    ):
        find_kustomize()


@pytest.mark.parametrize(
    ("version", "found"), [("v0.7.0", True), ("v0.7.1", False), ("v0.7.00", False)]
)
def test_version_is_read_from_what_the_linker_wrote(
    machine: Path, version: str, found: bool
) -> None:
    """A tool from `go install` prints "development"; the module version inside it counts."""
    line = f"path\tx\nmod\tgithub.com/yannh/kubeconform\t{version}\th1:abc=\ndep\tgithub.com/other\tv0.7.0\th1:x="  # noqa: E501 - one value
    program(machine / "path", "kubeconform", f"echo development; exit\n{line}")
    if found:
        assert find_kubeconform().version == "v0.7.0"
    else:
        with pytest.raises(ToolError, match=r"'development' instead of v0.7.0"):
            find_kubeconform()


def test_missing_tool_is_an_error(machine: Path) -> None:
    """Without the tool the run stops; a file that can't be executed is not a tool."""
    program(machine / "path", "kustomize", "echo v5.8.1").chmod(0o644)
    with pytest.raises(ToolError, match=r"kustomize v5.8.1 is needed, but it was not found"):
        find_kustomize()


def test_wheel_says_which_version_to_get_and_where(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The repository of a platform has no Makefile of ours."""
    monkeypatch.setattr(tools, "_MAKEFILE", machine / "Makefile")
    kept = (Path(__file__).parents[2] / "requirements/install-tools.sh").read_text("utf-8")
    for find, variable in (
        (find_kustomize, "TRAINYARD_KUSTOMIZE"),
        (find_kubeconform, "TRAINYARD_KUBECONFORM"),
    ):
        with pytest.raises(ToolError) as raised:
            find()
        (program,) = re.findall(r"`go install (\S+)`", str(raised.value))

        assert f"go install -trimpath {program}\n" in kept
        assert f"set {variable} to the path of" in str(raised.value)
        assert "make" not in str(raised.value)
