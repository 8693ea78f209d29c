from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended

Call = Callable[..., Ended]

TEXT = """\
error[shape/unknown-key]: unknown key `brunch`
 --> {folder}/trainyard.yaml:4:1
  |
4 | brunch: main
  | ^^^^^^
  = if merged: A misspelt key would be ignored, and its default silently used.
  = help: did you mean `branch`?

1 error in 1 profile
"""


@pytest.mark.usefixtures("broken")
def test_finding_is_shown_where_it_stands(trainyard: Call) -> None:
    """Rule, message, place, line with caret, consequence and help, then the sum; all of it on
    stdout."""
    assert trainyard("validate") == Ended(1, TEXT.format(folder="profiles"), "")


def test_real_folder_is_shown(broken: Path, trainyard: Call) -> None:
    """A place is a path from the current folder, whatever the profiles' folder is called."""
    (broken / "profiles").rename(broken / "in")
    expected = Ended(1, TEXT.format(folder="in"), "")

    assert trainyard("validate", "--profiles", "in") == expected
    assert trainyard("validate", "--profiles", str(broken / "in")) == expected


def test_json_says_the_same(broken: Path, trainyard: Call) -> None:
    """The document has its version, the same finding and exit code, its keys in order and no
    absolute path."""
    ended = trainyard("validate", "--format", "json", "--profiles", str(broken / "profiles"))

    assert (ended.code, ended.err) == (1, "")
    assert str(broken) not in ended.out
    document = json.loads(ended.out)
    assert document["result"] == {
        "summary": {"errors": 1, "warnings": 0, "profiles": 1},
        "diagnostics": [
            {
                "rule": "shape/unknown-key",
                "severity": "error",
                "message": "unknown key `brunch`",
                "file": "profiles/trainyard.yaml",
                "start": {"line": 4, "column": 1},
                "end": {"line": 4, "column": 7},
                "path": ["brunch"],
                "consequence": "A misspelt key would be ignored, and its default silently used.",
                "hint": "did you mean `branch`?",
                "notes": [],
                "cause": "unknown key `brunch`",
            }
        ],
    }
    assert (document["format"], document["version"]) == ("findings", 2)
    assert list(document["result"]) == ["summary", "diagnostics"]


def test_forms_go_each_to_its_place(broken: Path, trainyard: Call) -> None:
    """One run serves people and machines."""
    ended = trainyard(
        "validate",
        "--format",
        "json:report.json",
        "--format",
        "text:report.txt",
        "--color",
        "always",
    )

    assert ended == Ended(1, "", "")
    assert (broken / "report.txt").read_text() == TEXT.format(folder="profiles")
    assert json.loads((broken / "report.json").read_text())["result"]["summary"]["errors"] == 1


@pytest.mark.parametrize(
    ("formats", "message"),
    [
        (("xml",), "`xml` is none of text, json, sarif, "),
        (("json:",), "markdown, alone or followed by `:FILE`"),
        (
            ("json", "text"),
            "only one form can go to stdout; give the others a file: `--format json:FILE`",
        ),
    ],
)
@pytest.mark.usefixtures("broken")
def test_form_that_makes_no_sense_is_refused(
    formats: tuple[str, ...], message: str, trainyard: Call
) -> None:
    """A mistake in a CI file is reported before anything is done."""
    ended = trainyard("validate", *(f"--format={each}" for each in formats))

    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err


@pytest.mark.usefixtures("broken")
def test_form_whose_file_can_not_be_written_is_reported(trainyard: Call) -> None:
    """A report that is not there does not look like one without findings."""
    message = "error: no/report.json can't be written: No such file or directory\n"
    assert trainyard("validate", "--format", "json:no/report.json") == Ended(5, "", message)


@pytest.mark.usefixtures("here")
def test_no_profiles_is_not_green(trainyard: Call) -> None:
    """An empty folder has an exit code of its own, and the message shows how to start."""
    start = "run `trainyard init` to start, or name their folder with `--profiles`"
    assert trainyard("validate") == Ended(3, "", f"error: no profiles in profiles; {start}\n")


def test_profiles_that_are_a_file_are_a_usage_error(here: Path, trainyard: Call) -> None:
    (here / "profiles").write_text("")
    assert trainyard("validate").code == 2


@pytest.mark.usefixtures("repository")
def test_flagship_is_fine(trainyard: Call) -> None:
    """This repository's own profiles have no error."""
    ended = trainyard("validate")

    assert (ended.code, ended.err) == (0, "")
    assert re.search(r"in \d+ profiles\n\Z", ended.out)


def test_huge_profile_is_a_finding_within_a_second(broken: Path, trainyard: Call) -> None:
    """A sparse file of a gigabyte is neither read whole nor scanned; the run ends with a finding,
    and 1."""
    with (broken / "profiles" / "trainyard.yaml").open("wb") as file:
        file.truncate(2**30)
    begin = time.process_time()
    ended = trainyard("validate")

    assert (ended.code, ended.err) == (1, "")
    assert "error[shape/too-large]: the file has more than 1,048,576 bytes" in ended.out
    assert time.process_time() - begin < 10


def test_clock_that_no_profile_can_name_is_an_error(
    trainyard: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine whose clock is far off is told so; it is not a bug."""

    class Clock:
        @staticmethod
        def today() -> None:
            raise ValueError("year 10000 is out of range")

    monkeypatch.setattr("trainyard.cli.options.date", Clock)
    ended = trainyard("validate")

    assert ended.code == 5
    assert "the clock of this machine shows no usable day: year 10000" in ended.err
