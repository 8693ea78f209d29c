"""The documentation site: its sources, and that its pages have the form that GitHub shows."""

from __future__ import annotations

import tomllib
from collections import Counter
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from docs import site
from tests.pages import DOCS, ROOT

_TO_HTML = import_module("markdown").markdown  # It has no type stubs.
_FORM = frozenset({"blockquote", "h1", "h2", "h3", "h4", "li", "ol", "pre", "table", "tr", "ul"})


class _Form(HTMLParser):
    """Counts the tags that give a page its form."""

    def __init__(self) -> None:
        super().__init__()
        self.count: Counter[str] = Counter()

    def handle_starttag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        if tag in _FORM:
            self.count[tag] += 1


def _form(html: str) -> Counter[str]:
    parser = _Form()
    parser.feed(html)
    return parser.count


def _extensions() -> list[str]:
    """Return the Markdown extensions that the site uses, by their import names."""
    project = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
    extensions = dict(project["markdown_extensions"])
    pymdown = extensions.pop("pymdownx")
    return [*extensions, *(f"pymdownx.{name}" for name in pymdown)]


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page_has_the_same_form_on_the_site_as_on_github(page: Path) -> None:
    """Python-Markdown wants four columns and blank lines where CommonMark does not."""
    text = page.read_text("utf-8")
    github = MarkdownIt("commonmark").enable("table").render(text)

    assert _form(_TO_HTML(text, extensions=_extensions())) == _form(github)


def test_site_has_every_page_and_what_pages_link_to(tmp_path: Path) -> None:
    """Files keep their places; programs that users copy come along, generators stay out."""
    (tmp_path / "left-over.md").write_text("old", "utf-8")

    assert site.main([str(tmp_path)]) == 0
    copied = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert {page.relative_to(ROOT) for page in DOCS} < copied
    assert Path("examples/two-fabrics/README.md") in copied
    assert Path(".nav.yml") in copied
    generators = [path for path in copied if path.suffix == ".py" and path.parts[0] == "docs"]
    assert not generators
    assert Path("left-over.md") not in copied


@pytest.mark.parametrize("link", ["missing.md", "docs", "../../etc/hostname"])
def test_site_refuses_a_link_that_is_no_file_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    """A folder has no page on the site, and nothing outside the repository is copied."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(f"[there]({link})\n", "utf-8")
    monkeypatch.setattr(site, "ROOT", tmp_path)

    with pytest.raises(site.LinkError, match=f"README.md: `{link}`"):
        site.linked_files()
