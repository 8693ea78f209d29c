"""Schemas, presets and releases are used as they were shipped, or not at all."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from trainyard.diagnostics import ToolError
from trainyard.model.release import Schemas
from trainyard.profiles.read import PACKAGE, load
from trainyard.schema import manifests, profiles
from trainyard.schema.manifests import check_committed, check_manifest, schema_folder
from trainyard.schema.profiles import profile_schema
from trainyard.shipped import FOLDERS, LIST, digests, shipped

RELEASE = "kubernetes-1.36"
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}
LISTED = {path.parent: "schemas/**/*.json" for path in PACKAGE.glob("releases/*/release.yaml")}
LISTED |= {PACKAGE / folder: pattern for folder, pattern in FOLDERS.items()}


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Schemas are read once in a process; each test reads them anew."""
    caches = (profile_schema, manifests._schema, manifests._committed)
    for each in caches:
        each.cache_clear()
    yield
    for each in caches:
        each.cache_clear()


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the shipped files that Trainyard uses in place of its own."""
    for folder in ("schema", "presets", "releases"):
        shutil.copytree(PACKAGE / folder, tmp_path / folder)
    monkeypatch.setattr("trainyard.profiles.read.PACKAGE", tmp_path)
    monkeypatch.setattr(manifests, "_HERE", tmp_path / "schema")
    monkeypatch.setattr(manifests, "_RELEASES", tmp_path / "releases")
    monkeypatch.setattr(profiles, "_FOLDER", tmp_path / "schema")
    return tmp_path


def _empty(file: Path) -> None:
    file.write_text("{}", encoding="utf-8")


def _garble(file: Path) -> None:
    file.write_bytes(b"\xff")


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize("spoil", [_empty, _garble, Path.unlink, _folder])
@pytest.mark.parametrize(
    ("file", "use"),
    [
        (
            f"releases/{RELEASE}/schemas/v1/namespace_v1.json",
            lambda: list(check_manifest(Schemas(RELEASE), NAMESPACE)),
        ),
        (f"releases/{RELEASE}/schemas/v1/configmap_v1.json", lambda: schema_folder(RELEASE)),
        (f"releases/{RELEASE}/{LIST}", lambda: schema_folder(RELEASE)),
        ("schema/team.schema.json", lambda: profile_schema("team")),
        ("schema/committed.json", lambda: check_committed(NAMESPACE)),
        (f"schema/{LIST}", lambda: profile_schema("team")),
        ("presets/cpu-node.yaml", lambda: load(Path("profiles"))),
        (f"releases/{RELEASE}/plurals.yaml", lambda: load(Path("profiles"))),
        (f"releases/{RELEASE}/release.yaml", lambda: load(Path("profiles"))),
        (f"releases/{LIST}", lambda: load(Path("profiles"))),
    ],
)
def test_changed_file_is_refused(
    file: str, use: Callable[[], object], spoil: Callable[[Path], None], installation: Path
) -> None:
    """A shipped file or list that is missing or was replaced is named, be it read by us or by
    kubeconform."""
    spoil(installation / file)

    with pytest.raises(ToolError, match="reinstall Trainyard") as raised:
        use()
    assert str((installation / file).parent) in str(raised.value)


def test_schema_that_is_not_listed_is_refused(installation: Path) -> None:
    """A kind that was not shipped is not accepted because somebody added a schema for it."""
    _empty(installation / "releases" / RELEASE / "schemas" / "v1" / "pod_v1.json")

    with pytest.raises(ToolError, match=r"pod_v1\.json is not what was shipped"):
        schema_folder(RELEASE)


@pytest.mark.parametrize(
    ("folder", "pattern"), LISTED.items(), ids=lambda each: getattr(each, "name", "")
)
def test_list_is_that_of_the_files(folder: Path, pattern: str) -> None:
    """Each shipped file has its digest in the list, which `sha256sum --check` takes."""
    assert (folder / LIST).read_bytes() == digests(folder, pattern)
    assert len(shipped(folder, pattern)) == len((folder / LIST).read_text().splitlines())
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", LIST], cwd=folder, check=True)
