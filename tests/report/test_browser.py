"""The report in a real browser: both themes, two widths, keyboard, no script, paper."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.report.pages import CHANGE, content
from trainyard.report.page import page

pytestmark = pytest.mark.thorough

TOOLS = REPOSITORY / ".tools" / "browser"
VIEWS = [f"{theme} {width}" for theme in ("light", "dark") for width in (360, 1280)]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Chromium and axe-core found of the report of this repository."""
    ready = (TOOLS / "node_modules").is_dir() and shutil.which("node") and shutil.which("chromium")
    assert ready, "these tests need Node.js, Chromium and axe-core: run `make browser`"
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_bytes(page(replace(content(), change=CHANGE)))
    driver = Path(__file__).with_name("examine.mjs")
    ended = subprocess.run(
        ["node", driver, TOOLS, file], capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr
    parsed: dict[str, Any] = json.loads(ended.stdout)
    return parsed


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_no_fault(found: dict[str, Any], view: str) -> None:
    """All folded content is unfolded first."""
    judged = found["views"][view]

    assert judged["violations"] == []
    assert judged["passes"] > 30


@pytest.mark.parametrize("view", VIEWS)
def test_page_is_no_wider_than_the_window(found: dict[str, Any], view: str) -> None:
    """Wide tables scroll in their own boxes."""
    assert found["views"][view]["width"] == int(view.split()[1])


def test_themes_differ(found: dict[str, Any]) -> None:
    assert len({view["background"] for view in found["views"].values()}) == 2


def test_browser_asks_for_nothing_else(found: dict[str, Any]) -> None:
    """The page itself is the only request, and the console stays empty."""
    assert {each.rpartition("/")[2] for each in found["requests"]} == {"report.html"}
    assert found["complaints"] == []


def test_policy_refuses_what_is_injected(found: dict[str, Any]) -> None:
    """A second script does not run, and a style attribute has no effect."""
    assert found["injected"] == {"script": False, "style": False}
    assert found["refused"] == 2


def test_table_is_sorted_by_keyboard(found: dict[str, Any]) -> None:
    shown = found["sorted"]

    assert shown["ascending"] == sorted(shown["before"])
    assert shown["descending"] == sorted(shown["before"], reverse=True)
    assert (shown["ascending head"], shown["descending head"]) == ("ascending", "descending")


def test_filter_counts_the_rows_that_it_shows(found: dict[str, Any]) -> None:
    filtered = found["filtered"]

    assert 0 < filtered["shown"] < filtered["rows"]
    assert filtered["count"] == f"{filtered['shown']} of {filtered['rows']} rows"
    assert all(filtered["word"] in each for each in filtered["texts"])


def test_page_is_complete_without_script(found: dict[str, Any]) -> None:
    """No button is there that nothing answers."""
    teams = sum(len(cluster.site.tenants) for cluster in content().clusters)

    assert found["withoutScript"] == {"buttons": 0, "teams": teams}


def test_page_is_printed(found: dict[str, Any]) -> None:
    """What is folded on the screen is on paper."""
    assert found["printed"]["bytes"] > 10_000
    assert found["printed"]["folded"] == 0
