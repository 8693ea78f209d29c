"""What commands print as JSON: one envelope, one spelling, and a published schema for each."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from tests.cli.calls import REPOSITORY, Ended, commands, edit
from tests.histories import History
from trainyard.cli.app import app
from trainyard.cli.formats import OutputType
from trainyard.diagnostics import Pointer
from trainyard.generation.generate import generate
from trainyard.schema.published import VERSION, document_kinds, document_schema
from trainyard_rehearsal import command as rehearse
from trainyard_rehearsal.outcome import Failure, Outcome
from trainyard_rehearsal.tasks import Rehearsal

Call = Callable[..., Ended]
_JOB = str(REPOSITORY / "overlays/prod-east/samples/nlp/openmpi-cuda.yaml")
_DUMP = str(REPOSITORY / "overlays/lab/teams/nlp/namespace-team-nlp.yaml")
_CALLS: dict[str, list[list[str]]] = {
    "capacity": [["--cost"], []],
    "codeowners": [["--check"], []],
    "diff": [[]],
    "doctor": [[]],
    "drift": [["lab", "--from", _DUMP]],
    "facts": [
        ["lab", "--from", str(REPOSITORY / "overlays/lab/teams/nlp/namespace-team-nlp.yaml")]
    ],
    "fit": [[_JOB, "--cluster", "prod-east"]],
    "fmt": [["--check"], []],
    "generate": [["--check"], ["--dry-run"]],
    "preflight": [["lab", "--from", _DUMP]],
    "rehearse": [[]],
    "release diff": [["kubernetes-1.34", "kubernetes-1.36"], ["kubernetes-1.36"] * 2],
    "release show": [["openshift-ai-3.5"]],
    "rules": [[]],
    "show": [["nlp"]],
    "cutover": [["lab"]],
    "upgrade": [["prod-east", "--to", "openshift-ai-3.4"], ["lab", "--to", "kubernetes-1.34"]],
    "validate": [[]],
    "verify": [[]],
}
"""Arguments of each command that writes JSON; further ones if its result has several forms."""


_KINDS = {
    "capacity": ["capacity", "cost"],
    "drift": ["drift", "findings"],
    "preflight": ["findings", "preflight"],
    "release diff": ["releasediff"],
    "release show": ["release"],
    "validate": ["findings"],
}
"""Schemas of a command's results, where they are not named after it."""


def _writes_json() -> set[str]:
    return {
        name
        for name, command in commands(app)
        for parameter in command.params
        if isinstance(parameter.type, OutputType) and "json" in parameter.type.forms
    }


def test_each_command_that_writes_json_is_called_here() -> None:
    """Another test that names commands by hand would miss the next one."""
    assert _writes_json() == set(_CALLS)


def _objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if "object" in schema.get("type", ()):
            yield schema
        for part in schema.values():
            yield from _objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _objects(part)


@pytest.mark.parametrize("kind", document_kinds())
def test_schema_is_closed_and_spelled_as_kubernetes(kind: str) -> None:
    """What follows it has no other spelling; only keys that are names are free."""
    schema = document_schema(kind)
    Draft7Validator.check_schema(schema)
    assert list(schema["properties"]) == ["format", "version", "result"]
    for each in _objects(schema):
        free = each["additionalProperties"]
        names = each.get("properties", {})
        assert (free is False and names) or (isinstance(free, dict) and not names), each
        assert [name for name in names if not re.fullmatch("[a-z]+([A-Z][a-z]*)*", name)] == []
        assert set(each.get("required", ())) == set(names), each


def _need_form(ended: Ended, *kinds: str) -> None:
    written = json.loads(ended.out)
    assert list(written) == ["format", "version", "result"]
    assert written["format"] in kinds
    assert written["version"] == VERSION
    Draft7Validator(document_schema(written["format"])).validate(written)


@pytest.fixture
def changed(tree: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A committed platform whose profiles have findings and changes of many kinds since."""
    history = History(tree, capsys)
    history.git("init", "--quiet", "--initial-branch=main")
    history.git("add", "--all")
    history.git("commit", "--quiet", "--message=base")
    edit(tree / "profiles/teams/nlp.yaml", "nlp-guests", "nlp-visitors")
    edit(tree / "profiles/teams/vision.yaml", "nodes: 4", "nodes:  3")
    edit(tree / "profiles/clusters/prod-east.yaml", "nodeHour: 96 USD", "nodeHour: 97 USD")
    return tree


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "arguments"), [(name, arguments) for name in _CALLS for arguments in _CALLS[name]]
)
def test_output_follows_the_schema_that_it_names(
    name: str,
    arguments: list[str],
    changed: Path,
    trainyard: Call,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failure = Failure("job", "not admitted", Pointer("profiles/teams/nlp.yaml"))
    outcomes: dict[str, tuple[Outcome, ...]] = {"lab": (Outcome("jobs run", 1, 2, (failure,)),)}
    generation = generate(changed / "profiles", "overlays")
    rehearsal = Rehearsal(generation, generation.diagnostics, outcomes)
    monkeypatch.setattr(rehearse, "rehearse", lambda *_: rehearsal)
    ended = trainyard(*name.split(), *arguments, "--format", "json")
    kinds = _KINDS.get(name, [name])
    _need_form(ended, *kinds)


@pytest.mark.parametrize("name", ["capacity", "fit", "generate", "show", "validate"])
def test_findings_alone_have_the_same_envelope(
    name: str, repository: Path, trainyard: Call
) -> None:
    """A profile has an unknown key, so there is no platform to speak of."""
    edit(repository / "profiles/teams/nlp.yaml", "contact:", "contct:")
    shutil.copytree(REPOSITORY / "overlays", repository / "overlays")
    ended = trainyard(name, *_CALLS[name][0], "--format", "json")
    assert ended.code == 1
    _need_form(ended, name, "findings")
    assert json.loads(ended.out)["result"]["summary"]["errors"] > 0
