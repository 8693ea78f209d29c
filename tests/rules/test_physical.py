"""Fabrics of two clusters that are one network, by the name that their profiles give it."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.rules.cases import findings, merged, read_case

HERE = Path(__file__).parent
GIVEN_TWICE, OVERLAP = "fabric/partition-given-twice", "fabric/addresses-overlap"
UNKNOWN = "fabric/partitions-of-two-clusters"
EAST, WEST = "clusters/prod-east.yaml", "clusters/prod-west.yaml"


def found(east: str, west: str, **numbers: dict[str, str]) -> dict[str, str]:
    """Return the messages of two clusters by rule.

    Args:
        east, west: network of each fabric; empty if nobody states it.
        numbers: of teams on the western one.
    """
    changes, _ = read_case(HERE / "fabric" / "partitions-of-two-clusters" / "bad.yaml")
    network = {EAST: _network(east), WEST: _network(west)}
    ledger = {"allocations.yaml": {"prod-west": {"ib": numbers}}}
    return {
        each.rule: each.message
        for each in findings(merged(merged(changes, network), ledger))
        if each.rule in {GIVEN_TWICE, OVERLAP, UNKNOWN}
    }


def _network(name: str) -> dict[str, Any]:
    return {"fabrics": {"ib": {"physical": name}}} if name else {}


@pytest.mark.parametrize(("east", "west"), [*product(["", "a", "b"], repeat=2)])
def test_one_number_of_two_teams_is_judged_by_what_is_stated(east: str, west: str) -> None:
    """One network is an error, two are right, and what nobody states is a warning."""
    rules = set(found(east, west, science={"partition": "0x0101", "addresses": "10.65.0.0/20"}))

    if not east or not west:
        assert rules == {UNKNOWN}
    else:
        assert rules == ({GIVEN_TWICE} if east == west else set())


def test_both_clusters_are_named() -> None:
    science = {"partition": "0x0101", "addresses": "10.64.0.0/20"}

    assert found("hall", "hall", science=science) == {
        GIVEN_TWICE: "team nlp on prod-east and team science on prod-west both have "
        "partition 0x0101 of network `hall`",
        OVERLAP: "block 10.64.0.0/20 of team science on prod-west overlaps "
        "10.64.0.0/20 of team nlp on prod-east",
    }


def test_one_team_may_have_one_number_and_not_the_same_addresses() -> None:
    """Its pods on both clusters are on one network, where each address is of one host."""
    numbers = {"partition": "0x0101", "addresses": "10.64.0.0/20"}
    free = {"partition": "0x0103", "addresses": "10.65.0.0/20"}
    again = {"partition": "0x0101", "addresses": "10.66.0.0/20"}

    assert found("hall", "hall", nlp=numbers, science=free) == {
        OVERLAP: "block 10.64.0.0/20 of team nlp on prod-west overlaps "
        "10.64.0.0/20 of team nlp on prod-east"
    }
    assert found("hall", "hall", nlp=again, science=free) == {}
    assert found("a", "b", nlp=numbers, science=free) == {}
