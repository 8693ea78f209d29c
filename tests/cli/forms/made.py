"""Findings made by chance, at places of a file with any text."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.hostile.texts import texts
from trainyard.cli.findings import Findings
from trainyard.cli.places import Places
from trainyard.diagnostics import Diagnostic, Note, Pointer, Severity
from trainyard.rulebook import all_rules
from trainyard.yaml_io.source import Mark, Source

READ = "profiles/teams/nlp.yaml"
RULES = all_rules()
_words = st.lists(texts | st.just("\ud800"), min_size=1, max_size=3).map("".join)
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
