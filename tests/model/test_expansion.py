"""Text in a container reaches the program unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import kubelet
from trainyard.model.expansion import literal

SCRIPTS = sorted((Path(__file__).resolve().parents[2] / "templates/acceptance").glob("*.sh"))


@given(st.lists(st.sampled_from(["$", "(", ")", "NAME", "{", "x", "\n"])).map("".join))
def test_program_gets_the_text(text: str) -> None:
    assert kubelet.given(literal(text), {"NAME": "wrong", "x": "wrong"}) == text


def test_what_kubelet_does() -> None:
    assert kubelet.given("$(A) $$(A) $$ $B $(C) $(A $", {"A": "1"}) == "1 $(A) $ $B $(C) $(A $"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda file: file.name)
def test_our_scripts_have_nothing_that_kubelet_replaces(script: Path) -> None:
    text = script.read_text("utf-8")

    assert kubelet.given(text, {}) == text
