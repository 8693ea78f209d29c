"""What reads the forms: a parser of its own kind for each, written from its reader's rules."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import xmlschema
from jsonschema import Draft4Validator, Draft7Validator
from markdown_it import MarkdownIt
from markdown_it.token import Token

from trainyard.schema.published import document_schema

_SCHEMAS = Path(__file__).parent / "schemas"
_SEVERITIES = {"info", "minor", "major", "critical", "blocker"}


@dataclass(frozen=True)
class Command:
    """A command that a runner of GitHub Actions obeys."""

    name: str
    properties: dict[str, str]
    data: str


def commands(output: str) -> list[Command]:
    """Return every command that a job's output has, of any name, in the current or the old form.

    Source: actions/runner:src/Runner.Common/ActionCommand.cs, TryParseV2 and TryParse. The runner
    obeys only registered names, and reads the old form anywhere in a line.
    """
    return [
        command
        for line in re.split("\r\n|\r|\n", output)
        for command in (_new(line), _old(line))
        if command
    ]


def _new(line: str) -> Command | None:
    head, end, data = line.lstrip().removeprefix("::").partition("::")
    if not line.lstrip().startswith("::") or not end:
        return None
    name, _, rest = head.partition(" ")
    return Command(name, _properties(rest, ","), _unescaped(data))


def _old(line: str) -> Command | None:
    _, begin, rest = line.partition("##[")
    head, end, data = rest.partition("]")
    name, _, properties = head.partition(" ")
    return Command(name, _properties(properties, ";"), _unescaped(data)) if begin and end else None


def _properties(text: str, separator: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in text.strip().split(separator))
    return {
        name: _unescaped(value.replace("%3A", ":").replace("%2C", ","))
        for name, _, value in pairs
        if value
    }


def _unescaped(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def document(output: str) -> Any:
    """Return a document that has its published form."""
    content = json.loads(output)
    _schema(content["format"]).validate(content)
    return content


@cache
def _schema(kind: str) -> Draft7Validator:
    return Draft7Validator(document_schema(kind))


@cache
def _sarif_schema() -> Draft4Validator:
    return Draft4Validator(json.loads((_SCHEMAS / "sarif-schema-2.1.0.json").read_text("utf-8")))


def sarif(output: str) -> Any:
    """Return a log that fits the schema of OASIS and has what GitHub requires besides.

    Source: GitHub's page "SARIF support for code scanning", the properties marked as required.
    """
    log = json.loads(output)
    assert [error.message for error in _sarif_schema().iter_errors(log)] == []
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert log["$schema"]
    assert run["tool"]["driver"]["name"]
    for rule in rules:
        texts = [rule[part]["text"] for part in ("shortDescription", "fullDescription")]
        assert rule["id"]
        assert rule["help"]["text"]
        assert all(0 < len(text) <= 1024 for text in texts), rule
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        assert result["partialFingerprints"]["primaryLocationLineHash"]
        for location in (*result["locations"], *result["relatedLocations"]):
            _location(location["physicalLocation"])
    return run


def _location(place: Any) -> None:
    region = place["region"]
    assert re.fullmatch(r"[A-Za-z0-9._~%/-]+", place["artifactLocation"]["uri"])
    assert not place["artifactLocation"]["uri"].startswith("/")
    assert region["startLine"] == region["endLine"] >= 1
    assert 1 <= region["startColumn"] < region["endColumn"]


@cache
def _junit_schema() -> Any:
    return xmlschema.XMLSchema(str(_SCHEMAS / "junit.xsd"))


def junit(output: str) -> ET.Element:
    """Return a report that fits the schema and whose totals are right."""
    _junit_schema().validate(output)
    root = ET.fromstring(output)
    (suite,) = root
    for element in (root, suite):
        assert element.get("tests") == str(len(suite))
        assert element.get("failures") == str(len(suite.findall("testcase/failure")))
    names = [(case.get("classname"), case.get("name")) for case in suite]
    assert len(names) == len(set(names)) > 0
    return suite


def gitlab(output: str) -> Any:
    """Return a code quality report whose issues GitLab takes and shows one by one."""
    issues = json.loads(output)
    for issue in issues:
        assert issue.keys() >= {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in _SEVERITIES
        assert issue["location"]["lines"]["begin"] >= 1
        assert not issue["location"]["path"].startswith(("./", "/"))
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    return issues


def markdown(output: str) -> list[Token]:
    """Return the tokens of a comment as CommonMark with tables reads it, HTML included."""
    return MarkdownIt("commonmark").enable("table").parse(output)
