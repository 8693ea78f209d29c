from __future__ import annotations

import re

from hypothesis import given

from tests.cli.forms import readers
from tests.cli.forms.made import READ, RULES, findings
from trainyard.cli.console import printable
from trainyard.cli.findings import Findings
from trainyard.cli.forms import sarif
from trainyard.cli.places import Places
from trainyard.diagnostics import Pointer
from trainyard.yaml_io.source import Source

_LINK = re.compile(r"\[(?:[^\[\]\\]|\\[\[\]\\])*\]\([^)]*\)|\{\d+\}")
"""An embedded link or a placeholder (SARIF 2.1.0, 3.11.5 and 3.11.6)."""


@given(findings)
def test_github_takes_each_finding(found: Findings) -> None:
    """It fits the schema, has all that GitHub requires, and each finding is at its place."""
    run = readers.sarif(sarif.report("validate", found))
    ordered = found.ordered()

    assert run["automationDetails"]["id"] == "trainyard/validate/"
    assert [(each["ruleId"], each["level"]) for each in run["results"]] == [
        (each.rule, each.severity) for each, _ in ordered
    ]
    for result, (_, place) in zip(run["results"], ordered, strict=True):
        region = result["locations"][0]["physicalLocation"]["region"]
        assert region["startLine"] == place.span.line
        assert region["startColumn"] == place.span.column


@given(findings)
def test_message_is_text_without_links(found: Findings) -> None:
    """A reader makes links of brackets, and replaces numbers in braces."""
    run = readers.sarif(sarif.report("validate", found))

    for result, (each, _) in zip(run["results"], found.ordered(), strict=True):
        text = result["message"]["text"]
        assert not _LINK.search(text)
        assert text.replace(" ", "").startswith(printable(each.message).replace(" ", ""))
        related = {location["message"]["text"] for location in result["relatedLocations"]}
        notes = {printable(note.message) for note in each.notes if note.at}
        assert {note.replace(" ", "") for note in related} == {
            note.replace(" ", "") for note in notes
        }


def test_every_rule_has_the_texts_that_github_requires() -> None:
    """Not empty, and not longer than GitHub takes."""
    found = tuple(rule.at(Pointer(READ), "bad") for rule in RULES)
    run = readers.sarif(
        sarif.report("verify", Findings(found, Places({READ: Source(READ, b"a: 1\n")}, {})))
    )

    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [rule.id for rule in RULES]


def test_finding_without_a_line_is_at_the_first_one() -> None:
    """GitHub drops a result without one. A file that was not read has a fingerprint too."""
    found = (RULES[0].at(Pointer("overlays/lab/kustomization.yaml"), "bad"),)
    (result,) = readers.sarif(sarif.report("verify", Findings(found, Places({}, {}))))["results"]

    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 1
