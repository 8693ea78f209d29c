"""Prices and cost centers over a committed tree: stated, changed, removed and taken back."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft7Validator

from tests.histories import History
from trainyard.schema.published import document_schema

pytestmark = pytest.mark.thorough

FACTS = "overlays/lab/platform/prometheusrule-trainyard-facts.yaml"
POOL, PRICED = "fabric: ib}", "fabric: ib, nodeHour: 98.32 USD}"
TEAM, CENTER = "teams/nlp.yaml", "costCenter: RES-100\n"


def step(history: History) -> tuple[str, set[str]]:
    """Return what `diff` shows of an edit, and the files of the tree that it changes; commit it."""
    code, shown = history.trainyard("generate")
    assert code == 0, shown
    code, shown = history.trainyard("diff", "--base", "HEAD")
    assert code == 0, shown
    changed = {
        line[3:]
        for line in history.git("status", "--porcelain", "--untracked-files=all").splitlines()
        if line[3:].startswith("overlays/")
    }
    history.commit()
    return shown, changed


def test_price_touches_the_facts_alone(history: History) -> None:
    """Stated, raised, in another currency, removed: no job is touched, and the tree comes back."""
    before = (history.folder / FACTS).read_bytes()
    steps = (
        (POOL, PRICED, "price of a node-hour none -> 98.32 USD, 645,962.40 USD a month"),
        ("98.32 USD", "100 USD", "98.32 USD -> 100 USD, 645,962.40 -> 657,000.00 USD a month"),
        (
            "100 USD",
            "92.5 EUR",
            "100 USD -> 92.5 EUR, 657,000.00 USD -> 607,725.00 EUR a month",
        ),
        (", nodeHour: 92.5 EUR", "", "92.5 EUR -> none, 607,725.00 EUR a month"),
    )
    for old, new, said in steps:
        history.edit("clusters/lab.yaml", old, new)
        shown, changed = step(history)
        assert changed == {FACTS}
        assert said in shown
        assert "evicts: nobody" in shown
    assert (history.folder / FACTS).read_bytes() == before


def test_cost_center_touches_the_facts_alone(history: History) -> None:
    before = (history.folder / FACTS).read_bytes()
    for old, new, said in (
        ("cohort:", f"{CENTER}cohort:", "none -> RES-100"),
        ("RES-100", '"4711"', "RES-100 -> 4711"),
        ('costCenter: "4711"\n', "", "4711 -> none"),
    ):
        history.edit(TEAM, old, new)
        shown, changed = step(history)
        assert changed == {FACTS}
        assert f"cost center of nlp: {said}" in shown
    assert (history.folder / FACTS).read_bytes() == before


def test_quota_and_nodes_are_shown_with_their_cost(history: History) -> None:
    history.edit("clusters/lab.yaml", POOL, PRICED)
    step(history)

    history.edit(TEAM, "nodes: 2", "nodes: 3")
    assert "143,547.20 -> 215,320.80 USD a month" in step(history)[0]
    history.edit("clusters/lab.yaml", "nodes: 9", "nodes: 10")
    assert "645,962.40 -> 717,736.00 USD a month" in step(history)[0]
    history.edit(TEAM, "nodes: 3", "nodes: 2, borrow: 1")
    shown, _ = step(history)
    assert "215,320.80 -> 143,547.20 USD a month" in shown
    # What it may borrow costs nothing, so it is not said.
    history.edit(TEAM, "borrow: 1", "borrow: 2")
    assert "a month" not in step(history)[0]


def test_money_of_a_diff_is_decimal_text(history: History) -> None:
    history.edit("clusters/lab.yaml", POOL, PRICED)
    step(history)

    history.edit(TEAM, "nodes: 2", "nodes: 3")
    history.edit("clusters/lab.yaml", "98.32 USD", "98.50 USD")
    document = json.loads(history.trainyard("diff", "--base", "HEAD", "--format", "json")[1])
    Draft7Validator(document_schema("diff")).validate(document)
    (cluster,) = document["result"]["change"]["impact"]["clusters"]
    (quota,), (pool,) = cluster["quotas"], cluster["pools"]
    assert quota["monthBefore"] == {"amount": "143547.20", "currency": "USD"}
    assert quota["monthAfter"] == {"amount": "215715.00", "currency": "USD"}
    assert pool["after"]["price"] == {"amount": "98.50", "currency": "USD"}


def test_prices_need_no_monitoring(history: History) -> None:
    """The table needs no Prometheus, and without one a price changes no object."""
    block = (
        "monitoring: {stack: openshift, logs: {}} "
        "# who gets scrapes and alerts; lines are kept 7 days\n"
    )
    history.edit("clusters/lab.yaml", block, "")
    step(history)

    history.edit("clusters/lab.yaml", POOL, PRICED)
    shown, changed = step(history)
    assert not changed
    assert "price of a node-hour none -> 98.32 USD" in shown
    code, shown = history.trainyard("capacity", "--cost")
    assert code == 0
    assert "645,962.40" in shown


def test_draining_team_keeps_its_row(history: History) -> None:
    history.edit("clusters/lab.yaml", POOL, PRICED)
    history.edit(TEAM, "cohort:", f"{CENTER}cohort:")
    step(history)

    history.put("nlp", "draining")
    step(history)
    assert "vector(2)" in (history.folder / FACTS).read_text("utf-8")
    code, shown = history.trainyard("capacity", "--cost")
    assert code == 0
    assert "nlp          RES-100          2" in shown
