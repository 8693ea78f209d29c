"""Commands are split as a shell splits them, and variables replaced only where they are known."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.slurm.expand import expanded
from trainyard_jobs.convert.slurm.reader import statements
from trainyard_jobs.convert.slurm.shell import Token


def split(script: str) -> list[list[str]]:
    return [[word.text for word in each.words] for each in statements("x", script.split("\n"), 0)]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("a b  c", [["a", "b", "c"]]),
        ("a 'b c' \"d e\" f\\ g", [["a", "b c", "d e", "f g"]]),
        ("a --x=\"b c\"'d'", [["a", "--x=b cd"]]),
        ("a b \\\n  c", [["a", "b", "c"]]),
        ("a # no b\nc c#d", [["a"], ["c", "c#d"]]),
        ("a; b && c || d", [["a"], ["b"], ["c"], ["d"]]),
        ("a 'b;c' \"d&e\" f\\;g", [["a", "b;c", "d&e", "f;g"]]),
        ("a $(b c | d) `e f` ${g:-h i}", [["a", "$(b c | d)", "`e f`", "${g:-h i}"]]),
        ('a "$(b "c d")"', [["a", '$(b "c d")']]),
        ("n=( $(a b) )", [["n=( $(a b) )"]]),
        ("a 'b\nc'", [["a", "b\nc"]]),
        ("a > b 2>&1 < c", [["a"]]),
    ],
)
def test_words(script: str, expected: list[list[str]]) -> None:
    assert split(script) == expected


@pytest.mark.parametrize(
    "script",
    [
        "a \"\\$b\" \\$c '\\$d' \"it's \\`\" '\"\\$'",
        "a 'b c' d",
        'x --y="z z" q\\ r',
        "a\\\nb c",
        "a ';' \"&\" '#' #c",
        "a''b \"\"",
    ],
)
def test_words_are_those_of_a_shell(script: str) -> None:
    assert shutil.which("bash")
    call = ["bash", "-c", f"f() {{ printf '%s\\0' \"$@\"; }}; f {script}"]
    printed = subprocess.run(call, capture_output=True, text=True, check=True).stdout
    (words,) = split(script)

    assert words == printed.split("\0")[:-1]


def test_redirections_pipes_and_places() -> None:
    found = list(statements("x", ["#", "a b > c 2>&1 |", "d &"], 1))

    assert [token.raw for token in found[0].redirects] == ["> c", "2>&1"]
    assert [each.end for each in found] == ["|", "&"]
    assert [(word.at.line, word.at.column) for word in found[0].words] == [(2, 1), (2, 3)]


@pytest.mark.parametrize(
    "script", ["a 'b", 'a "b', "$(a", "if a; then b", "for x in; do", "a | | b", "cat <<END\nx"]
)
def test_what_is_no_script(script: str) -> None:
    with pytest.raises(RefusedError):
        split(script)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("a", "a"),
        ("$A", "1"),
        ("x${A}y", "x1y"),
        ('"$A $A"', "1 1"),
        ("'$A'", "$A"),
        ("\\$A", "$A"),
        ("${B:-2}", "2"),
        ("${EMPTY:-2}", "2"),
        ("${EMPTY}", ""),
        ("$B", None),
        ("$WORDS", None),
        ("$(a)", None),
        ("${A%1}", None),
        ("'$A'$A", None),
        ("$((A+1))", "2"),
        ("$((A*3-2))", "1"),
        ("$((B+1))", None),
        ("'$((A+1))'", "$((A+1))"),
    ],
)
def test_variables(raw: str, expected: str | None) -> None:
    known = {"A": "1", "EMPTY": "", "WORDS": "a b"}

    assert expanded(Token(raw, Pointer("x")), known) == expected
