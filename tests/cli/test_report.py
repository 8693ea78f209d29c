from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended, edit
from tests.report.pages import Page, parse
from trainyard.diagnostics import ToolError

Call = Callable[..., Ended]
TEAM = "profiles/teams/nlp.yaml"


def _missing() -> None:
    raise ToolError("kustomize 5.8.1 is needed, but it was not found")


@pytest.fixture
def without_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither kustomize nor kubeconform is there."""
    monkeypatch.setattr("trainyard.workflows.verify.find_kustomize", _missing)


def _page(folder: Path, name: str = "report.html") -> Page:
    return parse((folder / name).read_bytes())


def _verdict(page: Page) -> str:
    return page.all("h1")[0].text


@pytest.mark.thorough
def test_report_verifies_the_tree_first(tree: Path, trainyard: Call) -> None:
    """The counts of the page are those of `verify`."""
    ended = trainyard("report")
    page = _page(tree)

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("wrote report.html: ")
    assert "valid in kubeconform" in page.all("header")[0].text
    assert "9 of 9 sync units" in page.all("main")[0].text
    assert "did not look at" not in page.all("main")[0].text


@pytest.mark.usefixtures("without_tools")
def test_report_shows_what_could_not_be_verified(tree: Path, trainyard: Call) -> None:
    """On the page and on stderr; the other checks ran."""
    ended = trainyard("report", "-o", "platform.html")

    assert ended.code == 0
    assert ended.err == (
        "warning: the tree is not verified: kustomize 5.8.1 is needed, but it was not found\n"
    )
    assert "kustomize 5.8.1 is needed" in _page(tree, "platform.html").all("header")[0].text


@pytest.mark.usefixtures("without_tools")
def test_next_edit_over_a_committed_tree_and_its_revert(tree: Path, trainyard: Call) -> None:
    """An edit that owns too much is an error on the page; the revert gives the first page again."""
    assert trainyard("report").code == 0
    first = (tree / "report.html").read_bytes()
    edit(tree / TEAM, "nodes: 8, borrow: 8", "nodes: 12, borrow: 8")
    ended = trainyard("report")
    page = _page(tree)
    edit(tree / TEAM, "nodes: 12, borrow: 8", "nodes: 8, borrow: 8")

    assert ended.code == 1
    assert ", 1 error, " in ended.out
    assert _verdict(page).startswith("1 error")
    assert "capacity/oversubscribed" in page.all("main")[0].text
    assert trainyard("report").code == 0
    assert (tree / "report.html").read_bytes() == first


@pytest.mark.usefixtures("without_tools")
def test_only_wanted_clusters_are_shown(tree: Path, trainyard: Call) -> None:
    assert trainyard("report", "--cluster", "lab").code == 0
    text = _page(tree).all("main")[0].text

    assert "xe9680-h200" in text
    assert "dgx-h100" not in text


@pytest.mark.usefixtures("without_tools")
def test_broken_profiles_become_a_page_of_findings(repository: Path, trainyard: Call) -> None:
    edit(repository / TEAM, "contact:", "contct:")
    ended = trainyard("report")
    page = _page(repository)

    assert ended.code == 1
    assert _verdict(page).startswith("2 errors")
    assert "shape/unknown-key" in page.all("main")[0].text


@pytest.mark.usefixtures("without_tools")
def test_file_that_cannot_be_written_is_reported(tree: Path, trainyard: Call) -> None:
    ended = trainyard("report", "-o", "nowhere/report.html")

    assert ended.code == 5
    assert "nowhere/report.html can't be written: No such file or directory" in ended.err
    assert not (tree / "nowhere").exists()


@pytest.mark.usefixtures("without_tools")
def test_hostile_contact_stays_text(tree: Path, trainyard: Call) -> None:
    """A reason of a waiver is free text of a pull request."""
    file = tree / "profiles" / "waivers.yaml"
    edit(file, "This platform is an example; nobody deploys it", "<script>alert(1)</script>")
    assert trainyard("report").code == 0
    page = _page(tree)

    assert len(page.all("script")) == 1
    assert "<script>alert(1)</script>" in page.all("main")[0].text


def _git(*arguments: str) -> None:
    who = ("-c", "user.name=admin", "-c", "user.email=admin@example.com")
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def committed(tree: Path) -> Path:
    """The repository with its tree, committed to `main`."""
    _git("init", "--quiet", "--initial-branch=main")
    _git("add", "--all")
    _git("commit", "--quiet", "--message", "base")
    return tree


@pytest.mark.thorough
@pytest.mark.usefixtures("without_tools")
def test_change_is_shown_as_diff_prints_it(committed: Path, trainyard: Call) -> None:
    """The same words as in the terminal; without an edit nothing changes."""
    assert trainyard("report", "--base", "main").code == 0
    assert "This change: nothing changes" in _page(committed).all("header")[0].text
    edit(committed / TEAM, "viewer: [nlp-guests]", "viewer: [nlp-guests, students]")
    assert trainyard("generate").code == 0
    assert trainyard("report", "--base", "main").code == 0
    text = " ".join(_page(committed).all("section")[0].text.split())
    printed = trainyard("diff", "--base", "main").out
    access = [line.strip()[2:] for line in printed.splitlines() if "+ group students" in line]

    assert access
    assert all(line in text for line in access)


@pytest.mark.thorough
@pytest.mark.usefixtures("without_tools")
def test_error_of_a_change_is_on_the_page(committed: Path, trainyard: Call) -> None:
    """Where the change cannot be told, the page says so and the exit code is that of findings."""
    edit(committed / TEAM, "nodes: 8, borrow: 8", "nodes: 12, borrow: 8")
    ended = trainyard("report", "--base", "main")
    page = _page(committed)

    assert ended.code == 1
    assert "What the change does is unknown" in page.all("header")[0].text
    assert page.all("main")[0].text.count("capacity/oversubscribed") == 1


@pytest.mark.usefixtures("without_tools", "tree")
def test_base_without_a_repository_is_reported(trainyard: Call) -> None:
    ended = trainyard("report", "--base", "main")

    assert ended.code == 5
    assert "are in no Git repository" in ended.err
