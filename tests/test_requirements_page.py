"""The requirements: each id has one answer, and what is named as its evidence exists.

`test_docs.py` compares the page with its data, and follows its links.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

import click
import jsonschema
import pytest

from docs.requirements import DATA, STATES, WORKS, load, title
from tests.pages import ROOT
from trainyard.cli.app import app, help_lines
from trainyard.rulebook import all_rules
from trainyard.yaml_io.reader import read
from trainyard_rehearsal.promises import APPLIED, DELIVERED, UPGRADED

SCHEMA = json.loads(DATA.with_name("requirements.schema.json").read_text("utf-8"))
REQUIREMENTS = load()
ANSWERS = list(REQUIREMENTS.answers())
TARGETS = re.findall(r"^([a-z0-9]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
IDS = [each for family in REQUIREMENTS.families for each in family.ids]


@cache
def collected(path: str) -> frozenset[str]:
    """Return the tests that pytest collects from a file."""
    text = (ROOT / path).read_text("utf-8")
    return frozenset(re.findall(r"^def (test_\w+)\(", text, re.MULTILINE))


def is_test(name: str) -> bool:
    path, _, test = name.partition("::")
    if not re.fullmatch(r"tests/(\w+/)*test_\w+\.py", path) or not (ROOT / path).is_file():
        return False
    return test in collected(path)


@cache
def is_command(line: str) -> bool:
    """Return whether a line is a target of make, or a command of ours with options that it has."""
    program, name, *words = line.split()
    if program == "make":
        return not words and name in TARGETS
    if program != "trainyard" or name not in help_lines() or not words:
        return program == "trainyard" and name in help_lines()
    command = app.get_command(click.Context(app), name)
    if isinstance(command, click.Group):
        command = command.commands.get(words.pop(0))
    if command is None:
        return False
    known = {option for each in command.params for option in each.opts}
    return {each for each in words if each.startswith("--")} <= known


@cache
def is_file(pattern: str) -> bool:
    """Return whether a file of the repository has this path; `*` matches any part of its name."""
    return any(path.is_file() for path in ROOT.glob(pattern))


@cache
def is_page(page: str) -> bool:
    try:
        return bool(title(page))
    except (FileNotFoundError, ValueError):
        return False


def absent() -> Iterator[str]:
    """Yield the evidence that does not exist."""
    rules = {rule.id for rule in all_rules()}
    lines = {*APPLIED, *DELIVERED, *UPGRADED}
    for answer in ANSWERS:
        yield from (each for each in answer.files if not is_file(each))
        yield from (each for each in answer.tests if not is_test(each))
        yield from (each for each in answer.rules if each not in rules)
        yield from (each for each in answer.commands if not is_command(each))
        yield from (each for each in answer.rehearsal if each not in lines)
        yield from (each for each in answer.pages if not is_page(each))


def test_data_fits_its_schema() -> None:
    """Every field is known, and an answer has the fields of its state."""
    source, found = read(DATA.name, DATA.read_bytes())
    faults = jsonschema.Draft7Validator(SCHEMA).iter_errors(source.value)

    assert not found
    assert not [f"{each.json_path}: {each.message}" for each in faults]


def test_schema_lists_the_states_and_the_works() -> None:
    fields = SCHEMA["definitions"]["answer"]["properties"]

    assert fields["state"]["enum"] == list(STATES)
    assert fields["work"]["enum"] == sorted(WORKS)


def test_every_id_is_listed_once() -> None:
    assert [each for each, count in Counter(IDS).items() if count > 1] == []


def test_every_id_has_one_answer() -> None:
    answers = Counter(each for answer in ANSWERS for each in answer.ids)

    assert {each: answers[each] for each in IDS if answers[each] != 1} == {}
    assert answers.keys() - IDS == set()


def test_no_number_of_a_document_is_left_out() -> None:
    """The documents number these from 1 without a gap."""
    for prefix, last in {"FR": 34, "SC": 16, "ADR": 10}.items():
        numbers = [each for each in IDS if each.startswith(f"{prefix}-")]
        assert numbers == [f"{prefix}-{number:03}" for number in range(1, last + 1)]


def test_all_evidence_exists() -> None:
    assert list(absent()) == []


@pytest.mark.parametrize(
    "line",
    ["make nothing", "trainyard nothing", "trainyard fit --nothing", "trainyard add nothing"],
)
def test_command_that_does_not_exist_is_found(line: str) -> None:
    assert not is_command(line)


@pytest.mark.parametrize(
    "name",
    [
        "tests/test_requirements_page.py::test_nothing",
        "tests/pages.py::test_nothing",
        "tests/test_nothing.py::test_nothing",
        "tests/test_requirements_page.py",
    ],
)
def test_test_that_does_not_exist_is_found(name: str) -> None:
    assert not is_test(name)


def test_page_without_the_heading_is_found() -> None:
    assert is_page("proof.md")
    assert not is_page("proof.md#nothing")
    assert not is_page("nothing.md")
