"""How lines of pods are kept or dropped: no object of the cluster has it, so `diff` says it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.change.impact.platforms import CLUSTER, sides
from trainyard.change.impact.compare import compare
from trainyard.cli.impact.sections import sections

KEPT: dict[str, Any] = {CLUSTER: {"monitoring": {"logs": {"dropCredentials": False}}}}
DROPPED: dict[str, Any] = {CLUSTER: {"monitoring": {"logs": {"dropCredentials": True}}}}
WITHOUT: dict[str, Any] = {CLUSTER: {"monitoring": {"logs": None}}}


def lines(before: dict[str, Any], after: dict[str, Any]) -> tuple[str, ...]:
    """Return the section on logs of a change; empty if there is none."""
    found = [
        section.lines
        for cluster in compare([sides(before, after)], None).clusters
        for section in sections(cluster, fields=False)
        if section.title == "Logs"
    ]
    return found[0] if found else ()


def test_dropping_is_said_when_it_begins_and_when_it_ends() -> None:
    assert lines(KEPT, DROPPED) == (
        "~ lines with credentials: kept -> dropped",
        "  Nothing happens until the owner of the forwarder adds the filter `credentials`.",
    )
    assert lines(DROPPED, KEPT) == (
        "~ lines with credentials: dropped -> kept",
        "  Nothing happens until the owner of the forwarder removes the filter `credentials`.",
    )


@pytest.mark.parametrize("same", [KEPT, DROPPED, WITHOUT])
def test_nothing_is_said_of_what_does_not_change(same: dict[str, Any]) -> None:
    assert lines(same, same) == ()


def test_without_logs_no_line_is_dropped() -> None:
    assert "~ lines with credentials: dropped -> kept" in lines(DROPPED, WITHOUT)
    assert not [each for each in lines(KEPT, WITHOUT) if "credentials" in each]
