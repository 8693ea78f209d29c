"""The SDK of each release: pinned with its hashes, and installed once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rehearsal.control_plane.test_components import MODULES, RELEASES
from trainyard.diagnostics import ToolError
from trainyard.profiles.read import releases
from trainyard_rehearsal.control_plane import sdk


def version(release: str) -> str:
    """Return the SDK that a release names."""
    return str(releases()[release].value["sdk"])


@pytest.mark.parametrize("release", RELEASES)
def test_all_that_the_sdk_of_a_release_needs_is_pinned(release: str) -> None:
    text = (MODULES / f"kubeflow-{version(release)}" / "requirements.txt").read_text("utf-8")
    pinned = text.replace("\\\n", "").splitlines()
    assert any(line.startswith(f"kubeflow=={version(release)} ") for line in pinned)
    assert all("--hash=sha256:" in line for line in pinned if line and not line.startswith("#"))


def test_no_other_sdk_is_pinned() -> None:
    found = {path.name.removeprefix("kubeflow-") for path in MODULES.glob("kubeflow-*")}
    assert found == {version(release) for release in RELEASES}


def test_missing_sdk_is_named_with_the_command_that_installs_it(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"kubeflow .* is not installed yet; run `trainyard"):
        sdk.find_sdk(version(RELEASES[0]), tmp_path)


def test_installed_sdk_is_not_installed_again(tmp_path: Path) -> None:
    wanted = version(RELEASES[0])
    said: list[str] = []
    folder = sdk._folder(wanted, tmp_path)
    folder.mkdir(parents=True)
    sdk.fetch_sdk(wanted, tmp_path, said.append)
    assert said == []
    assert sdk.find_sdk(wanted, tmp_path) == folder
