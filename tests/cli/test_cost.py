"""`trainyard capacity --cost` in each form, over this repository and over edits of it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from markdown_it import MarkdownIt

from tests.capacity.test_cost import cost_of, priced
from tests.capacity.test_measure import changes
from tests.cli.calls import Ended, edit
from trainyard.cli.cost.page import pages
from trainyard.cli.cost.sheet import HEAD
from trainyard.cli.tables.markdown import markdown
from trainyard.cli.tables.text import COLUMNS, text

Call = Callable[..., Ended]
CLUSTER, TEAM = "profiles/clusters/prod-east.yaml", "profiles/teams/nlp.yaml"
PRICE = ", nodeHour: 96 USD"
FORMS = ("text", "markdown", "json", "csv")


def document(trainyard: Call) -> list[dict[str, Any]]:
    found = json.loads(trainyard("capacity", "--cost", "--format", "json").out)
    Draft7Validator(json.loads(trainyard("schema", "cost").out)).validate(found)
    return list(found["result"]["clusters"])


@pytest.mark.usefixtures("repository")
def test_text_shows_who_pays_what(trainyard: Call) -> None:
    ended = trainyard("capacity", "--cost", "--cluster", "prod-east")
    lines = [line.split() for line in ended.out.splitlines()]

    assert (ended.code, ended.err) == (0, "")
    assert "pool dgx-h100: 96 USD a node-hour, 17 nodes, 730 hours a month" in ended.out
    assert ["nlp", "RES-100", "8", "8", "8", "46,720", "560,640.00"] in lines
    assert ["unallocated", "0", "0", "0.00"] in lines
    assert ["reserve", "1", "5,840", "70,080.00"] in lines
    assert ["all", "17", "99,280", "1,191,360.00"] in lines
    assert ["RES-100", "USD", "840,960.00"] in lines
    assert "in the price: 14 of 224 CPUs and 92Gi of 2Ti memory of each node" in ended.out


@pytest.mark.usefixtures("repository")
def test_json_and_csv_have_the_same_exact_sums(trainyard: Call) -> None:
    """A program adds up the rows of a pool, and gets what all its nodes cost."""
    rows = list(csv.DictReader(io.StringIO(trainyard("capacity", "--cost", "--format", "csv").out)))
    for cluster in document(trainyard):
        for pool in cluster["pools"]:
            own = [
                row
                for row in rows
                if (row["cluster"], row["pool"]) == (cluster["cluster"], pool["name"])
            ]
            amounts = [Decimal(each["month"]["amount"]) for each in pool["shares"]]
            assert sum(amounts) == Decimal(pool["month"]["amount"])
            assert [Decimal(row["month"]) for row in own] == amounts
            assert sum(int(row["own"]) for row in own) == pool["nodes"] * pool["unitsPerNode"]
        centers = [Decimal(each["month"]["amount"]) for each in cluster["costCenters"]]
        assert sum(centers) == sum(Decimal(each["amount"]) for each in cluster["months"])


def test_more_owned_than_promised_is_a_negative_row(tree: Path, trainyard: Call) -> None:
    """In CSV it is a number, which no guard against formulas turns into text."""
    edit(tree / TEAM, "nodes: 8, borrow: 8", "nodes: 10, borrow: 8")
    shown = trainyard("capacity", "--cost", "--cluster", "prod-east").out
    written = trainyard("capacity", "--cost", "--cluster", "prod-east", "--format", "csv").out

    assert ["unallocated", "-2", "-11,680", "-140,160.00"] in [
        line.split() for line in shown.splitlines()
    ]
    assert ",unallocated,,,nodes,-2,0,0,730,-11680,96,USD,-140160.00\n" in written


def test_sums_of_currencies_are_apart(tree: Path, trainyard: Call) -> None:
    edit(tree / "profiles/clusters/lab.yaml", "nodeHour: 120 EUR", "nodeHour: 120 USD")
    shown = trainyard("capacity", "--cost", "--cluster", "lab").out
    _, _, sums = shown.partition("all pools\n")
    rows = [line.split() for line in sums.splitlines()[1:]]

    assert [row[1] for row in rows] == sorted(row[1] for row in rows)
    assert [row[0] for row in rows].count("all") == 2
    assert rows[-1] == ["all", "USD", "350,400.00"]


@pytest.mark.usefixtures("repository")
def test_no_amount_of_money_is_a_json_number(trainyard: Call) -> None:
    written = trainyard("capacity", "--cost", "--format", "json").out
    floats: list[str] = []
    json.loads(written, parse_float=floats.append)
    assert floats == []
    assert '"amount": "560640.00"' in written


@pytest.mark.parametrize("form", FORMS)
def test_pool_without_a_price_is_named(tree: Path, trainyard: Call, form: str) -> None:
    edit(tree / CLUSTER, PRICE, "")
    ended = trainyard("capacity", "--cost", "--cluster", "prod-east", "--format", form)

    assert ended.code == 0
    if form == "csv":
        assert ended.out.splitlines()[1:] == ["prod-east,dgx-h100,,,,nodes,17,,,730,,,,"]
    elif form == "json":
        assert json.loads(ended.out)["result"]["clusters"][0]["unpriced"] == [
            {"name": "dgx-h100", "nodes": 17}
        ]
    else:
        assert "in no sum: dgx-h100 (17 nodes)" in ended.out
        assert "0.00" not in ended.out


@pytest.mark.parametrize("form", FORMS)
def test_next_edit_over_a_committed_tree_and_its_revert(
    tree: Path, trainyard: Call, form: str
) -> None:
    first = trainyard("capacity", "--cost", "--format", form)
    edit(tree / CLUSTER, "96 USD", "98.32 USD")
    edit(tree / TEAM, "RES-100", "RES-101")
    dearer = trainyard("capacity", "--cost", "--format", form)
    edit(tree / CLUSTER, "98.32 USD", "96 USD")
    edit(tree / TEAM, "RES-101", "RES-100")

    assert (first.code, dearer.code) == (0, 0)
    assert "RES-101" in dearer.out
    assert dearer.out != first.out
    assert trainyard("capacity", "--cost", "--format", form) == first


@pytest.mark.parametrize("form", FORMS)
def test_broken_profiles_end_the_same_way_in_every_form(
    repository: Path, trainyard: Call, form: str
) -> None:
    edit(repository / TEAM, "contact:", "contct:")
    ended = trainyard("capacity", "--cost", "--format", form)

    assert ended.code == 1
    if form == "csv":
        assert ended.out == ",".join(HEAD) + "\n"


@pytest.mark.parametrize(
    ("stated", "rule"),
    [
        ("nodeHour: 96", "shape/wrong-type"),
        ('nodeHour: "96"', "shape/wrong-value"),
        ("nodeHour: 96.5", "shape/ambiguous-scalar"),
        ("nodeHour: 96 usd", "shape/wrong-value"),
        ("nodeHour: -96 USD", "shape/wrong-value"),
        ("nodeHour: 96 EUO", "capacity/unknown-currency"),
    ],
)
def test_bad_price_is_explained(tree: Path, trainyard: Call, stated: str, rule: str) -> None:
    edit(tree / CLUSTER, "nodeHour: 96 USD", stated)
    ended = trainyard("validate")

    assert ended.code == 1
    assert f"error[{rule}]" in ended.out


@pytest.mark.parametrize("stated", ["4711", "''", "RES 100", "-RES", "x" * 64])
def test_bad_cost_center_is_explained(tree: Path, trainyard: Call, stated: str) -> None:
    edit(tree / TEAM, "RES-100", stated)
    ended = trainyard("validate")

    assert ended.code == 1
    assert "profiles/teams/nlp.yaml:2:13" in ended.out


def test_cost_center_of_digits_is_text_in_quotes(tree: Path, trainyard: Call) -> None:
    edit(tree / TEAM, "RES-100", '"0047"')
    shown = trainyard("show", "nlp").out

    assert trainyard("validate").code == 0
    assert "0047" in shown
    assert "0047" in trainyard("capacity", "--cost").out


@given(changes(), st.sampled_from(["0.01 USD", "9999999.999999 IRR", "33333.333 KWD"]))
def test_every_line_fits_the_columns(change: dict[str, Any], price: str) -> None:
    center = {"teams/nlp.yaml": {**change["teams/nlp.yaml"], "costCenter": "C" * 63}}
    found = cost_of(priced({**change, **center}, price))

    assert all(len(line) <= COLUMNS for line in text(pages([found])).splitlines())
    page = markdown("Cost", pages([found]))
    rows = MarkdownIt("commonmark").enable("table").parse(page)
    assert sum(token.type == "table_open" for token in rows) == 2
