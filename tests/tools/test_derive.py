"""The developer's tool that writes the schemas of a release."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tools import derive
from trainyard.diagnostics import ToolError

CRD = """\
---
spec:
  group: a.example
  names: {kind: Thing, plural: things}
  scope: Cluster
  versions:
  - {name: v1, served: true, schema: {openAPIV3Schema: {properties: {spec: {type: object}}}}}
  - {name: v2, served: false, schema: {openAPIV3Schema: {properties: {}}}}
"""
NOTE = {"group": "", "version": "v1", "kind": "Note"}
OPENAPI = {
    "definitions": {"core.Note": {"properties": {}, "x-kubernetes-group-version-kind": [NOTE]}},
    "paths": {
        "/api/v1/namespaces/{name}": {
            "get": {"x-kubernetes-group-version-kind": {**NOTE, "kind": "Namespace"}}
        },
        "/api/v1/namespaces/{namespace}/notes": {
            "post": {"x-kubernetes-group-version-kind": NOTE},
            "parameters": [],
        },
    },
}
TABLE = """\
crds = [["a.example/module", "crd.yaml", "v1"]]
[core]
module = "k.example/core"
file = "openapi.json"
definitions = ["core.Note"]
"""


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a release of two kinds whose modules lie beside it, and one written by hand."""
    folder, module = tmp_path / "releases" / "test-1", tmp_path / "module"
    (folder / "handwritten" / "b.example").mkdir(parents=True)
    (folder / "handwritten" / "b.example" / "own_v1.json").write_text("{}", encoding="utf-8")
    (folder / "kinds.toml").write_text(TABLE, encoding="utf-8")
    module.mkdir()
    (module / "crd.yaml").write_text(CRD, encoding="utf-8")
    (module / "openapi.json").write_text(json.dumps(OPENAPI), encoding="utf-8")
    parts = [{"Path": path, "Dir": str(module)} for path in ("a.example/module", "k.example/core")]
    answers = {
        "edit": json.dumps(
            {"Require": [{"Path": part["Path"], "Version": "v1.0.0"} for part in parts]}
        ),
        "download": "".join(json.dumps(part, indent="\t") + "\n" for part in parts),
    }
    monkeypatch.setattr(derive, "_RELEASES", tmp_path / "releases")
    monkeypatch.setattr(derive, "_go", lambda _release, *arguments: answers[arguments[1]])
    return folder


def test_derive_names_schemas_as_kubeconform_asks(release: Path) -> None:
    """The path has group, kind and version; the core group is under its version."""
    schemas, _ = derive.derive(release)
    assert list(schemas) == ["a.example/thing_v1.json", "b.example/own_v1.json", "v1/note_v1.json"]
    assert json.loads(schemas["a.example/thing_v1.json"])["properties"]["apiVersion"] == {
        "const": "a.example/v1"
    }
    assert all(content.endswith(b"}\n") for content in schemas.values())


def test_scope_is_that_of_the_source(release: Path) -> None:
    """A CRD has its scope; the specification of Kubernetes shows it only in paths."""
    schemas = {name: json.loads(content) for name, content in derive.derive(release)[0].items()}
    assert schemas["a.example/thing_v1.json"]["properties"]["metadata"]["required"] == ["name"]
    assert schemas["v1/note_v1.json"]["properties"]["metadata"]["required"] == ["name", "namespace"]


def test_plurals_are_those_of_the_source(release: Path) -> None:
    """A CRD names its plural; Kubernetes' specification has it in the path of the kind."""
    _, plurals = derive.derive(release)
    assert plurals == {"Note": "notes", "Thing.a.example": "things"}


def test_derive_refuses_version_that_is_not_served(release: Path) -> None:
    """A version that the API server wouldn't take can't become a schema."""
    (release / "kinds.toml").write_text(TABLE.replace('"v1"]', '"v2"]'), encoding="utf-8")
    with pytest.raises(ToolError, match="doesn't serve v2"):
        derive.derive(release)


def test_check_writes_nothing_and_names_what_differs(
    release: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing, an edited and an extra schema fail the check, and stay as they are."""
    assert derive.main([]) == 0
    folder = release / "schemas"
    (folder / "v1" / "note_v1.json").unlink()
    (folder / "a.example" / "thing_v1.json").write_text("{}", encoding="utf-8")
    (folder / "extra.json").write_text("{}", encoding="utf-8")
    capsys.readouterr()
    assert derive.main(["--check"]) == 1
    names = ("a.example/thing_v1.json", "extra.json", "v1/note_v1.json")
    assert capsys.readouterr().out.split() == [f"test-1/schemas/{name}" for name in names]
    assert not (folder / "v1" / "note_v1.json").exists()


def test_main_makes_folder_exact(release: Path) -> None:
    """Writing replaces files that differ, removes extra ones, and satisfies the check."""
    derive.main([])
    (release / "schemas" / "extra.json").write_text("{}", encoding="utf-8")
    (release / "schemas" / "v1" / "note_v1.json").unlink()
    assert derive.main([]) == 0
    assert derive.main(["--check"]) == 0


def test_go_missing_is_broken_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the Go tool there is no derivation."""
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    with pytest.raises(ToolError, match="needs the Go tool"):
        derive.derive(_with_table(tmp_path))


def test_go_runs_in_release_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Go tool sees the release's own go.mod, and may not be led astray by a workspace."""
    tool = tmp_path / "go"
    tool.write_text("#!/bin/sh\necho $PWD $GOFLAGS $GOWORK $*\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _name: str(tool))
    assert derive._go(tmp_path, "mod", "edit").split() == [
        str(tmp_path),
        "-mod=mod",
        "off",
        "mod",
        "edit",
    ]


def test_go_failure_is_broken_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go's message about a wrong checksum is shown."""
    tool = tmp_path / "go"
    tool.write_text("#!/bin/sh\necho SECURITY ERROR >&2\nexit 1\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _name: str(tool))
    with pytest.raises(ToolError, match="`go mod` failed with exit code 1: SECURITY ERROR"):
        derive.derive(_with_table(tmp_path))


def _with_table(folder: Path) -> Path:
    (folder / "kinds.toml").write_text(TABLE, encoding="utf-8")
    return folder


def committed() -> list[tuple[str, dict[str, Any]]]:
    folder = REPOSITORY / "generator" / "trainyard" / "releases"
    return [
        (path.relative_to(folder).as_posix(), json.loads(path.read_text(encoding="utf-8")))
        for path in sorted(folder.glob("*/schemas/*/*.json"))
    ]


@pytest.mark.parametrize(
    ("name", "schema"), committed(), ids=lambda each: each if isinstance(each, str) else ""
)
def test_committed_schema_is_strict_and_stands_alone(name: str, schema: dict[str, Any]) -> None:
    """Each schema is of one kind, closed, and refers to nothing outside itself."""
    _, _, group, file = name.split("/")
    api_version, kind = (
        schema["properties"]["apiVersion"]["const"],
        schema["properties"]["kind"]["const"],
    )
    assert (group, file) == (
        api_version.split("/")[0],
        f"{kind.lower()}_{api_version.rpartition('/')[2]}.json",
    )
    assert schema["additionalProperties"] is False
    assert {"apiVersion", "kind"} <= set(schema["required"])
    references = [text.split('"')[0] for text in json.dumps(schema).split('"$ref": "')[1:]]
    assert all(reference.startswith("#/definitions/") for reference in references)
