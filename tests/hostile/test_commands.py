"""What a command prints beside findings keeps its meaning, whatever the text of a profile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.forms.readers import commands
from tests.hostile.fields import free, written
from tests.hostile.texts import HOSTILE, named
from trainyard.cli.main import run

pytestmark = pytest.mark.thorough

CALLS = (
    "validate",
    "generate",
    "generate --check",
    "generate --dry-run --format json",
    "show nlp",
    "show nlp --format json",
    "capacity",
    "capacity --format json",
    "capacity --format markdown",
    "capacity --format csv",
    "codeowners --check",
)


STEERING = tuple(text for text in HOSTILE if "::" in text or "##[" in text or "$" in text)


@pytest.mark.parametrize("text", STEERING, ids=named)
def test_output_steers_neither_terminal_nor_runner(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of each command, on stdout and on stderr; a document stays one."""
    with written(free(text)) as root:
        monkeypatch.chdir(root.parent)
        for call in CALLS:
            code = run(call.split())
            printed = capsys.readouterr()
            output = printed.out + printed.err
            assert code in {0, 1}, call
            assert commands(output) == [], call
            assert all(char.isprintable() for char in output.replace("\n", "")), call
            if "json" in call and printed.out:
                json.loads(printed.out)
        assert not list(Path().glob("trainyard-bug-*"))
