"""What holds for each form alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given

from tests.cli.calls import Ended, edit
from tests.cli.forms.made import findings, many
from tests.cli.forms.readers import commands, document
from trainyard.cli.findings import Findings, text
from trainyard.cli.forms import FORMS, forms_of
from trainyard.diagnostics import Severity

Call = Callable[..., Ended]


@pytest.mark.parametrize("form", ["text", *FORMS])
@given(found=findings)
def test_output_steers_neither_terminal_nor_runner(form: str, found: Findings) -> None:
    """A job prints it, and its runner would obey; the form `github` has annotations only."""
    forms = {"text": lambda: text(found, colour=False), **forms_of("validate", found)}
    output = forms[form]()
    names = {command.name for command in commands(output)}

    assert names <= ({"error", "warning"} if form == "github" else set())
    assert all(char.isprintable() for char in output.replace("\n", ""))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("call", "rule"),
    [
        ("validate", "shape/unknown-key"),
        ("generate", "shape/unknown-key"),
        ("verify", "shape/unknown-key"),
        ("codeowners", "shape/unknown-key"),
        ("fmt --check", "shape/unformatted"),
    ],
)
def test_exit_code_is_the_same_for_every_form(
    call: str, rule: str, form: str, broken: Path, trainyard: Call
) -> None:
    """A script reads the code, whatever is printed."""
    edit(broken / "profiles" / "trainyard.yaml", "format: 1", "format:   1")
    ended = trainyard(*call.split(), "--format", form)

    assert (ended.code, ended.err) == (1, "")
    assert rule in ended.out
    if form == "json":
        assert document(ended.out)["format"] in {call.split(maxsplit=1)[0], "findings"}


@pytest.mark.parametrize("form", FORMS)
def test_form_without_findings_is_not_empty(form: str) -> None:
    """A reader can tell it from a run that failed."""
    assert forms_of("validate", many(0, Severity.ERROR))[form]()


@pytest.mark.usefixtures("broken")
def test_one_run_writes_every_form(broken: Path, trainyard: Call) -> None:
    """CI runs the command once."""
    ended = trainyard("validate", *(f"--format={form}:{form}.out" for form in FORMS))

    assert ended == Ended(1, "", "")
    assert sorted(path.stem for path in broken.glob("*.out")) == sorted(FORMS)
    assert json.loads((broken / "json.out").read_text())["result"]["summary"]["errors"] == 1


def test_hosts_get_paths_from_the_root_of_the_repository(
    broken: Path, trainyard: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A platform may be in a folder of its repository; people get the paths as they named them."""
    (broken / ".git").mkdir()
    (broken / "gpu").mkdir()
    (broken / "profiles").rename(broken / "gpu" / "profiles")
    monkeypatch.chdir(broken / "gpu")
    (finding,) = json.loads(trainyard("validate", "--format", "gitlab").out)
    (run,) = json.loads(trainyard("validate", "--format", "sarif").out)["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]

    assert finding["location"]["path"] == "gpu/profiles/trainyard.yaml"
    assert place["uri"] == "gpu/profiles/trainyard.yaml"
    assert "file=gpu/profiles/trainyard.yaml," in trainyard("validate", "--format", "github").out
    assert " --> profiles/trainyard.yaml:4:1\n" in trainyard("validate").out
