"""Texts of profiles on generated pages: each is shown as it is, and none changes the page around
it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.rules.cases import platform_of
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.tenant import Tenant
from trainyard.render.markdown import as_is, code, page, text
from trainyard.render.site import render_site
from trainyard.render.unit import evidence_page, readme

REGULATED: dict[str, Any] = {
    "compliance/iso.yaml": {"title": "ISO", "controls": {"audit": "2"}},
    "teams/nlp.yaml": {"compliance": "iso"},
}
LINES = st.text(
    st.one_of(st.sampled_from("|\\`*_[]()<>&#~$!:/.-+= \n\twa1;"), st.characters(codec="utf-8"))
)
TEXTS = LINES.filter(lambda line: "\0" not in line)
HOSTILE = (
    "a | answered | yes | b",
    "a \\| b",
    "ends with \\",
    "<script>alert(1)</script>",
    "<!-- gone",
    "[here](https://evil.example)",
    "![seen](https://evil.example/x.png)",
    "https://evil.example and www.evil.example",
    "<https://evil.example>",
    "line\n\n# heading\n\n| a | b |",
    "&lt;b&gt; &#124;",
    "`code` **bold** __bold__ ~~gone~~ $x$",
)
hostile = pytest.mark.parametrize("value", HOSTILE)


@cache
def _base() -> tuple[Site, tuple[Manifest, ...]]:
    site = platform_of(REGULATED).sites[0]
    return site, tuple(render_site(site))


def _said(value: str) -> tuple[Site, tuple[Manifest, ...]]:
    """Return the base with a text wherever a profile takes any, and its objects."""
    site, manifests = _base()
    external = dict.fromkeys(site.cluster.external, value)
    tenants = tuple(_said_of(tenant, value) for tenant in site.tenants)
    return replace(
        site, cluster=replace(site.cluster, external=external), tenants=tenants
    ), manifests


def _said_of(tenant: Tenant, value: str) -> Tenant:
    regulation = tenant.team.compliance
    if regulation is None:
        return tenant
    changed = replace(regulation, title=value, controls={"audit": value})
    return replace(tenant, team=replace(tenant.team, compliance=changed, contact=value))


def _parsed(markdown: str) -> list[Token]:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)


def _skeleton(tokens: list[Token]) -> list[str]:
    """Return the kinds of blocks of a page, and of what is in their lines apart from text."""
    inline = (
        child
        for token in tokens
        for child in token.children or ()
        if not child.type.startswith("text")
    )
    return [*(token.type for token in tokens), *(each.type for each in inline)]


def _cells(tokens: list[Token]) -> Iterator[str]:
    """Yield what each line or cell shows."""
    yield from (
        "".join(each.content for each in token.children or ()).strip()
        for token in tokens
        if token.children
    )


def _shown(value: str) -> str:
    return " ".join(value.split())


@settings(max_examples=200)
@given(TEXTS)
def test_any_text_is_one_cell_that_shows_it(value: str) -> None:
    """A row keeps its columns, and the cell has nothing but the text."""
    tokens = _parsed(f"| a | b | c |\n|---|---|---|\n| x | {text(value)} | z |\n")
    cells = [token for token in tokens if token.type == "inline"]

    assert [token.type for token in tokens].count("tr_open") == 2
    assert [token.type for token in tokens].count("td_open") == 3
    assert "".join(each.content for each in cells[4].children or ()).split() == value.split()
    assert all(each.type.startswith("text") for each in cells[4].children or ())


@pytest.mark.thorough
@settings(max_examples=40)
@given(TEXTS.filter(str.strip))
@example(HOSTILE[0])
@example(HOSTILE[3])
@example(HOSTILE[9])
def test_no_text_of_a_profile_changes_a_page(value: str) -> None:
    """Title, control, contact and owners: the page has the blocks that it has with plain words, and
    shows the text."""
    site, manifests = _said(value)
    plain, _ = _said("word")
    for made, usual in (
        (
            evidence_page(site, manifests)["COMPLIANCE.md"],
            evidence_page(plain, manifests)["COMPLIANCE.md"],
        ),
        (readme(site), readme(plain)),
    ):
        assert _skeleton(_parsed(made)) == _skeleton(_parsed(usual))
        assert _shown(value) in [_shown(cell) for cell in _cells(_parsed(made))]


@hostile
def test_hostile_text_is_text(value: str) -> None:
    """What looks like a cell, HTML, a link or a heading is none, GitHub's own links of addresses
    included."""
    tokens = _parsed(f"Contact: {text(value)}.\n")

    assert _skeleton(tokens) == ["paragraph_open", "inline", "paragraph_close"]
    assert "".join(_cells(tokens)) == f"Contact: {_shown(value)}."
    assert "https://" not in text(value)
    assert "www." not in text(value)


@hostile
def test_code_span_holds_any_text(value: str) -> None:
    """A text that would end the span, or the cell around it, is not code."""
    tokens = _parsed(f"| a | b |\n|---|---|\n| {code(value)} | z |\n")

    assert [token.type for token in tokens].count("td_open") == 2
    assert _shown(value) in list(_cells(tokens))


def test_names_keep_their_form() -> None:
    """Names of objects are code, plain words stay readable, and Markdown is not escaped twice."""
    assert code("StorageClass/ceph_fs") == "`StorageClass/ceph_fs`"
    assert code("") == ""
    assert text("system:openshift:scc, 164.312(b), team-a@example.com") == (
        "system:openshift:scc, 164.312(b), team-a@example.com"
    )
    assert text(text("a_b")) == "a\\_b"
    assert as_is("`a`\n") == "`a` "


def test_unknown_name_in_a_page_is_a_bug() -> None:
    """A page never shows an empty place for what its template misspells."""
    with pytest.raises(UndefinedError):
        page("compliance.md.j2").render()
