"""The documentation: its reference is fresh, its links lead somewhere, and what it names exists.

`test_how_to.py` runs the commands of its pages, and `test_readme.py` those of the README.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from markdown_it import MarkdownIt

from docs.generate import main, pages
from docs.glossary import targets
from docs.markdown import anchor
from tests.pages import BLOCK, DOCS, HOW_TOS, ROOT
from trainyard.cli.app import app, help_lines
from trainyard.profiles.read import PACKAGE, releases
from trainyard.rulebook import all_rules
from trainyard.yaml_io.manifests import parse_manifests
from trainyard.yaml_io.reader import read

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_SHOWN = re.compile(r"\[(?!required\]|bot\])[a-z][a-z0-9 -]*\]")
"""A link without a target; options of commands are marked as required so, and GitHub's account
``github-actions[bot]`` has brackets."""

_PATH = re.compile(r"`((?:docs|examples|generator|templates|tests)/[^`<{@:\s]*)[@:`]")
_CODE = re.compile(r"`([^`]+)`")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def links(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the file and the anchor of each link of a page that stays in the repository."""
    text = BLOCK.sub("", path.read_text("utf-8"))
    for link in (*_LINK.findall(text), *targets(text).values()):
        if not link.startswith(("http://", "https://")):
            file, _, place = link.partition("#")
            yield file, place


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    return {anchor(heading) for heading in _HEADING.findall(BLOCK.sub("", path.read_text("utf-8")))}


def test_reference_is_what_the_code_says() -> None:
    """Each generated page is what `make docs` would write."""
    assert main(["--check"]) == 0


@pytest.mark.thorough
def test_check_tells_a_stale_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without its pages the reference is stale; once written it is not, and a foreign page goes."""
    monkeypatch.setattr("docs.generate.DOCS", tmp_path)
    assert main(["--check"]) == 1
    foreign = tmp_path / "reference" / "foreign.md"
    foreign.parent.mkdir()
    foreign.write_text("old", "utf-8")
    assert main([]) == 0
    assert main(["--check"]) == 0
    assert not foreign.exists()


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    """Every link between pages names a file that exists and a heading of it."""
    broken = []
    for file, place in links(page):
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (place and place not in anchors(target)):
            broken.append(f"{file}#{place}")
    assert not broken


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_has_a_target(page: Path) -> None:
    """Without one its brackets are shown."""
    inline = (token for token in MarkdownIt().parse(page.read_text("utf-8")) if token.children)
    texts = (each for token in inline for each in token.children or () if each.type == "text")
    assert not [text.content for text in texts if _SHOWN.search(text.content)]


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_named_paths_exist(page: Path) -> None:
    """Every path of this repository that a page names exists; `*` matches any name."""
    if page.name != "CHANGELOG.md":
        named = _PATH.findall(BLOCK.sub("", page.read_text("utf-8")))
        assert not [path for path in named if not any(ROOT.glob(path.rstrip("/")))]


def test_every_decision_is_listed() -> None:
    """With its own title, in order."""
    folder = ROOT / "docs" / "decisions"
    pages = sorted(folder.glob("[0-9]*.md"))
    titles = (page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ") for page in pages)
    listed = [
        line
        for line in (folder / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("- [")
    ]

    assert listed == [
        f"- [{title}]({page.name})" for title, page in zip(titles, pages, strict=True)
    ]


def test_every_command_has_a_section() -> None:
    """The page of the command line has a heading for each command, alone or followed by a
    subcommand."""
    headings = _HEADING.findall(pages()["reference/cli.md"])
    assert all(any(heading.split()[0] == name for heading in headings) for name in help_lines())


_CALL = re.compile(r"^ *- (?:run: )?trainyard ([a-z-]+)(.*)$", re.MULTILINE)


@pytest.mark.parametrize("page", HOW_TOS, ids=lambda page: page.stem)
def test_templates_call_what_there_is(page: Path) -> None:
    """What a how-to gives to CI is YAML, and each call of ours in it has a command and options that
    exist."""
    for language, body in BLOCK.findall(page.read_text("utf-8")):
        if language == "yaml":
            assert parse_manifests(body)
            for name, options in _CALL.findall(body):
                command = app.get_command(click.Context(app), name)
                assert command
                known = {option for each in command.params for option in each.opts}
                assert {each for each in options.split() if each.startswith("--")} <= known


def test_every_release_is_explained() -> None:
    """What a release pins stands on the page of releases."""
    page = (ROOT / "docs" / "explanation" / "releases.md").read_text("utf-8")
    assert not [
        path
        for path in PACKAGE.glob("releases/*/release.yaml")
        if f"| `{path.parent.name}` |" not in page
    ]


def test_table_of_releases_names_keys_and_features_that_exist() -> None:
    """Each way in which two releases differ names where the difference stands."""
    page = (ROOT / "docs" / "explanation" / "releases.md").read_text("utf-8")
    section = page.partition("\n## What differs\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    named = {name for row in rows for name in _CODE.findall(row.split("|")[-2])}
    stated = [source.value for source in releases().values()]
    known = {name for each in stated for name in (*each, *each["features"])}

    assert len(named) > 10
    assert named <= known


def test_every_rule_has_a_section() -> None:
    """Each rule stands on the page of its family and in the index."""
    written = pages()
    for rule in all_rules():
        assert f"## {rule.id}\n" in written[f"reference/rules/{rule.id.partition('/')[0]}.md"]
        assert f"`{rule.id}`" in written["reference/rules.md"]


def test_traps_are_closed_by_what_there_is() -> None:
    """Each rule that the page of traps names exists and is linked to, and so does each template."""
    page = (ROOT / "docs" / "explanation" / "traps.md").read_text("utf-8")
    named = set(re.findall(r"`([a-z]+/[a-z0-9-]+)`", page))
    templates = {
        path.relative_to(ROOT / "templates").as_posix().split(".")[0]
        for path in ROOT.glob("templates/*/*")
    }
    linked = {
        f"{family}/{name}"
        for family, name in re.findall(r"\[`([a-z]+)/([a-z0-9-]+)`\]\(\S+\)", page)
    }
    rules = {rule.id for rule in all_rules()}

    assert len(linked) > 80
    assert linked <= rules
    assert named - linked <= templates


def test_every_preset_field_has_a_source() -> None:
    """Each field of a shipped preset is told with where it comes from, and no source is left of a
    field that went."""
    for path in sorted((PACKAGE / "presets").glob("*.yaml")):
        source, found = read(path.name, path.read_bytes())
        assert found == ()
        assert source.value.keys() - {"description", "sources"} == source.value["sources"].keys()


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_shown_commands_exist(page: Path) -> None:
    """Each `trainyard` command that a page shows, run or not, is one that there is."""
    blocks = "".join(body for _, body in BLOCK.findall(page.read_text("utf-8")))
    shown = re.findall(r"^ *(?:[$!-] )?trainyard ([a-z]+)", blocks, re.MULTILINE)
    assert set(shown) <= set(help_lines())


def test_every_page_is_listed() -> None:
    """The page of all documentation links to each how-to, explanation, reference and example."""
    index = ROOT / "docs" / "README.md"
    pages = [
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs").glob("*/*.md"),
        *ROOT.glob("examples/*/README.md"),
    ]
    listed = {(index.parent / file).resolve() for file, _ in links(index)}

    assert not [page for page in {*pages} - {index} - listed if not page.name.startswith("0")]
