from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.programs import program
from trainyard.diagnostics import ToolError
from trainyard.verify.kustomize import Refusal, build
from trainyard.verify.tools import Tool, find_kustomize


@pytest.fixture(scope="module")
def kustomize() -> Tool:
    """The real kustomize, as `make tools` installs it."""
    return find_kustomize()


def _unit(folder: Path, *resources: str) -> Path:
    lines = "".join(f'  - "{resource}"\n' for resource in resources)
    (folder / "kustomization.yaml").write_text(f"resources:\n{lines}", encoding="utf-8")
    (folder / "a.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", encoding="utf-8"
    )
    return folder


def test_unit_is_built(kustomize: Tool, tmp_path: Path) -> None:
    """A folder's objects come back as one stream."""
    assert (
        build(kustomize, _unit(tmp_path, "a.yaml"))
        == "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
    )


def test_unit_that_does_not_build_is_reported_without_this_machine(
    kustomize: Tool, tmp_path: Path
) -> None:
    """The refusal names the missing file without the path of the checkout."""
    refusal = build(kustomize, _unit(tmp_path, "b.yaml"))
    assert isinstance(refusal, Refusal)
    assert "b.yaml" in refusal.message
    assert str(tmp_path) not in refusal.message


@pytest.mark.parametrize(
    "resource",
    ["http://192.0.2.1/x.yaml", "https://example.com/a/b//c?ref=main", "git@example.com:a/b.git"],
)
def test_nothing_is_fetched(kustomize: Tool, tmp_path: Path, resource: str) -> None:
    """A smuggled remote resource is refused at once, with no connection and no git."""
    assert isinstance(build(kustomize, _unit(tmp_path, resource), timeout=5), Refusal)


def test_crash_is_an_error(tmp_path: Path) -> None:
    """A kustomize that panics is not taken for one that refuses."""
    tool = Tool(
        "kustomize", program(tmp_path, "kustomize", "echo 'panic: x' >&2; exit 2"), "v5.8.1"
    )
    with pytest.raises(ToolError, match="exit code 2: panic: x"):
        build(tool, tmp_path)
