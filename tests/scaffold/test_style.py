from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings

from tests.scaffold.folders import begun
from tests.scaffold.layouts import TEXT_BLOCK, layouts
from trainyard.diagnostics import Diagnostic
from trainyard.generation.generate import Target
from trainyard.scaffold.style import WIDTH, styled
from trainyard.scaffold.team_request import TeamRequest
from trainyard.workflows.add import add_teams
from trainyard.yaml_io.reader import read

ROOT = Path(__file__).parents[2]


def _styled(file: str, content: bytes) -> tuple[bytes, tuple[Diagnostic, ...]]:
    source, found = read(file, content)
    return (content, found) if found else styled(source)


def _plain(text: str) -> Any:
    source, found = read("x", text.encode())
    assert found == ()
    return source.value


@pytest.mark.thorough
@given(layouts())
@example("a:: 1\n")
@settings(max_examples=300, deadline=None)
def test_style_keeps_data_and_comments_and_is_final(text: str) -> None:
    """The data and the order of keys are the same, each comment is there, and a second run changes
    nothing."""
    new, found = _styled("x", text.encode())
    assert found == ()
    assert repr(_plain(new.decode())) == repr(_plain(text))
    assert _styled("x", new) == (new, ())
    if TEXT_BLOCK not in text:  # spaces and empty lines of a text block are data
        assert [line for line in new.decode().splitlines() if line != line.rstrip()] == []
        assert re.search(r"\n\n\n|\A\n|\n\n\Z", new.decode()) is None


def test_style_of_each_part() -> None:
    """Indentation, quotes, spaces, blank lines and ends of lines."""
    text = (
        "---\r\n\r\n# Head.\r\na:   'x'  # why\r\nb:\r\n- {c: 1,d: [e,  f ]}\r\n-   g: \"h\"\r\n"
        "    i: 'a \"b\"'   \r\n\r\n\r\n\r\nj:\r\n      # inside\r\n      k: 1\r\n\r\n"
    )
    new, found = _styled("x", text.encode())
    assert found == ()
    assert new.decode() == (
        '# Head.\na: "x" # why\nb:\n  - {c: 1, d: [e, f]}\n  - g: "h"\n    i: \'a "b"\'\n\nj:\n'
        "  # inside\n  k: 1\n"
    )


def test_braces_that_are_too_long_for_a_line_become_lines() -> None:
    """The outermost first; what then fits stays in braces, and the comment stays with its key."""
    items = ", ".join(f"key{number}: {{name: value{number}}}" for number in range(12))
    new, found = _styled("x", f"a: {{{items}}} # why\nb: [c]\n".encode())
    lines = new.decode().splitlines()
    assert found == ()
    assert lines[0] == "a:"
    assert lines[1] == "  key0: {name: value0}"
    assert lines[-2:] == ["  key11: {name: value11} # why", "b: [c]"]
    assert max(map(len, lines)) <= WIDTH


def test_braces_on_several_lines_become_one_line() -> None:
    """Comments inside them would have no place, so there are none."""
    assert _styled("x", b"a: {\n  b: 1,\n\n  c: 2 }\n") == (b"a: {b: 1, c: 2}\n", ())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: {b: 1, # why\n  c: 2} # more\n", 2),
        ("a: {b: 1,\n  # why\n  c: 2}\n", 2),
        ("a:\n  # why\n  1\n", 2),
    ],
)
def test_file_without_a_place_for_a_comment_is_left_alone(text: str, line: int) -> None:
    """Its bytes stay, and the reason names the comment."""
    new, found = _styled("x", text.encode())
    assert new == text.encode()
    assert [(each.rule, each.at.line) for each in found] == [("shape/left-alone", line)]
    assert "`# " in found[0].message


@pytest.mark.parametrize(
    "path",
    [
        *(ROOT / "profiles").rglob("*.yaml"),
        *(ROOT / "examples").glob("*/profiles/**/*.yaml"),
    ],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_profiles_of_this_repository_have_the_style(path: Path) -> None:
    """Those of hand-written components apart, which are objects of Kubernetes."""
    if "components" not in path.parts or path.name == "kustomization.yaml":
        assert _styled("x", path.read_bytes()) == (path.read_bytes(), ())


@pytest.mark.parametrize(
    "preset", ["nvidia-dgx-h100", "dell-xe9680-h200", "nvidia-hgx-b200", "cpu-node"]
)
@pytest.mark.parametrize("release", ["openshift-ai-3.5", "kubernetes-1.36"])
def test_what_init_and_add_write_has_the_style(tmp_path: Path, release: str, preset: str) -> None:
    """A new repository passes `fmt --check`."""
    begun(tmp_path, release, preset)
    target = Target(tmp_path / "profiles", tmp_path / "overlays", "../profiles/components")
    for name in ("nlp", "vision"):
        assert add_teams(target, [TeamRequest(name, 2, since="2026-11-23")], "2026-11-23").plan
    written = sorted((tmp_path / "profiles").rglob("*.yaml"))
    assert len(written) > 5
    assert [
        path for path in written if _styled("x", path.read_bytes())[0] != path.read_bytes()
    ] == []
