from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended, edit

Call = Callable[..., Ended]
_NLP = "profiles/teams/nlp.yaml"


def _bytes(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def untidy(repository: Path) -> Path:
    """The repository with two profiles that lack the style."""
    edit(repository / _NLP, "cohort: research", "cohort:   'research'    # why")
    edit(repository / "profiles/waivers.yaml", "waivers:\n  - rule", "waivers:\n\n\n  - rule")
    return repository


def test_formatted_repository_stays_as_it_is(repository: Path, trainyard: Call) -> None:
    before = _bytes(repository)
    ended = trainyard("fmt", "--check")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "30 profiles, 0 would be formatted\n"
    assert trainyard("fmt").out == "30 profiles, 0 formatted\n"
    assert _bytes(repository) == before


def test_check_names_files_and_writes_nothing(untidy: Path, trainyard: Call) -> None:
    before = _bytes(untidy)
    ended = trainyard("fmt", "--check")
    assert ended.code == 1
    assert ended.out == (
        f"would format {_NLP}\nwould format profiles/waivers.yaml\n30 profiles, 2 would be "
        "formatted\n"
    )
    assert _bytes(untidy) == before


def test_fmt_writes_whole_files_and_their_modes_stay(untidy: Path, trainyard: Call) -> None:
    """The second run has nothing to do, and nothing else is left in the folder."""
    before = _bytes(untidy)
    (untidy / _NLP).chmod(0o640)
    ended = trainyard("fmt")
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == "30 profiles, 2 formatted"
    after = _bytes(untidy)
    assert {path for path in before if after[path] != before[path]} == {
        _NLP,
        "profiles/waivers.yaml",
    }
    assert after.keys() == before.keys()
    assert b'cohort: "research" # why\n' in after[_NLP]
    assert (untidy / _NLP).stat().st_mode & 0o777 == 0o640
    assert trainyard("fmt", "--check").code == 0


@pytest.mark.usefixtures("untidy")
def test_only_named_files_are_formatted(trainyard: Call) -> None:
    ended = trainyard("fmt", _NLP)
    assert (ended.code, ended.out) == (0, f"formatted {_NLP}\n1 profile, 1 formatted\n")
    assert trainyard("fmt", "--check").out.startswith("would format profiles/waivers.yaml\n")


def test_objects_of_a_component_are_left_alone(repository: Path, trainyard: Call) -> None:
    """A hook gives every file that changed; those that are not profiles pass, and are named."""
    file = "profiles/components/simulation-defaults/simulation-defaults.yaml"
    ended = trainyard("fmt", "--check", file, _NLP)
    assert (ended.code, ended.err) == (0, f"{file} is not a profile, and is left alone\n")
    assert ended.out == "1 profile, 0 would be formatted\n"
    assert (repository / file).exists()


@pytest.mark.parametrize("args", [(), ("--check",)])
def test_files_that_cannot_be_formatted_are_findings(
    untidy: Path, trainyard: Call, args: tuple[str, ...]
) -> None:
    """A file with a fault, a comment without a place and a link keep their bytes, and are named."""
    teams = untidy / "profiles" / "teams"
    (teams / "anchor.yaml").write_text("a: &x   1\n")
    (teams / "braces.yaml").write_text("a: {b: 1, # why\n  c: 2} # more\n")
    (teams / "tab.yaml").write_text("a:\n\tb: 1\n")
    outside = untidy / "outside.yaml"
    outside.write_text("a:   1\n")
    (teams / "link.yaml").symlink_to(outside)
    ended = trainyard("fmt", *args)
    assert ended.code == 1
    for part in (
        "error[shape/anchor-or-alias]: ",
        "--> profiles/teams/anchor.yaml:1:",
        "error[shape/left-alone]: no line of its own is left for the comment `# more`",
        "--> profiles/teams/braces.yaml:2:1",
        "error[shape/not-yaml]: ",
        "`link.yaml` is a symbolic link",
    ):
        assert part in ended.out
    assert outside.read_text() == "a:   1\n"
    assert (teams / "anchor.yaml").read_text() == "a: &x   1\n"
    assert f"{'would format' if args else 'formatted'} {_NLP}\n" in ended.out


def test_json_has_every_file_as_a_finding(untidy: Path, trainyard: Call) -> None:
    """With the first line that would change, for other formats' annotations."""
    ended = trainyard("fmt", "--check", "--format", "json")
    document = json.loads(ended.out)["result"]
    assert ended.code == 1
    assert document["profiles"] == {"written": False, "changed": [_NLP, "profiles/waivers.yaml"]}
    found = document["diagnostics"]
    places = [(each["rule"], each["file"], each["start"]["line"]) for each in found]
    lines = (untidy / _NLP).read_text().splitlines()
    number = 1 + next(n for n, line in enumerate(lines) if line.startswith("cohort"))
    assert places == [
        ("shape/unformatted", _NLP, number),
        ("shape/unformatted", "profiles/waivers.yaml", 4),
    ]


def test_file_outside_of_the_profiles_is_a_usage_error(repository: Path, trainyard: Call) -> None:
    (repository / "other.yaml").write_text("a:   1\n")
    ended = trainyard("fmt", "other.yaml")
    assert ended.code == 2
    assert "`other.yaml` is not a file below the profiles (`profiles`)" in ended.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_permission_is_an_error(untidy: Path, trainyard: Call) -> None:
    (untidy / "profiles").chmod(0o555)
    try:
        assert trainyard("fmt").code == 5
    finally:
        (untidy / "profiles").chmod(0o755)


def test_hostile_comment_stays_text(repository: Path, trainyard: Call) -> None:
    """A comment is data to nobody; in a finding its control characters are escaped."""
    team = repository / "profiles" / "teams" / "braces.yaml"
    team.write_text("a: {b: 1, # ::error::x <script> @all `y`\n  c: 2} # more\n")
    ended = trainyard("fmt", "--check")
    assert ended.code == 1
    assert "\x1b" not in ended.out
    assert not [line for line in ended.out.splitlines() if line.startswith("::")]
