"""The developer's tool that writes the schemas of a release."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tools import derive
from trainyard import golang, programs
from trainyard.derivation.derive import path_of
from trainyard.derivation.source import Gvk
from trainyard.diagnostics import ToolError
from trainyard.profiles.read import PACKAGE
from trainyard.schema.manifests import schema_folder

RELEASES = sorted(path.parent.name for path in PACKAGE.glob("releases/*/release.yaml"))

CRD = """\
---
spec:
  group: a.example
  names:
    kind: Thing
    plural: things
  scope: Cluster
  versions:
  - {name: v1, served: true, schema: {openAPIV3Schema: {properties: {spec: {type: object}}}}}
  - {name: v2, served: false, schema: {openAPIV3Schema: {properties: {}}}}
"""
OWN = {"x-plural": "owners", "properties": {"kind": {"const": "Own"}}}
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
"a.example/module" = ["crds/*.yaml"]
"not.example/module-of-this-release" = ["*.yaml"]
"""
THING, NOTE_KIND = ("a.example", "v1", "Thing"), ("", "v1", "Note")
KINDS = {THING, NOTE_KIND, ("b.example", "v1", "Own")}


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a release of two kinds whose modules lie beside it, and one written by hand."""
    folder, module = tmp_path / "releases" / "test-1", tmp_path / "module"
    folder.mkdir(parents=True)
    (folder / "release.yaml").touch()
    for name in (
        "b.example/own_v1.json",
        "b.example/other_v1.json",
        "kustomize.config.k8s.io/a_v1.json",
    ):
        own = folder.parent / "handwritten" / name
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(json.dumps(OWN), encoding="utf-8")
    (folder.parent / "crds.toml").write_text(TABLE, encoding="utf-8")
    (module / "crds").mkdir(parents=True)
    (module / "crds" / "thing.yaml").write_text(CRD, encoding="utf-8")
    specification = module / "api" / "openapi-spec" / "swagger.json"
    specification.parent.mkdir(parents=True)
    specification.write_text(json.dumps(OPENAPI), encoding="utf-8")
    paths = ("a.example/module", "k8s.io/kubernetes")
    parts = [{"Path": path, "Dir": str(module)} for path in paths]
    answers = {
        "edit": json.dumps(
            {"Require": [{"Path": part["Path"], "Version": "v1.0.0"} for part in parts]}
        ),
        "download": "".join(json.dumps(part, indent="\t") + "\n" for part in parts),
    }
    monkeypatch.setattr(derive, "_RELEASES", tmp_path / "releases")
    monkeypatch.setattr(derive, "kinds", lambda _release: KINDS)
    monkeypatch.setattr(programs, "find", lambda _name: Path("go"))
    monkeypatch.setattr(golang, "run_go", lambda _go, _folder, *words: answers[words[1]])
    return folder


def test_derive_names_schemas_as_kubeconform_asks(release: Path) -> None:
    """The path has group, kind and version; the core group is under its version."""
    schemas = derive.derive(release, KINDS).schemas
    assert list(schemas) == [
        "a.example/thing_v1.json",
        "b.example/own_v1.json",
        "kustomize.config.k8s.io/a_v1.json",
        "v1/note_v1.json",
    ]
    assert json.loads(schemas["a.example/thing_v1.json"])["properties"]["apiVersion"] == {
        "const": "a.example/v1"
    }
    assert all(content.endswith(b"}\n") for content in schemas.values())


def test_scope_is_that_of_the_source(release: Path) -> None:
    """A CRD has its scope; the specification of Kubernetes shows it only in paths."""
    derived = derive.derive(release, KINDS)
    schemas = {name: json.loads(content) for name, content in derived.schemas.items()}
    assert schemas["a.example/thing_v1.json"]["properties"]["metadata"]["required"] == ["name"]
    assert schemas["v1/note_v1.json"]["properties"]["metadata"]["required"] == ["name", "namespace"]


def test_plurals_are_those_of_the_source(release: Path) -> None:
    """A CRD names its plural, Kubernetes' specification has it in the path of the kind, and a
    handwritten schema in a keyword that is not part of what is shipped."""
    derived = derive.derive(release, KINDS)
    assert derived.plurals == {
        "Note": "notes",
        "Own.b.example": "owners",
        "Own.kustomize.config.k8s.io": "owners",
        "Thing.a.example": "things",
    }
    assert b"owners" not in derived.schemas["b.example/own_v1.json"]


def test_crds_are_files_of_modules(release: Path) -> None:
    """The rehearsal serves them; kinds of Kubernetes itself have none."""
    assert derive.derive(release, KINDS).crds == [("a.example/module", "crds/thing.yaml")]


def test_kind_that_is_written_by_hand_has_no_other_source(release: Path) -> None:
    derived = derive.derive(release, {("b.example", "v1", "Own")})
    assert "b.example/own_v1.json" in derived.schemas
    assert derived.crds == []


@pytest.mark.parametrize(
    "gvk",
    [("a.example", "v2", "Thing"), ("a.example", "v1", "Other"), ("", "v2", "Note")],
    ids=["not-served", "no-such-kind", "no-such-version"],
)
def test_kind_without_a_source_is_refused(release: Path, gvk: Gvk) -> None:
    """A version that the API server wouldn't take can't become a schema."""
    with pytest.raises(ToolError, match=rf"{gvk[2]}.* is served by no file"):
        derive.derive(release, {gvk})


def test_kind_of_two_files_is_refused(release: Path) -> None:
    """A module may ship another CRD of a kind for other feature gates."""
    module = release.parents[1] / "module"
    shutil.copy(module / "crds" / "thing.yaml", module / "crds" / "thing-preview.yaml")
    with pytest.raises(ToolError, match=r"Thing.* is served by .*preview.*thing.yaml"):
        derive.derive(release, KINDS)


@pytest.mark.parametrize("release", RELEASES)
def test_schemas_are_those_of_the_kinds_that_are_written(release: str) -> None:
    """Every template of a release has its schema, and no other kind has one but Kustomize's."""
    folder = schema_folder(release)
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*.json")}
    found = {path for path in found if not path.startswith("kustomize")}

    assert found == {path_of(gvk) for gvk in derive.kinds(folder.parent)}


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
    monkeypatch.setattr(programs, "find", lambda _name: None)
    with pytest.raises(ToolError, match="needs the Go tool"):
        derive.derive(tmp_path, KINDS)


def test_go_runs_in_release_folder(tmp_path: Path) -> None:
    """The Go tool sees the release's own go.mod, and may not be led astray by a workspace."""
    tool = tmp_path / "go"
    tool.write_text("#!/bin/sh\necho $PWD $GOWORK $*\n", encoding="utf-8")
    tool.chmod(0o755)
    assert golang.run_go(tool, tmp_path, "mod", "edit").split() == [
        str(tmp_path),
        "off",
        "mod",
        "edit",
    ]


def test_go_failure_is_broken_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go's message about a wrong checksum is shown."""
    tool = tmp_path / "go"
    tool.write_text("#!/bin/sh\necho SECURITY ERROR >&2\nexit 1\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setattr(programs, "find", lambda _name: tool)
    with pytest.raises(ToolError, match="`go mod` failed with exit code 1: SECURITY ERROR"):
        derive.derive(tmp_path, KINDS)


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
