"""Prose is short and plain, and each page links the terms of the glossary.

The generated pages are written from rules, schemas and commands, so they are checked too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from docs.generate import WRITTEN
from docs.glossary import (
    BLOCK,
    GLOSSARY,
    USERS_GLOSSARY,
    glossaries,
    link,
    targets,
    terms,
    unlinked,
    without_code,
)
from tests.pages import ROOT
from trainyard.cli.app import app
from trainyard.rulebook import all_rules

MAX_WORDS = 30
MAX_COLUMNS = 160
NAMES = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = [*(ROOT / name for name in NAMES), *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = [page for page in PAGES if page.read_text("utf-8").startswith(WRITTEN)]
BY_HAND = [page for page in PAGES if page not in GENERATED]
ARCHITECTURE = ROOT / "docs" / "explanation" / "architecture.md"
# Words with a meaning of our own, and what to write instead of them.
PRIVATE = {
    "for ever": "permanently",
    "way out": "egress rule",
    "ways out": "egress rules",
    "way in": "ingress rule",
    "all the same": "still",
    "in silence": "silently",
    "without a word": "without a message",
    "told": "reported",
    "said": "stated",
    "says goodbye": "is marked `retired`",
}

_CODE = re.compile(r"``.+?``|`[^`\n]+`")
_LINK = re.compile(r"!?\[([^\[\]]+)\](?:\([^)\s]*\)|\[[^\[\]]*\])?")
_TARGET = re.compile(r"^\[[^\]]+\]: \S+$", re.MULTILINE)
_MARKUP = re.compile(r"<!--.*?-->|</?\w[^>]*>", re.DOTALL)
_ITEM = re.compile(r"^ *(?:[-*>]|\d+\.) +")
_START = re.compile(rf"\s*$|\s*\||{_ITEM.pattern}")
_HEADING = re.compile(r"^#.*$", re.MULTILINE)
_RULE_OF_TABLE = re.compile(r"^[-:| ]+$")
_CELL_END = re.compile(r"(?<!\\)\|")
_SENTENCE_END = re.compile(r"(?<!e\.g\.)(?<=[.!?])[\"')*]* +")
_SENTENCE_IN_LINE = re.compile(r"(?<!e\.g)[a-z0-9)`*\]][.!?] +[A-Z`\[*]")
_WALK = re.compile(r"`([a-z_/]+\.py):(\w+(?:\.\w+)?)`")

_each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
_each_page_by_hand = pytest.mark.parametrize(
    "page", BY_HAND, ids=lambda page: str(page.relative_to(ROOT))
)


def sentences(markdown: str) -> Iterator[str]:
    """Yield each sentence of a page, with `CODE` for a code span and `LINK` for a link.

    Cells of tables are lists, so a semicolon ends a sentence there.
    """
    text = _HEADING.sub("\n", BLOCK.sub("\n", markdown))
    text = _MARKUP.sub("", _TARGET.sub("", text.replace("<br>", ";")))
    text = _LINK.sub("LINK", _CODE.sub("CODE", text))
    for block in _blocks(text):
        yield from filter(None, (part.strip() for part in _SENTENCE_END.split(block)))


def _blocks(text: str) -> Iterator[str]:
    """Yield each cell of a table, and other prose up to the end of a line that ends a sentence."""
    block: list[str] = []
    for line in text.splitlines():
        if _START.match(line):
            yield " ".join(block)
            block = []
        if line.lstrip().startswith("|"):
            yield from _cells(line)
        else:
            block.append(_ITEM.sub("", line).strip())
        if line.endswith((".", "?", "!")):
            yield " ".join(block)
            block = []
    yield " ".join(block)


def _cells(line: str) -> Iterator[str]:
    for cell in _CELL_END.split(line):
        if not _RULE_OF_TABLE.match(cell):
            yield from cell.split(";")


def words(sentence: str) -> int:
    """Return how many words a sentence has; signs alone are none."""
    return sum(any(sign.isalnum() for sign in word) for word in sentence.split())


def private_words(text: str) -> list[str]:
    """Return the private words in a text, without its code."""
    prose = re.sub(r"\]\([^)]*\)", "]", _CODE.sub("", text))
    return [word for word in PRIVATE if re.search(rf"\b{word}\b", prose, re.IGNORECASE)]


def docstrings(module: Path) -> Iterator[str]:
    """Yield the docstrings of a module, its classes and its functions."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, documented) and (text := ast.get_docstring(node)):
            yield text


def commands(group: click.Command) -> Iterator[click.Command]:
    """Yield a command and every command below it."""
    yield group
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command
            yield from commands(command)


@_each_page_by_hand
def test_sentences_are_short(page: Path) -> None:
    long = [each for each in sentences(page.read_text("utf-8")) if words(each) > MAX_WORDS]
    assert not long, f"more than {MAX_WORDS} words"


@pytest.mark.parametrize("page", GENERATED, ids=lambda page: page.name)
def test_clauses_of_generated_pages_are_short(page: Path) -> None:
    """A rule states the consequence, a colon, and the reason; each of them is short."""
    text = sentences(page.read_text("utf-8"))
    clauses = [clause for sentence in text for clause in re.split(r"[:;] ", sentence)]
    assert not [clause for clause in clauses if words(clause) > MAX_WORDS]


@_each_page_by_hand
def test_each_sentence_has_a_line(page: Path) -> None:
    """Diffs stay readable."""
    lines = _TARGET.sub("", BLOCK.sub("", page.read_text("utf-8"))).splitlines()
    prose = [_ITEM.sub("", line) for line in lines if not line.startswith(("|", "#"))]
    assert not [line for line in prose if _SENTENCE_IN_LINE.search(line)]


@_each_page_by_hand
def test_lines_are_short(page: Path) -> None:
    lines = BLOCK.sub("", page.read_text("utf-8")).splitlines()
    assert not [line for line in lines if len(line) > MAX_COLUMNS and not line.startswith("|")]


@_each_page
def test_terms_are_linked_at_their_first_use(page: Path) -> None:
    """`python -m docs.glossary PAGE` adds the links."""
    text = page.read_text("utf-8")
    assert not [
        use for glossary in glossaries(page) for use in unlinked(text, glossary.read_text("utf-8"))
    ]


@_each_page
def test_pages_have_no_private_words(page: Path) -> None:
    assert not private_words(without_code(page.read_text("utf-8")))


def test_rules_have_no_private_words() -> None:
    for rule in all_rules():
        assert not private_words(f"{rule.summary} {rule.why} {rule.fix}"), rule.id


def test_docstrings_have_no_private_words() -> None:
    found = {
        f"{module.relative_to(ROOT)}: {text.splitlines()[0]}": private_words(text)
        for module in sorted((ROOT / "generator").rglob("*.py"))
        for text in docstrings(module)
    }
    assert not {place: words for place, words in found.items() if words}


def test_help_has_no_private_words() -> None:
    for command in commands(app):
        helps = [command.help or "", *(getattr(each, "help", "") or "" for each in command.params)]
        assert not private_words(" ".join(helps)), command.name


def test_glossary_defines_each_term_once() -> None:
    found = [
        [term for term, _ in terms(glossary.read_text("utf-8"))]
        for glossary in (GLOSSARY, USERS_GLOSSARY)
    ]
    assert [*map(sorted, found)] == found
    both = [*found[0], *found[1]]
    assert len(both) == len(set(both))


def test_walks_name_functions_that_exist() -> None:
    """The architecture page names a file below `generator/trainyard/`, and a function in it."""
    steps = _WALK.findall(ARCHITECTURE.read_text("utf-8"))
    assert len(steps) > 15
    for file, name in steps:
        tree = ast.parse((ROOT / "generator" / "trainyard" / file).read_text("utf-8"))
        assert name in set(_names(tree)), f"{file}:{name}"


def _names(tree: ast.Module) -> Iterator[str]:
    """Yield the name of each function and class of a module, and `Class.method`."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            methods = (each for each in node.body if isinstance(each, ast.FunctionDef))
            yield from (f"{node.name}.{each.name}" for each in methods)


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("One `a b`. Two [c d](e).\n", ["One CODE.", "Two LINK."]),
        ("- One\n  goes on.\n- Two\n", ["One goes on.", "Two"]),
        ("| a | b; c |\n|---|---|\n| d. E | |\n", ["a", "b", "c", "d.", "E"]),
        ("# Heading\nText, e.g. Kueue 0.16. Next\n", ["Text, e.g. Kueue 0.16.", "Next"]),
        ("```text\nno prose\n```\n", []),
    ],
)
def test_sentences_of_markdown(markdown: str, expected: list[str]) -> None:
    assert list(sentences(markdown)) == expected


def test_words_count_no_signs() -> None:
    assert words("CODE -> two words") == 3


def test_private_words_in_code_are_no_finding() -> None:
    assert private_words("It lasts for ever, `for ever`.") == ["for ever"]
    assert private_words("It lasts, `for ever`.") == []


def test_first_uses_are_linked() -> None:
    """The target is at the end of the page; headings and code do not count as a use."""
    glossary = "# Glossary\n\n## Rail\n\n## Sync unit\n"
    page = "# Rails\n\nSee `rail`.\nSync units and rails, each rail.\n"
    linked = link(page, "glossary.md", glossary)

    assert linked == (
        "# Rails\n\nSee `rail`.\n[Sync units][sync unit] and [rails][rail], each rail.\n\n"
        "[rail]: glossary.md#rail\n[sync unit]: glossary.md#sync-unit\n"
    )
    assert list(targets(linked)) == ["rail", "sync unit"]
    assert list(unlinked(linked, glossary)) == []
    assert [use.term for use in unlinked(page, glossary)] == ["rail", "sync unit"]
    assert [use.term for use in unlinked("A rail, a [rail](glossary.md#rail).", glossary)] == [
        "rail"
    ]
