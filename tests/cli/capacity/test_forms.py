"""The capacity as text, Markdown, JSON and CSV, each read by a parser of its kind."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from markdown_it import MarkdownIt

from tests.capacity.test_measure import changes
from tests.cli.calls import Ended, edit
from tests.rules.cases import platform_of
from trainyard.capacity.figures import Capacity
from trainyard.capacity.measure import measure
from trainyard.cli import document as documents
from trainyard.cli.capacity.document import document
from trainyard.cli.capacity.page import pages
from trainyard.cli.capacity.sheet import HEAD, rows
from trainyard.cli.tables.markdown import markdown
from trainyard.cli.tables.sheet import safe, sheet
from trainyard.cli.tables.text import COLUMNS, text
from trainyard.schema.published import document_schema

Call = Callable[..., Ended]
TEAM, QUOTA = "profiles/teams/nlp.yaml", "dgx-h100: {nodes: 8, borrow: 8}"


def capacity_of(change: dict[str, Any]) -> Capacity:
    platform = platform_of(change)
    return measure(platform.sites[0], platform.allocations)


@pytest.mark.usefixtures("repository")
def test_text_shows_pools_teams_and_lenders(trainyard: Call) -> None:
    ended = trainyard("capacity", "--cluster", "prod-east")
    lines = [line.split() for line in ended.out.splitlines()]

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("cluster prod-east\n")
    assert "pool dgx-h100: 17 nodes, 1 in reserve, 16 promised, head-room 0 nodes" in ended.out
    assert ["nlp", "████████········", "8", "8", "8", "8", "16", "quota"] in lines
    assert ["nvidia.com/gpu", "*", "8", "128", "128", "0"] in lines
    assert ["openshift.io/ib_rail_0", "to", "7", "8", "128", "128", "0"] in lines
    assert "fabric ib: 3 of 128 partitions given, 3 of 128 blocks (/20), head-room 125" in ended.out
    assert ["science", "0x0102", "10.64.16.0/20", "512"] in lines
    assert "  nlp may borrow up to 8 nodes of dgx-h100: science 4, vision 4" in ended.out


@pytest.mark.parametrize("form", [(), ("--format", "markdown")])
def test_what_others_lend_is_one_number(
    repository: Path, trainyard: Call, form: tuple[str, ...]
) -> None:
    """Others lend less than the limit: the table and the list of cohorts agree."""
    edit(repository / "profiles/teams/science.yaml", "borrow: 4", "borrow: 4, lend: 1")
    edit(repository / "profiles/teams/vision.yaml", "nodes: 4, lend: all", "nodes: 4, lend: 2")
    shown = trainyard("capacity", "--cluster", "prod-east", *form).out

    assert "3 of 8" in shown
    assert "may borrow up to 3 of 8 nodes of " in shown
    assert "up to 8 nodes" not in shown


@pytest.mark.usefixtures("repository")
def test_json_follows_its_published_schema(trainyard: Call) -> None:
    found = json.loads(trainyard("capacity", "--format", "json").out)
    printed = json.loads(trainyard("schema", "capacity").out)

    Draft7Validator.check_schema(printed)
    Draft7Validator(printed).validate(found)
    assert [each["cluster"] for each in found["result"]["clusters"]] == ["lab", "prod-east"]


@pytest.mark.parametrize("form", ["text", "markdown", "json", "csv"])
def test_next_edit_over_a_committed_tree_and_its_revert(
    tree: Path, trainyard: Call, form: str
) -> None:
    """The figures follow the profiles; oversubscription shows, and the revert is the first."""
    first = trainyard("capacity", "--format", form)
    edit(tree / TEAM, QUOTA, "dgx-h100: {nodes: 12, borrow: 8}")
    grown = trainyard("capacity", "--format", form)
    edit(tree / TEAM, "nodes: 12, borrow: 8", "nodes: 8, borrow: 8")

    assert (first.code, grown.code) == (0, 0)
    assert first.out != grown.out
    assert trainyard("capacity", "--format", form) == first
    if form == "text":
        assert "4 nodes more owned than promised" in grown.out
        assert re.search("all +█{15}▶ +20 ", grown.out)


@pytest.mark.parametrize("form", ["text", "markdown", "json", "csv"])
def test_broken_profiles_end_the_same_way_in_every_form(
    repository: Path, trainyard: Call, form: str
) -> None:
    edit(repository / TEAM, "contact:", "contct:")
    ended = trainyard("capacity", "--format", form)

    assert ended.code == 1
    if form == "csv":
        assert ended.out == ",".join(HEAD) + "\n"
    if form == "json":
        assert json.loads(ended.out)["result"]["summary"]["errors"] == 2


def test_quota_for_a_time_shows_in_every_form(tree: Path, trainyard: Call) -> None:
    """Its last day and what follows are in the unit of the pool, and in CSV in base units."""
    timed = 'dgx-h100: {nodes: 8, until: "2027-01-31", reason: paper | ours, then: 4, borrow: 8}'
    edit(tree / TEAM, QUOTA, timed)
    forms = ("text", "markdown", "json", "csv")
    text, page, data, rows = (
        trainyard("capacity", "--cluster", "prod-east", "--format", form).out for form in forms
    )

    assert "\n  nlp has 8 until 2027-01-31 (paper | ours), then 4 nodes\n" in text
    assert "\n- `nlp` has 8 until 2027-01-31 (paper \\| ours), then 4 nodes\n" in page
    first = json.loads(data)["result"]["clusters"][0]["pools"][0]["teams"][0]
    assert (first["until"], first["reason"], first["then"]) == ("2027-01-31", "paper | ours", 4)
    gpus = {row["team"]: row for row in _rows(rows) if row["resource"] == "nvidia.com/gpu"}
    assert (gpus["nlp"]["until"], gpus["nlp"]["then"]) == ("2027-01-31", "32")
    assert (gpus["science"]["until"], gpus["science"]["then"]) == ("", "")


def _rows(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table)))


def test_profiles_without_a_cluster_are_no_input(repository: Path, trainyard: Call) -> None:
    """Nothing to count must not look like a result."""
    shutil.rmtree(repository / "profiles" / "clusters")
    shutil.rmtree(repository / "profiles" / "teams")
    (repository / "profiles" / "allocations.yaml").unlink()
    (repository / "profiles" / "waivers.yaml").unlink()

    assert trainyard("capacity").code == 3


@pytest.mark.usefixtures("repository")
def test_unknown_cluster_names_the_nearest(trainyard: Call) -> None:
    ended = trainyard("capacity", "--cluster", "prod-eats")

    assert ended.code == 2
    assert "did you mean `prod-east`?" in ended.err


@given(changes())
def test_every_line_fits_the_columns(change: dict[str, Any]) -> None:
    capacity = capacity_of(change)

    assert all(len(line) <= COLUMNS for line in text(pages([capacity])).splitlines())


@given(st.text("abcdef-0123456789", min_size=1, max_size=120), changes())
def test_wide_names_are_cut(name: str, change: dict[str, Any]) -> None:
    """Also a name that no profile can have."""
    plain = capacity_of(change)
    (pool,) = plain.pools
    parts = tuple(replace(part, team=name) for part in pool.parts)
    resources = tuple(replace(each, name=name) for each in pool.resources)
    wide = replace(
        plain, cluster=name, pools=(replace(pool, name=name, parts=parts, resources=resources),)
    )

    assert all(len(line) <= COLUMNS for line in text(pages([wide])).splitlines())


@given(changes())
def test_documents_of_any_platform_follow_the_schema(change: dict[str, Any]) -> None:
    written = documents.envelope("capacity", {"clusters": document([capacity_of(change)])})

    Draft7Validator(document_schema("capacity")).validate(json.loads(written))


@given(changes())
def test_csv_has_the_figures_of_the_document(change: dict[str, Any]) -> None:
    """A spreadsheet's sums are those of the JSON."""
    capacity = capacity_of(change)
    (cluster,) = document([capacity])
    (pool,) = cluster["pools"]
    table = list(csv.DictReader(io.StringIO(sheet(HEAD, rows([capacity]))), strict=True))
    nominal = {(row["team"], row["resource"]): int(row["nominal"]) for row in table if row["team"]}

    assert nominal == {
        (team, each["name"]): number
        for each in pool["resources"]
        for team, number in each["nominalByTeam"].items()
    }
    assert {row["resource"]: int(row["head_room"]) for row in table if not row["team"]} == {
        each["name"]: each["headRoom"] for each in pool["resources"]
    }


@given(st.text())
def test_no_text_of_a_cell_begins_a_formula(name: str) -> None:
    assert not safe(name).startswith(("=", "+", "-", "@", "\t", "\r"))
    assert safe(name).removeprefix("'") == name.removeprefix("'")


HOSTILE = ["=1+1", "@all", "a|b", "<script>", "![x](http://x)", "**bold**", "`code`", "\x1b[31m"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_change_no_form(name: str) -> None:
    """A name is text everywhere: no HTML, link, formula or escape; no row or column more."""
    plain = capacity_of({})
    (pool,) = plain.pools
    parts = tuple(replace(part, team=name, cohort=name) for part in pool.parts)
    hostile = replace(plain, cluster=name, pools=(replace(pool, name=name, parts=parts),))
    page = markdown("Capacity", pages([hostile]))
    tokens = MarkdownIt("commonmark").enable("table").parse(page)
    kinds = {child.type for token in tokens for child in token.children or ()}
    table = list(csv.reader(io.StringIO(sheet(HEAD, rows([hostile]))), strict=True))

    assert kinds <= {"text", "code_inline"}
    usual = MarkdownIt("commonmark").enable("table").parse(markdown("Capacity", pages([plain])))
    assert [token.type for token in tokens] == [token.type for token in usual]
    assert {len(row) for row in table} == {len(HEAD)}
    assert not any(row[0].startswith(("=", "@")) for row in table)
    assert "\x1b" not in text(pages([hostile])) + markdown("Capacity", pages([hostile])) + sheet(
        HEAD, rows([hostile])
    )
    assert json.loads(json.dumps(document([hostile])))[0]["cluster"] == name
