"""Pools that select each other's nodes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import messages


def pools(one: dict[str, str], two: dict[str, str]) -> dict[str, Any]:
    return {
        "clusters/prod-east.yaml": {"pools": {"other": {"nodes": 1, "fabric": "ib"}}},
        "hardware/dgx-h100.yaml": {"labels": one},
        "hardware/other.yaml": {"extends": "nvidia-dgx-h100", "labels": two},
    }


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ({"a": "1"}, {"a": "1"}, ["pool `dgx-h100` also selects the nodes of pool `other`: a=1"]),
        (
            {"a": "1"},
            {"a": "1", "b": "1"},
            ["pool `dgx-h100` also selects the nodes of pool `other`: a=1"],
        ),
        (
            {"a": "1", "b": "1"},
            {"a": "1"},
            ["pool `other` also selects the nodes of pool `dgx-h100`: a=1"],
        ),
        ({"a": "1"}, {"a": "2"}, []),
        ({"a": "1"}, {"b": "1"}, []),
    ],
)
def test_pool_with_fewer_labels_is_reported(
    one: dict[str, str], two: dict[str, str], expected: list[str]
) -> None:
    """There is one finding for each pair, at the pool that selects too many nodes."""
    assert messages("node/overlapping-pools", pools(one, two)) == expected
