from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended
from trainyard import __version__
from trainyard.cli.commands import doctor
from trainyard.diagnostics import ToolError
from trainyard.profiles.read import PACKAGE

Call = Callable[..., Ended]


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("built", [True, False])
def test_all_is_well(trainyard: Call, monkeypatch: pytest.MonkeyPatch, *, built: bool) -> None:
    """Versions, number of schemas, state of the profiles; nobody needs the evaluator."""
    monkeypatch.setattr("trainyard_jobs.admission.evaluator.is_built", lambda: built)
    ended = trainyard("doctor")
    rows = dict(line.split("  ", 1) for line in ended.out.splitlines())
    reported = {name: state.strip() for name, state in rows.items()}

    assert (ended.code, ended.err) == (0, "")
    assert reported.pop("evaluator").startswith("built" if built else "not built")
    assert reported.pop("profiles").endswith(" profiles")
    for release in PACKAGE.glob("releases/*/release.yaml"):
        assert int(reported.pop(f"release {release.parent.name}").removesuffix(" schemas")) > 30
    assert reported == {
        "trainyard": __version__,
        "python": platform.python_version(),
        "kustomize": "v5.8.1",
        "kubeconform": "v0.7.0",
    }


@pytest.mark.usefixtures("here")
def test_missing_tool_has_its_exit_code(trainyard: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """The missing tool is shown with the way to get it, beside all other parts."""
    monkeypatch.setenv("TRAINYARD_KUSTOMIZE", "/nowhere/kustomize")
    ended = trainyard("doctor")

    assert ended.code == 4
    assert (
        "\nkustomize                 error: kustomize v5.8.1 is needed, but TRAINYARD_KUSTOMIZE "
        "names no" in ended.out
    )
    assert "there is no folder profiles; `trainyard init` makes one" in ended.out


@pytest.mark.usefixtures("here")
def test_release_without_schemas_is_broken(
    trainyard: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installation that lost its schemas is not a working one."""

    def fail(release: str) -> Path:
        raise ToolError(f"no {release}")

    monkeypatch.setattr(doctor, "schema_folder", fail)
    ended = trainyard("doctor", "--format", "json")
    broken = [part for part in json.loads(ended.out)["result"]["parts"] if not part["works"]]

    assert ended.code == 4
    assert {
        "name": "release openshift-ai-3.5",
        "state": "no openshift-ai-3.5",
        "works": False,
    } in broken


def test_release_that_was_replaced_is_broken(
    trainyard: Call, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other parts are still shown; a command that reads profiles has the same exit code."""
    (here / "profiles" / "teams").mkdir(parents=True)
    (here / "profiles" / "teams" / "blue.yaml").write_text("nodes: 1\n", encoding="utf-8")
    shutil.copytree(PACKAGE / "presets", here / "presets")
    shutil.copytree(PACKAGE / "releases", here / "releases")
    (here / "releases" / "kubernetes-1.36" / "release.yaml").write_text("{}", encoding="utf-8")
    monkeypatch.setattr("trainyard.profiles.read.PACKAGE", here)
    ended = trainyard("doctor")

    assert ended.code == 4
    assert "release.yaml is not what was shipped; reinstall Trainyard" in ended.out
    assert "\npython " in ended.out
    assert trainyard("validate").code == 4
