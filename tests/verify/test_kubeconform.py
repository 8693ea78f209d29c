from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.verify.programs import program
from trainyard.diagnostics import ToolError
from trainyard.verify.kubeconform import Finding, Report, validate
from trainyard.verify.tools import Tool, find_kubeconform

_GOOD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\n"
_BAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\nx: 1\ndata: {a: 1}\n"


@pytest.fixture(scope="module")
def kubeconform() -> Tool:
    """The real kubeconform, as `make tools` installs it."""
    return find_kubeconform()


@pytest.fixture
def schemas(tmp_path: Path) -> str:
    """A release with one schema, of ConfigMap."""
    properties = {
        "apiVersion": {},
        "kind": {},
        "metadata": {},
        "data": {"additionalProperties": {"type": "string"}},
    }
    schema = {"type": "object", "additionalProperties": False, "properties": properties}
    (tmp_path / "configmap_v1.json").write_text(json.dumps(schema), encoding="utf-8")
    return f"{tmp_path}/{{{{.ResourceKind}}}}_{{{{.ResourceAPIVersion}}}}.json"


def test_good_objects_are_counted(kubeconform: Tool, schemas: str) -> None:
    """All objects of all streams are valid, empty documents are none."""
    streams = {
        "teams/a": f"{_GOOD}---\n{_GOOD}",
        "teams/b": f"---\n{_GOOD}---\n# nothing\n",
        "teams/c": "",
    }
    assert validate(kubeconform, streams, schemas) == Report(
        valid=3, invalid=(), errors=(), skipped=0, total=3
    )


def test_no_stream_is_no_object(kubeconform: Tool, schemas: str) -> None:
    """Nothing to check is a report of nothing, which the caller compares with what it wrote."""
    assert validate(kubeconform, {}, schemas).total == 0


def test_mistakes_are_reported_with_stream_and_place(kubeconform: Tool, schemas: str) -> None:
    """Each mistake of an object is a finding of its own, under the name of its stream."""
    report = validate(kubeconform, {"teams/b": _BAD, "teams/a": _GOOD}, schemas)
    assert (report.valid, report.total) == (1, 2)
    assert report.invalid == (
        Finding("teams/b", "ConfigMap", "bad", "v1", "", "additional properties 'x' not allowed"),
        Finding("teams/b", "ConfigMap", "bad", "v1", "/data/a", "got number, want string"),
    )


def test_object_without_schema_is_an_error_and_never_skipped(
    kubeconform: Tool, schemas: str
) -> None:
    """A kind that the release does not know, and text that is not YAML, are errors."""
    report = validate(kubeconform, {"u": _GOOD.replace("ConfigMap", "Unknown"), "v": "{["}, schemas)
    assert [(finding.stream, finding.kind) for finding in report.errors] == [
        ("u", "Unknown"),
        ("v", ""),
    ]
    assert report.errors[0].message == "could not find schema for Unknown"
    assert (report.valid, report.skipped, report.total) == (0, 0, 2)


def test_many_documents_keep_their_names(kubeconform: Tool, schemas: str) -> None:
    """Hundreds of documents are checked in one process without mixing their texts."""
    streams = {f"u{n}": "---\n".join([_BAD.replace("bad", f"bad-{n}")] * 20) for n in range(30)}
    report = validate(kubeconform, streams, schemas)
    assert report.total == 600
    assert {(finding.stream, finding.name) for finding in report.invalid} == {
        (f"u{n}", f"bad-{n}") for n in range(30)
    }


@pytest.mark.parametrize(
    "schemas", ["default", "https://example.com/{{.ResourceKind}}.json", "schemas/x.json", "/s"]
)
def test_schemas_from_elsewhere_are_refused(tmp_path: Path, schemas: str) -> None:
    """Schemas are local files by absolute path: never the network, never kubeconform's default."""
    with pytest.raises(ToolError, match="must be local files"):
        validate(Tool("kubeconform", tmp_path / "unused", ""), {}, schemas)


def _result(**change: object) -> str:
    result = {
        "filename": "000000.yaml",
        "kind": "K",
        "name": "n",
        "version": "v1",
        "status": "statusValid",
        "msg": "",
    }
    summary = {"valid": 1, "invalid": 0, "errors": 0, "skipped": 0}
    return json.dumps({"resources": [{**result, **change}], "summary": summary})


@pytest.mark.parametrize(
    "message",
    [
        "",
        "garbage",
        _result()[:60],
        "[]",
        "null",
        '{"resources": null, "summary": {}}',
        '{"resources": []}',
        '{"resources": [], "summary": {"valid": 1, "invalid": 0, "errors": 0, "skipped": 0}}',
        _result(status="statusInvalid"),
        _result(status="statusNew"),
        "[" * 99_999,
    ],
)
@pytest.mark.parametrize("code", [0, 1])
def test_unreadable_report_is_an_error(tmp_path: Path, message: str, code: int) -> None:
    """Empty, cut, foreign or contradictory output never passes for a report."""
    (tmp_path / "message").write_text(message, encoding="utf-8")
    tool = Tool(
        "kubeconform",
        program(tmp_path, "kubeconform", f"cat {tmp_path}/message; exit {code}"),
        "v0.7.0",
    )
    with pytest.raises(ToolError, match="kubeconform printed no report that can be read"):
        validate(tool, {"u": _GOOD}, "/s.json")


@pytest.mark.parametrize(
    "change", [{"filename": "/etc/x.yaml", "status": "statusInvalid"}, {"kind": None}]
)
def test_verdict_that_contradicts_the_exit_code_is_an_error(
    tmp_path: Path, change: dict[str, object]
) -> None:
    """All valid and exit code 1, or a result of a file not handed over, is not a report."""
    (tmp_path / "message").write_text(_result(**change), encoding="utf-8")
    tool = Tool(
        "kubeconform", program(tmp_path, "kubeconform", f"cat {tmp_path}/message; exit 1"), "v0.7.0"
    )
    with pytest.raises(ToolError, match="printed no report"):
        validate(tool, {"u": _GOOD}, "/s.json")


def test_panic_is_an_error(tmp_path: Path) -> None:
    """A kubeconform that panics (exit code 2, no JSON) ends the run with its last words."""
    tool = Tool(
        "kubeconform", program(tmp_path, "kubeconform", "echo 'goroutine 1' >&2; exit 2"), "v0.7.0"
    )
    with pytest.raises(ToolError, match="exit code 2: goroutine 1"):
        validate(tool, {"u": _GOOD}, "/s.json")
