"""What a command prints beside findings keeps its meaning, whatever the text of a profile."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.cli.forms.readers import commands, markdown
from tests.hostile.fields import FREE, accepted, free, mixed, written
from tests.pages import done
from tests.report.pages import parse
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
Capture = pytest.CaptureFixture[str]


def _rounds() -> list[dict[str, bytes]]:
    """Return profiles that differ, in which each text that the schemas accept is somewhere."""
    texts, count = accepted(), len(FREE)
    return [mixed(texts[first:] + texts[:first]) for first in range(0, len(texts), count)]


def test_output_steers_neither_terminal_nor_runner(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Of each command, on stdout and on stderr; a document stays one."""
    for files in _rounds():
        with written(files) as root:
            monkeypatch.chdir(root.parent)
            for call in CALLS:
                _called(call, capsys)
            assert not list(Path().glob("trainyard-bug-*"))


def _called(call: str, capsys: Capture) -> str:
    """Return what a command prints on stdout."""
    code = run(call.split())
    out, err = capsys.readouterr()
    assert code in {0, 1}, call
    assert commands(out + err) == [], call
    assert all(char.isprintable() for char in (out + err).replace("\n", "")), call
    if "json" in call and out:
        json.loads(out)
    return out


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> Iterator[Path]:
    """Profiles with plain text, committed with their tree."""
    with written(free("plain text")) as root:
        monkeypatch.chdir(root.parent)
        assert run(["generate"]) == 0
        done(root.parent, "git", "init", "--quiet")
        done(root.parent, "git", "add", "--all")
        done(root.parent, "git", "commit", "--quiet", "--message", "plain")
        capsys.readouterr()
        yield root


def test_difference_steers_neither_terminal_nor_runner(base: Path, capsys: Capture) -> None:
    """A comment has headings, numbers and blocks of code, whatever the text."""
    for files in _rounds():
        for file, content in files.items():
            (base / file).write_bytes(content)
        for form in ("text", "json", "markdown"):
            out = _called(f"diff --base HEAD --fields --format {form}", capsys)
        _hold(out)


def _hold(comment: str) -> None:
    tokens = markdown(comment)
    blocks = {token.type for token in tokens}
    inline = {child.type for token in tokens for child in token.children or ()}

    assert "fence" in blocks
    assert blocks <= {
        *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "fence"),
    }
    assert inline <= {"text", "softbreak", "strong_open", "strong_close", "code_inline"}
    assert len(comment.encode()) <= 65_000


def test_page_has_the_same_elements(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    """Whatever the text, an HTML parser finds the tags and attributes that plain text gives."""
    monkeypatch.setenv("PATH", str(tmp_path))
    plain, *others = (
        _elements(files, monkeypatch, capsys) for files in (free("plain text"), *_rounds())
    )

    assert len(plain) > 1000
    assert all(other == plain for other in others)


def _elements(
    files: Mapping[str, bytes], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> list[tuple[str, tuple[str, ...]]]:
    """Return the name and the attributes' names of each tag of the report."""
    with written(files) as root:
        monkeypatch.chdir(root.parent)
        _called("generate", capsys)
        _called("report", capsys)
        tags = parse(Path("report.html").read_bytes()).tags
    return [(tag.name, tuple(tag.attributes)) for tag in tags]
