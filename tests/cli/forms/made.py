"""Findings made by chance, at places of a file with any text."""

from __future__ import annotations

from hypothesis import strategies as st

from trainyard.cli.findings import Findings
from trainyard.cli.places import Places
from trainyard.diagnostics import Diagnostic, Note, Pointer, Severity
from trainyard.rulebook import all_rules
from trainyard.yaml_io.source import Mark, Source

READ = "profiles/teams/nlp.yaml"
RULES = all_rules()
HOSTILE = (
    "::error::forged",
    " ::add-mask::e",
    "%0A::stop-commands::x",
    "##[add-mask]e",
    "a##[error]b",
    "[link](https://evil.example.com)",
    "[link](1)",
    "![image](https://evil.example.com/i.png)",
    "{0}",
    "@everyone",
    "#1 !1 ~label %1 &1",
    "/merge",
    "\n/merge\n",
    "<script>alert(1)</script>",
    "<!-- trainyard -->",
    "</details>",
    "]]></failure>",
    "&amp;&lt;",
    "```",
    "\n```\n@everyone\n",
    "~~~~",
    "`` ` ``",
    "| a | b |\n|---|---|",
    "# heading",
    "> quote",
    "- item",
    "    code",
    "https://evil.example.com www.evil.example.com a@evil.example.com",
    "\x1b]0;title\x07\x1b[2J",
    "\u202edesrever\u2066",
    "\u200b\ufeff\u00ad",
    "\r\n\r\x00\x0b\x0c\x85\u2028\u2029",
    "\ud800",
    "\uffff\ufffe",
    "a" * 5000,
    "%25%0D%3A%2C",
    "'\"\\$(id)${{ github.token }}",
    "\\",
    "\\]()",
)

texts = st.text(max_size=40) | st.sampled_from(HOSTILE)
_words = st.lists(texts, min_size=1, max_size=3).map("".join)
_files = st.sampled_from([READ, "overlays/lab/a b:c,d.yaml", "profiles/teams/@x#1.yaml"])
_pointers = st.builds(
    Pointer,
    _files,
    st.lists(st.integers(0, 2) | st.text(max_size=3), max_size=2).map(tuple),
)
_notes = st.builds(Note, _words, st.none() | _pointers)


@st.composite
def _diagnostics(draw: st.DrawFn) -> Diagnostic:
    rule = draw(st.sampled_from(RULES))
    return Diagnostic(
        rule.id,
        rule.severity,
        draw(_words.map("bad {}".format)),
        draw(_pointers),
        draw(_words),
        draw(_words | st.just("")),
        tuple(draw(st.lists(_notes, max_size=3))),
        draw(st.sampled_from(["one cause", "another"])),
    )


@st.composite
def _sources(draw: st.DrawFn) -> Source:
    content = draw(_words.filter(bool)).encode("utf-8", "surrogatepass")
    line = content.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")[0]
    column = draw(st.integers(1, len(line) + 1))
    end = draw(st.integers(column, len(line) + 1))
    return Source(READ, content, None, {(): Mark(1, column, end)})


findings = st.builds(
    lambda diagnostics, source: Findings(tuple(diagnostics), Places({READ: source}, {})),
    st.lists(_diagnostics(), max_size=12),
    _sources(),
)


def many(count: int, severity: Severity, length: int = 5) -> Findings:
    """Return findings of different causes, whose messages have a length."""
    rule = next(rule for rule in RULES if rule.severity is severity)
    found = tuple(rule.at(Pointer(READ), str(number).zfill(length)) for number in range(count))
    return Findings(found, Places({READ: Source(READ, b"a: 1\n")}, {}))
