from __future__ import annotations

import dataclasses
import json

from hypothesis import given
from hypothesis import strategies as st

from generator.cli import document, findings
from generator.cli.console import printable
from generator.cli.places import Places
from generator.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from generator.dialect.reader import read
from generator.dialect.source import Mark, Source

RULE = Rule("family/pattern", Severity.WARNING, "What.", "Why.", "Fix.")
FILE = "profiles/a.yaml"


def _text(*diagnostics: Diagnostic, source: Source) -> str:
    places = Places({source.file: source}, {})
    return findings.text(findings.Findings(diagnostics, places), colour=False)


def _source(content: str) -> Source:
    source, problems = read(FILE, content.encode())
    assert not problems
    return source


def test_notes_stand_between_consequence_and_help() -> None:
    """A note with a place shows it; one without is a sentence."""
    source = _source("a: 1\nb: two\n")
    notes = [Note("see", Pointer(FILE) / "b"), Note("that is all"), Note("gone", Pointer("profiles/b.yaml"))]

    assert _text(RULE.at(Pointer(FILE) / "a", "bad", notes=notes), source=source) == (
        "warning[family/pattern]: bad\n"
        " --> profiles/a.yaml:1:4\n"
        "  |\n"
        "1 | a: 1\n"
        "  |    ^\n"
        "  = if merged: Why.\n"
        "  = note: see --> profiles/a.yaml:2:4\n"
        "  = note: that is all\n"
        "  = note: gone --> profiles/b.yaml\n"
        "  = help: Fix.\n\n"
        "1 warning in 1 profile"
    )


def test_document_holds_the_notes() -> None:
    """A note has a span when it has a place that was read, and nothing in its stead otherwise."""
    source = _source("a: 1\nb: two\n")
    notes = [Note("see", Pointer(FILE) / "b"), Note("that is all"), Note("gone", Pointer("profiles/b.yaml"))]
    found = findings.Findings((RULE.at(Pointer(FILE) / "a", "bad", notes=notes),), Places({FILE: source}, {}))
    (told,) = json.loads(document.report("validate", found))["diagnostics"]

    assert told["notes"] == [
        {"message": "see", "file": FILE, "start": {"line": 2, "column": 4}, "end": {"line": 2, "column": 7}},
        {"message": "that is all", "file": None, "start": None, "end": None},
        {"message": "gone", "file": "profiles/b.yaml", "start": None, "end": None},
    ]


def test_rule_without_consequence_or_hint_has_no_empty_lines() -> None:
    """What is not said is not announced."""
    bare = dataclasses.replace(RULE, why="", fix="")
    told = _text(bare.at(Pointer("profiles/b.yaml"), "bad"), source=_source("a: 1\n"))

    assert told == "warning[family/pattern]: bad\n --> profiles/b.yaml\n\n1 warning in 1 profile"


def test_findings_are_sorted_by_place_then_rule() -> None:
    """The order of a report does not depend on the order of the checks."""
    source = _source("a: 1\nb: two\nc: {d: 4, e: 5}\n")
    at = Pointer(FILE)
    other = dataclasses.replace(RULE, id="family/another")
    found = [
        RULE.at(at / "c" / "e", "5"),
        RULE.at(at / "a", "2"),
        RULE.at(at / "c" / "d", "4"),
        RULE.at(at / "b", "3"),
        other.at(at / "a", "1"),
    ]
    heads = [line for line in _text(*found, source=source).splitlines() if line.startswith("warning[")]

    assert [line[-1] for line in heads] == ["1", "2", "3", "4", "5"]


def test_file_with_too_many_findings_is_cut_and_counted() -> None:
    """Fifty findings of a file are enough to read; the sum counts all."""
    source = _source("a: 1\n")
    told = _text(*(RULE.at(Pointer(FILE) / "a", f"{i:03}") for i in range(60)), source=source)

    assert told.count("warning[") == 50
    assert told.endswith("\nprofiles/a.yaml: and 10 more\n\n60 warnings in 1 profile")


def test_finding_with_too_many_notes_is_cut_and_counted() -> None:
    """A tree that was never generated does not fill the screen."""
    diagnostic = RULE.at(Pointer(FILE) / "a", "bad", notes=[Note(f"{i:03}") for i in range(60)])
    told = _text(diagnostic, source=_source("a: 1\n"))

    assert told.count("= note: ") == 51
    assert "= note: and 10 more\n" in told


@given(text=st.text(max_size=400), first=st.integers(0, 400), length=st.integers(0, 100))
def test_any_line_is_shown_on_one_line_with_the_caret_below_its_span(text: str, first: int, length: int) -> None:
    """Whatever a line holds, it can't steer the terminal, and the carets stand below what they mean."""
    line = text.replace("\n", "").replace("\r", "")
    first = min(first, len(line))
    end = min(first + length, len(line))
    content = line.encode("utf-8", "surrogatepass")
    line = content.decode("utf-8", "replace").removeprefix("\ufeff")
    source = Source(FILE, content, None, {(): Mark(1, first + 1, end + 1)})
    told = _text(RULE.at(Pointer(FILE), "bad"), source=source).split("\n")
    if not content:
        return
    shown, carets = told[3][4:], told[4][4:]
    begin, marked = len(carets) - len(carets.lstrip()), carets.strip()

    assert all(char.isprintable() for char in shown)
    assert set(marked) == {"^"}
    span = printable(line[first:end].replace("\t", " "))
    assert shown.ljust(begin + len(marked))[begin:].startswith(span[: len(marked)])
    assert length > 60 or len(marked) == max(1, len(span))


def test_long_line_is_cut_around_its_span() -> None:
    """Of a long line the part around the span is shown."""
    source = _source(f"a: [{'x, ' * 100}here, {'z, ' * 100}end]\n")
    told = _text(RULE.at(Pointer(FILE) / "a" / 100, "bad"), source=source).splitlines()

    assert told[3].startswith("1 | ...")
    assert told[3].endswith("...")
    assert len(told[3]) == 4 + 3 + 120 + 3
    begin = told[4].index("^")
    assert told[3][begin : begin + 4] == "here"
    assert told[4].count("^") == 4


def test_message_can_not_steer_the_terminal() -> None:
    """Control characters of a profile are shown, not obeyed."""
    told = _text(RULE.at(Pointer(FILE) / "a", "bad \x1b]0;title\x07 \u202e"), source=_source("a: 1\n"))

    assert told.startswith("warning[family/pattern]: bad \\x1b]0;title\\x07 \\u202e\n")


def test_credential_is_not_printed() -> None:
    """The place is shown, what stands there is not: logs are kept, and read by many."""
    secret = "correct-horse"
    source, (found,) = read(FILE, f"a: 1\npassword: {secret}\n".encode())
    told = _text(found, source=source)

    assert secret not in told
    assert " --> profiles/a.yaml:2:11\n" in told
    assert f"2 | password: {'*' * len(secret)}\n  |           ^" in told
    assert secret not in document.report("validate", findings.Findings((found,), Places({FILE: source}, {})))


def test_no_line_of_a_private_key_is_shown() -> None:
    """A finding in the middle of it has a line that does not look like a key by itself."""
    body = "MIIEpAIBAAKCAQEA7bq9"
    source, problems = read(FILE, f"a: |\n  -----BEGIN PRIVATE KEY-----\n  {body}\u200b\n  -----END\n".encode())
    told = _text(*problems, source=source)

    assert [each.rule for each in problems] == ["shape/hidden-character", "delivery/secret-in-git"]
    assert "--> profiles/a.yaml:3:23" in told
    assert body not in told


def test_absent_first_key_is_named_beside_the_file() -> None:
    """The first line has nothing to do with it, so no line is shown."""
    told = _text(RULE.at(Pointer(FILE) / "largestJob" / "nodes", "bad"), source=_source("contact: x\n"))

    assert " --> profiles/a.yaml (`largestJob` is not stated there)\n  = if merged" in told
    assert "contact" not in told
