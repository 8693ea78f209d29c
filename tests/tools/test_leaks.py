"""The developer's tool that takes credential rules over from gitleaks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tools import leaks
from trainyard.diagnostics import ToolError

ASSIGNED = r"""(?i)[\w.-]{0,50}?(?:acme)(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)([a-z]{32})"""  # noqa: E501 - one value
TABLE = f"""
[[rules]]
id = "beta-token"
regex = '''\\b(BT-(?i)[a-z]{{4}})(?:[\\x60'"\\s;]|\\\\[nr]|$)'''
entropy = 2
keywords = ["BT-"]
[[rules]]
id = "alpha-token"
regex = '''alpha_[[:alnum:]]{{4}}(?:[^\\w-]|\\z)'''
keywords = ["alpha_"]
[[rules]]
id = "acme-key"
regex = '''{ASSIGNED}'''
keywords = ["acme"]
[[rules]]
id = "file"
path = "x"
[[rules]]
id = "public"
regex = "public"
keywords = ["public"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the rules, beside the module of gitleaks."""
    module, folder = tmp_path / "module", tmp_path / "gitleaks"
    (module / "config").mkdir(parents=True)
    folder.mkdir()
    (module / "config" / "gitleaks.toml").write_text(TABLE, encoding="utf-8")
    (module / "LICENSE").write_text("MIT\n", encoding="utf-8")
    monkeypatch.setattr(leaks, "_HERE", folder)
    monkeypatch.setattr(leaks, "LEFT_OUT", {"public": "why"})
    monkeypatch.setattr(
        leaks, "modules", lambda _folder: {"github.com/zricethezav/gitleaks/v8": module}
    )
    return folder


def test_rules_of_a_form_of_their_own_are_taken(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sorted, for Python, with the licence; rules that need a word or a path, and those left out,
    are not taken."""
    assert leaks.main([]) == 0
    assert capsys.readouterr().out == "yaml_io/gitleaks/LICENSE\nyaml_io/gitleaks/rules.json\n"
    assert (folder / "LICENSE").read_text(encoding="utf-8") == "MIT\n"
    assert json.loads((folder / "rules.json").read_bytes()) == [
        {
            "entropy": 0,
            "id": "alpha-token",
            "keywords": ["alpha_"],
            "pattern": r"alpha_[A-Za-z0-9]{4}(?![\w-])",
        },
        {
            "entropy": 2,
            "id": "beta-token",
            "keywords": ["bt-"],
            "pattern": r"\b(BT-(?i:[a-z]{4}))(?![\w-])",
        },
    ]


def test_check_shows_what_differs_and_writes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that a review sees a change of gitleaks as a diff."""
    assert leaks.main(["--check"]) == 1
    assert capsys.readouterr().out == "yaml_io/gitleaks/LICENSE\nyaml_io/gitleaks/rules.json\n"
    assert list(folder.iterdir()) == []
    leaks.main([])
    capsys.readouterr()
    assert leaks.main(["--check"]) == 0
    assert capsys.readouterr().out == ""


def test_rule_that_is_left_out_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason of a rule that gitleaks dropped is dropped too."""
    monkeypatch.setattr(leaks, "LEFT_OUT", {"gone": "why"})
    with pytest.raises(ToolError, match="no rule gone any more"):
        leaks.rules_file(TABLE)


def test_expression_that_python_does_not_know_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of a crash when the first profile is read."""
    monkeypatch.setattr(leaks, "LEFT_OUT", {})
    with pytest.raises(ToolError, match="gitleaks' odd is not Python's"):
        leaks.rules_file('[[rules]]\nid = "odd"\nregex = "(?P<odd"\nkeywords = ["odd"]\n')


@pytest.mark.parametrize(
    ("regex", "pattern"),
    [
        (r"(?i)a(?:b)", r"(?i)a(?:b)"),
        (r"a(?i)b(c)", r"a(?i:b(c))"),
        (r"(a\((?i)[)]b)c", r"(a\((?i:[)]b))c"),
        (r"(?i)(a(?i)b)c", r"(?i)(a(?i:b))c"),
    ],
)
def test_flag_holds_to_the_end_of_its_group(regex: str, pattern: str) -> None:
    """As Go reads it."""
    assert leaks.python_pattern(regex) == pattern
    re.compile(pattern)


def test_every_committed_rule_is_python_and_has_keywords() -> None:
    """Without a keyword, a rule would never be tried."""
    rules = json.loads(
        (
            Path(leaks.__file__).parents[1] / "trainyard" / "yaml_io" / "gitleaks" / "rules.json"
        ).read_bytes()
    )

    assert len(rules) > 100
    assert all(each["keywords"] for each in rules)
    for each in rules:
        re.compile(each["pattern"], re.ASCII)
