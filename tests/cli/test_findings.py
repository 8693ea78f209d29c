from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.platform import write_platform
from trainyard.cli import document, findings
from trainyard.cli.console import printable
from trainyard.cli.forms import FORMS, forms_of
from trainyard.cli.places import Places
from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity, has_errors
from trainyard.generation.generate import check
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Mark, Source

RULE = Rule("family/pattern", Severity.WARNING, "What.", "Why.", "Fix.")
FILE = "profiles/a.yaml"
REPOSITORY = Path(__file__).resolve().parents[2]


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
    notes = [
        Note("see", Pointer(FILE) / "b"),
        Note("that is all"),
        Note("gone", Pointer("profiles/b.yaml")),
    ]

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
    notes = [
        Note("see", Pointer(FILE) / "b"),
        Note("that is all"),
        Note("gone", Pointer("profiles/b.yaml")),
    ]
    found = findings.Findings(
        (RULE.at(Pointer(FILE) / "a", "bad", notes=notes),), Places({FILE: source}, {})
    )
    (reported,) = json.loads(document.report("findings", found))["result"]["diagnostics"]

    assert reported["notes"] == [
        {
            "message": "see",
            "file": FILE,
            "start": {"line": 2, "column": 4},
            "end": {"line": 2, "column": 7},
        },
        {"message": "that is all", "file": None, "start": None, "end": None},
        {"message": "gone", "file": "profiles/b.yaml", "start": None, "end": None},
    ]


def test_rule_without_consequence_or_hint_has_no_empty_lines() -> None:
    bare = dataclasses.replace(RULE, why="", fix="")
    reported = _text(bare.at(Pointer("profiles/b.yaml"), "bad"), source=_source("a: 1\n"))

    assert (
        reported == "warning[family/pattern]: bad\n --> profiles/b.yaml\n\n1 warning in 1 profile"
    )


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
    heads = [
        line for line in _text(*found, source=source).splitlines() if line.startswith("warning[")
    ]

    assert [line[-1] for line in heads] == ["1", "2", "3", "4", "5"]


def test_rule_with_too_many_causes_is_cut_and_counted() -> None:
    """Fifty causes of a rule are enough to read; the sum counts all."""
    source = _source("a: 1\n")
    reported = _text(*(RULE.at(Pointer(FILE) / "a", f"{i:03}") for i in range(60)), source=source)

    assert reported.count("warning[family/pattern]: 0") == 50
    assert reported.endswith("\nwarning[family/pattern]: and 10 more\n\n60 warnings in 1 profile")


def test_findings_of_one_cause_are_one_block() -> None:
    """The first place in full, nine more by name, the rest counted; the sum counts every
    finding."""
    source = _source("a: 1\n")
    others = [RULE.at(Pointer(f"profiles/{i:04}.yaml"), "bad") for i in range(1, 1000)]

    assert _text(RULE.at(Pointer(FILE) / "a", "bad"), *others, source=source) == (
        "warning[family/pattern]: bad (1,000 places)\n"
        " --> profiles/0001.yaml\n"
        + "".join(f"  = also: profiles/{i:04}.yaml\n" for i in range(2, 11))
        + "  = also: and 990 more\n"
        "  = if merged: Why.\n"
        "  = help: Fix.\n\n"
        "1,000 warnings in 1 profile"
    )


def test_cause_is_the_head_only_of_several_findings() -> None:
    """One finding is shown with its message, two of a cause with the cause."""
    at, source = Pointer(FILE), _source("a: 1\nb: 2\n")
    one, two = (
        RULE.at(at / key, f"team {key} lacks it", cause="teams lack it") for key in ("a", "b")
    )

    assert _text(one, source=source).startswith("warning[family/pattern]: team a lacks it\n")
    assert _text(one, two, source=source).startswith(
        "warning[family/pattern]: teams lack it (2 places)\n"
    )


def test_other_rule_severity_or_help_is_another_cause() -> None:
    at, source = Pointer(FILE) / "a", _source("a: 1\n")
    error = dataclasses.replace(RULE, severity=Severity.ERROR)
    other = dataclasses.replace(RULE, id="family/another")
    reported = _text(
        *(each.at(at, "bad") for each in (RULE, error, other)),
        RULE.at(at, "bad", hint="Else."),
        source=source,
    )

    assert [line for line in reported.splitlines() if "[family/" in line] == [
        "error[family/pattern]: bad",
        "warning[family/another]: bad",
        "warning[family/pattern]: bad",
        "warning[family/pattern]: bad",
    ]


@pytest.mark.parametrize("form", ["text", *FORMS])
def test_errors_come_first_in_every_form(form: str) -> None:
    """Also where they are further down in a file."""
    source = _source("a: 1\nb: two\n")
    soft = dataclasses.replace(RULE, id="capacity/idle-nodes")
    hard = dataclasses.replace(RULE, id="change/merge-conflict", severity=Severity.ERROR)
    both = (soft.at(Pointer(FILE) / "a", "soft"), hard.at(Pointer(FILE) / "b", "hard"))
    found = findings.Findings(both, Places({FILE: source}, {}))
    forms = {"text": lambda: findings.text(found, colour=False), **forms_of("validate", found)}
    shown = forms[form]()

    # The rules of SARIF are listed in their own order, before the results.
    assert shown.rindex("hard") < shown.rindex("soft")


def test_a_consequence_is_reported_once_for_each_rule() -> None:
    """At the first finding that has it; the others have their place and help."""
    source = _source("a: 1\n")
    rules = (
        RULE,
        dataclasses.replace(RULE, why="Because."),
        dataclasses.replace(RULE, id="family/another", why="Because."),
    )
    reported = _text(
        *(rule.at(Pointer(FILE), f"{i} {rule.why}") for i in range(3) for rule in rules),
        source=source,
    )

    assert (
        reported.count("= if merged: Why."),
        reported.count("= if merged: Because."),
        reported.count("= help: "),
    ) == (1, 2, 9)


def test_document_holds_every_finding_of_a_cause() -> None:
    """Each has its own message and the common cause."""
    source = _source("a: 1\nb: 2\n")
    found = tuple(RULE.at(Pointer(FILE) / key, f"team {key}", cause="teams") for key in ("a", "b"))
    reported = json.loads(
        document.report("findings", findings.Findings(found, Places({FILE: source}, {})))
    )["result"]["diagnostics"]

    assert [(each["message"], each["cause"], each["consequence"]) for each in reported] == [
        ("team a", "teams", "Why."),
        ("team b", "teams", "Why."),
    ]


@pytest.mark.thorough
def test_renamed_runtime_of_a_thousand_teams_is_one_finding(tmp_path: Path) -> None:
    """The report is shorter than a screen."""
    root = tmp_path / "profiles"
    write_platform(root, REPOSITORY, teams=1000, clusters=20)
    (root / "runtimes" / "openmpi-cuda.yaml").rename(root / "runtimes" / "openmpi.yaml")
    checked = check(root)
    errors = tuple(each for each in checked.diagnostics if has_errors([each]))
    reported = findings.text(
        findings.Findings(errors, Places(checked.profiles.sources(), {})), colour=False
    )

    assert reported.startswith(
        "error[references/unknown-name]: there is no runtime `openmpi-cuda` (1,000 places)\n"
    )
    assert reported.count("error[") == 1
    assert reported.count("= also: profiles/teams/") == 9
    assert reported.endswith("\n1,000 errors in 1,026 profiles")


def test_finding_with_too_many_notes_is_cut_and_counted() -> None:
    """A tree that was never generated does not fill the screen."""
    diagnostic = RULE.at(Pointer(FILE) / "a", "bad", notes=[Note(f"{i:03}") for i in range(60)])
    reported = _text(diagnostic, source=_source("a: 1\n"))

    assert reported.count("= note: ") == 51
    assert "= note: and 10 more\n" in reported


@given(text=st.text(max_size=400), first=st.integers(0, 400), length=st.integers(0, 100))
def test_any_line_is_shown_on_one_line_with_the_caret_below_its_span(
    text: str, first: int, length: int
) -> None:
    """No line controls the terminal."""
    line = text.replace("\n", "").replace("\r", "")
    first = min(first, len(line))
    end = min(first + length, len(line))
    content = line.encode("utf-8", "surrogatepass")
    line = content.decode("utf-8", "replace").removeprefix("\ufeff")
    source = Source(FILE, content, None, {(): Mark(1, first + 1, end + 1)})
    reported = _text(RULE.at(Pointer(FILE), "bad"), source=source).split("\n")
    if not content:
        return
    shown, carets = reported[3][4:], reported[4][4:]
    begin, marked = len(carets) - len(carets.lstrip()), carets.strip()

    assert all(char.isprintable() for char in shown)
    assert set(marked) == {"^"}
    span = printable(line[first:end].replace("\t", " "))
    assert shown.ljust(begin + len(marked))[begin:].startswith(span[: len(marked)])
    assert length > 60 or len(marked) == max(1, len(span))


def test_long_line_is_cut_around_its_span() -> None:
    """Of a long line the part around the span is shown."""
    source = _source(f"a: [{'x, ' * 100}here, {'z, ' * 100}end]\n")
    reported = _text(RULE.at(Pointer(FILE) / "a" / 100, "bad"), source=source).splitlines()

    assert reported[3].startswith("1 | ...")
    assert reported[3].endswith("...")
    assert len(reported[3]) == 4 + 3 + 120 + 3
    begin = reported[4].index("^")
    assert reported[3][begin : begin + 4] == "here"
    assert reported[4].count("^") == 4


def test_message_can_not_steer_the_terminal() -> None:
    """Control characters of a profile are shown, not obeyed."""
    reported = _text(
        RULE.at(Pointer(FILE) / "a", "bad \x1b]0;title\x07 \u202e"), source=_source("a: 1\n")
    )

    assert reported.startswith("warning[family/pattern]: bad \\x1b]0;title\\x07 \\u202e\n")


def test_credential_is_not_printed() -> None:
    """Its place is shown: logs are kept, and many people read them."""
    secret = "correct-horse"
    source, (found,) = read(FILE, f"a: 1\npassword: {secret}\n".encode())
    reported = _text(found, source=source)

    assert secret not in reported
    assert " --> profiles/a.yaml:2:11\n" in reported
    assert f"2 | password: {'*' * len(secret)}\n  |           ^" in reported
    assert secret not in document.report(
        "validate", findings.Findings((found,), Places({FILE: source}, {}))
    )


def test_no_line_of_a_private_key_is_shown() -> None:
    """A finding in the middle of it has a line that does not look like a key by itself."""
    body = "MIIEpAIBAAKCAQEA7bq9"
    source, problems = read(
        FILE, f"a: |\n  -----BEGIN PRIVATE KEY-----\n  {body}\u200b\n  -----END\n".encode()
    )
    reported = _text(*problems, source=source)

    assert [each.rule for each in problems] == ["shape/hidden-character", "delivery/secret-in-git"]
    assert "--> profiles/a.yaml:3:23" in reported
    assert body not in reported


def test_absent_first_key_is_named_beside_the_file() -> None:
    """The first line has nothing to do with it, so no line is shown."""
    reported = _text(
        RULE.at(Pointer(FILE) / "largestJob" / "nodes", "bad"), source=_source("contact: x\n")
    )

    assert " --> profiles/a.yaml (`largestJob` is not stated there)\n  = if merged" in reported
    assert "contact" not in reported
