"""What a template may and may not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.render.grammar import GrammarError, read_template

TEMPLATES = Path(__file__).parents[2] / "templates"

GOOD = {
    "values": "a: {{ x }}\nb:\n  - {{ x.y.z }}\n  - c: {{ x }}  # why\n",
    "list-loop": "a:\n{% for x in xs.ys %}\n  - {{ x }}\n  - b: {{ x.c }}\n{% endfor %}\n",
    "if-elif-else": "{% if not a.b and (c or d) %}\na: 1\n{% elif e == 'f' %}\na: 2\n{% else "
    "%}\na: 3\n{% endif %}\n",
    "tests": "{% if a == 3 or a != b.c %}\na: 1\n{% endif %}\n",
    "comments": "{# one #}\na: 1  # two\n  {# three\n     more #}\n# four\nb: 2\n",
    "indented-statements": "a:\n  {% for x in xs %}\n  - {{ x }}\n  {% endfor %}\n",
    "nested": (
        "a:\n{% for x in xs %}\n{% if x.y %}\n  - b:\n"
        "{% for z in x.zs %}\n    - {{ z }}\n{% endfor %}\n{% endif %}\n{% endfor %}\n"
    ),
    "block-scalar": "a: |\n  one\n\n  {two}: three\nb: {{ c }}\n",
    "blank-lines": "a: 1\n\n{% if b %}\n\nc: 2\n\n{% endif %}\n",
    "constant-flow": "a: {}\nb: [c, d]\n",
    "quoted-key": '"a/b": {{ c }}\n{% if d %}\n"e/f": 1\n{% endif %}\n',
}

BAD = {
    "quoted": ('a: "{{ b }}"\n', 1),
    "single-quoted": ("x: 1\na: '{{ b }}'\n", 2),
    "in-quoted-text": ('a: "b {{ c }}"\n', 1),
    "text-before": ("a: b-{{ c }}\n", 1),
    "text-after": ("a: {{ b }}-c\n", 1),
    "continued": ("a: {{ b }}\n  c\n", 1),
    "two": ("a: {{ b }}{{ c }}\n", 1),
    "two-spaced": ("a: {{ b }} {{ c }}\n", 1),
    "key": ("{{ a }}: b\n", 1),
    "part-of-key": ("a/{{ b }}: c\n", 1),
    "quoted-key": ('"{{ a }}": c\n', 1),
    "in-flow": ("a: [{{ b }}]\n", 1),
    "in-block-scalar": ("a: |\n  {{ b }}\n", 2),
    "in-block-scalar-like-an-entry": ("a: |\n  b: {{ c }}\n", 2),
    "in-comment": ("a: 1  # {{ b }}\n", 1),
    "whole-document": ("{{ a }}\n", 1),
    "filter": ("a: {{ b | upper }}\n", 1),
    "call": ("a: {{ b() }}\n", 1),
    "item": ("a: {{ b['c'] }}\n", 1),
    "index": ("a: {{ b.0 }}\n", 1),
    "literal": ("a: {{ 'b' }}\n", 1),
    "list": ("a: {{ [b] }}\n", 1),
    "arithmetic": ("a: {{ b + 1 }}\n", 1),
    "concatenation": ("a: {{ b ~ c }}\n", 1),
    "conditional": ("a: {{ b if c else d }}\n", 1),
    "comparison": ("a: {{ b == c }}\n", 1),
    "private": ("a: {{ b.__class__ }}\n", 1),
    "private-name": ("a: {{ b._c.d }}\n", 1),
    "loop-variable": ("a:\n{% for b in c %}\n  - {{ loop.index }}\n{% endfor %}\n", 3),
    "loop-named-loop": ("a:\n{% for loop in c %}\n  - 1\n{% endfor %}\n", 2),
    "for-filter": ("a:\n{% for b in c | sort %}\n  - 1\n{% endfor %}\n", 2),
    "for-if": ("a:\n{% for b in c if b %}\n  - 1\n{% endfor %}\n", 2),
    "for-else": ("a:\n{% for b in c %}\n  - 1\n{% else %}\n  - 2\n{% endfor %}\n", 2),
    "for-recursive": ("a:\n{% for b in c recursive %}\n  - 1\n{% endfor %}\n", 2),
    "for-pairs": ("a:\n{% for b, c in d %}\n  - 1\n{% endfor %}\n", 2),
    "for-keys": ("a:\n{% for b in c %}\n  d: 1\n{% endfor %}\n", 3),
    "test-is": ("{% if a is defined %}\nb: 1\n{% endif %}\n", 1),
    "test-in": ("{% if a in b %}\nb: 1\n{% endif %}\n", 1),
    "test-less": ("{% if a < 1 %}\nb: 1\n{% endif %}\n", 1),
    "test-chain": ("{% if a == 1 == b %}\nb: 1\n{% endif %}\n", 1),
    "test-float": ("{% if a == 1.5 %}\nb: 1\n{% endif %}\n", 1),
    "test-bool": ("{% if a == true %}\nb: 1\n{% endif %}\n", 1),
    "test-constant": ("{% if 1 %}\nb: 1\n{% endif %}\n", 1),
    "elif-filter": ("{% if a %}\nb: 1\n{% elif a | length %}\nb: 2\n{% endif %}\n", 3),
    "macro": ("{% macro a() %}\nb: 1\n{% endmacro %}\n", 1),
    "set": ("{% set a = 1 %}\nb: 1\n", 1),
    "include": ("{% include 'a' %}\nb: 1\n", 1),
    "import": ("{% import 'a' as c %}\nb: 1\n", 1),
    "extends": ("{% extends 'a' %}\nb: 1\n", 1),
    "block": ("{% block a %}\nb: 1\n{% endblock %}\n", 1),
    "with": ("{% with a = b %}\nb: 1\n{% endwith %}\n", 1),
    "raw": ("{% raw %}\nb: 1\n{% endraw %}\n", 1),
    "filter-block": ("{% filter upper %}\nb: 1\n{% endfilter %}\n", 1),
    "set-inside": ("{% if a %}\nb: 1\n{% set a = 1 %}\n{% endif %}\n", 3),
    "inline-if": ("a: {% if b %}1{% endif %}\n", 1),
    "statement-after-text": ("a:\n{% for b in c %}  - 1\n{% endfor %}\n", 2),
    "trailing-space": ("{% if b %} \na: 1\n{% endif %}\n", 1),
    "inline-comment": ("a: 1 {# b #}\nc: 2\n", 1),
    "comment-first": ("{# b #} c: 2\n", 1),
    "strip-before": ("{%- if b %}\na: 1\n{% endif %}\n", 1),
    "strip-after": ("{% if b -%}\na: 1\n{% endif %}\n", 1),
    "strip-value": ("a: {{- b }}\n", 1),
    "keep-indent": ("{%+ if b %}\na: 1\n{% endif %}\n", 1),
    "unclosed": ("{% if b %}\na: 1\n", 2),
    "syntax": ("a: {{ b c }}\n", 1),
    "half-entry": ("a:\n{% if b %}\n  - c: 1\n{% endif %}\n    d: 2\n", 5),
    "half-mapping": ("{% if b %}\na:\n{% endif %}\n  c: 1\n", 4),
    "bare-value": ("a:\n{% if b %}\n  c\n{% endif %}\n", 3),
    "bare-empty": ("a:\n{% if b %}\n  {}\n{% endif %}\n", 3),
    "flow-in-block": ("a: [\n{% if b %}\n  1,\n{% endif %}\n  2]\n", 3),
    "half-flow": ("a:\n{% if b %}\n  {c: 1,\n{% endif %}\n   d: 2}\n", 3),
    "dash-outside": ("a:\n  -\n{% if b %}\n    c: 1\n{% endif %}\n", 4),
    "statement-in-block-scalar": ("a: |\n  b\n{% if c %}\n  d\n{% endif %}\n", 4),
    "statement-in-quotes": ('a: "b\n{% if c %}\n  d\n{% endif %}\n  e"\n', 1),
    "comment-in-quotes": ('a: "b\n  {# c #}\n  d"\n', 1),
    "key-twice": ("a: 1\nb: 2\na: 3\n", 3),
    "key-twice-in-block": ("a: 1\n{% if b %}\na: 3\n{% endif %}\n", 3),
    "key-in-two-ifs": ("{% if b %}\na: 1\n{% endif %}\n{% if b %}\na: 1\n{% endif %}\n", 5),
    "two-documents": ("a: 1\n---\nb: 1\n", 3),
    "alias": ("a: &b 1\nc: *b\n", 1),
    "list-document": ("- a\n", 1),
    "no-yaml": ("a: b: c\n", 1),
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD.keys())
def test_read_template_accepts_what_the_grammar_allows(text: str) -> None:
    """Each form of the grammar is accepted."""
    assert read_template(text, "t")[1].kind == "mapping"


@pytest.mark.parametrize(("text", "line"), BAD.values(), ids=BAD.keys())
def test_read_template_refuses_the_rest_with_its_line(text: str, line: int) -> None:
    """Everything else is refused, and the message leads to the line."""
    with pytest.raises(GrammarError, match=rf"^team/t\.j2:(?: line )?{line}:"):
        read_template(text, "team/t.j2")


def test_read_template_reports_all_mistakes_of_a_kind_in_order() -> None:
    """A writer sees all bad expressions at once, first line first."""
    with pytest.raises(GrammarError) as caught:
        read_template("a: {{ b | c }}\nd: {{ e() }}\n{% set f = 1 %}\n", "t")
    assert [line.split(":")[1] for line in str(caught.value).splitlines()] == ["1", "2", "3"]


@pytest.mark.parametrize(
    "file",
    sorted(TEMPLATES.rglob("*.yaml.j2")),
    ids=lambda file: file.relative_to(TEMPLATES).as_posix(),
)
def test_templates_keep_to_the_grammar(file: Path) -> None:
    """Each template that ships is within the grammar."""
    read_template(file.read_text(encoding="utf-8"), file.name)
