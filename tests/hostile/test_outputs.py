"""Every form of the findings keeps its meaning, whatever the text of a profile."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.forms import readers
from tests.hostile.fields import VARIANTS, written
from tests.hostile.texts import HOSTILE, named, texts
from trainyard.cli.findings import Findings, text
from trainyard.cli.forms import forms_of
from trainyard.cli.places import Places
from trainyard.diagnostics import Severity
from trainyard.generation.generate import generate

TODAY = "2026-11-22"


def _found(variant: str, hostile: str) -> Findings:
    with written(VARIANTS[variant](hostile)) as root:
        generation = generate(root, "../profiles/components", (), TODAY)
    return Findings(generation.diagnostics, Places(generation.checked.profiles.sources(), {}))


@settings(max_examples=8)
@given(st.sampled_from(sorted(VARIANTS)), texts)
def test_any_text_is_only_text_in_each_form(variant: str, hostile: str) -> None:
    """Each form has all findings, and its own reader finds nothing else in it."""
    _hold(_found(variant, hostile))


@pytest.mark.thorough
@pytest.mark.parametrize("variant", sorted(VARIANTS))
@pytest.mark.parametrize("hostile", HOSTILE, ids=named)
def test_hostile_text_is_only_text_in_each_form(variant: str, hostile: str) -> None:
    """Each text in each way."""
    _hold(_found(variant, hostile))


def _hold(found: Findings) -> None:
    forms: dict[str, str] = {form: made() for form, made in forms_of("validate", found).items()}
    forms["text"] = text(found, colour=False)
    total = len(found.diagnostics)
    for form, output in forms.items():
        assert all(char.isprintable() for char in output.replace("\n", "")), form
        obeyed = readers.commands(output)
        assert not obeyed or form == "github", (form, obeyed)

    assert len(readers.document(forms["json"])["result"]["diagnostics"]) == total
    assert len(readers.sarif(forms["sarif"])["results"]) == total
    assert len(readers.gitlab(forms["gitlab"])) == total
    _hold_junit(forms["junit"], found)
    _hold_github(forms["github"], found)
    _hold_markdown(forms["markdown"])


def _hold_junit(output: str, found: Findings) -> None:
    suite = readers.junit(output)
    assert len(suite.findall("testcase/failure")) == found.count(Severity.ERROR)
    assert len(suite.findall("testcase/system-out")) == found.count(Severity.WARNING)


def _hold_github(output: str, found: Findings) -> None:
    commands = readers.commands(output)
    assert [command.name for command in commands] == [
        *["error"] * min(10, found.count(Severity.ERROR)),
        *["warning"] * min(10, found.count(Severity.WARNING)),
    ]
    assert all(re.fullmatch("[1-9][0-9]*", each.properties["line"]) for each in commands)
    assert len(output.split("\n")) == len(commands) + 1


def _hold_markdown(output: str) -> None:
    tokens = readers.markdown(output)
    kinds = {token.type for token in tokens if token.type != "inline"}
    inline: set[Any] = {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {
        *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "fence"),
    }
    assert inline <= {"text", "strong_open", "strong_close", "code_inline"}
    assert len(output.encode()) <= 60_000
