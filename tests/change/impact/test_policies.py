"""NetworkPolicies as sets of paths, against an evaluator of single paths."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

import pytest
from hypothesis import given

from tests.change.impact.paths import DIRECTIONS, HERE, PATHS, POLICIES, Path, is_open
from trainyard.change.impact.policies import EGRESS, INGRESS, allowed
from trainyard.change.impact.sets import (
    ADDRESS,
    KIND,
    LAST_IPV4,
    NAMESPACE,
    OWN,
    POD,
    PORT,
    PORT_NAME,
    PROTOCOL,
    Axis,
    Box,
    Ranges,
    Values,
    without,
)


def is_inside(box: Box, path: Path) -> bool:
    """Return whether a box has a path."""
    return all(has(values, at(axis, path)) for axis, values in box.items())


def has(values: Values | Ranges, value: Any) -> bool:
    if isinstance(values, Values):
        return (value in values.members) is not values.is_rest
    return value is not None and any(first <= value <= last for first, last in values.spans)


def at(axis: Axis, path: Path) -> Any:
    labels = {OWN: path.own, NAMESPACE: path.namespace or {}, POD: path.pod}
    if axis.label:
        return labels[axis.order].get(axis.label)
    address = ip_address(path.address)
    return {
        KIND: "addresses" if path.namespace is None else "pods",
        ADDRESS: int(address) + (LAST_IPV4 + 1 if address.version == 6 else 0),
        PROTOCOL: path.protocol,
        PORT: path.port,
        PORT_NAME: path.port_name or None,
    }[axis]


@given(POLICIES, DIRECTIONS)
def test_boxes_have_exactly_the_paths_that_are_open(
    policies: list[dict[str, Any]], direction: str
) -> None:
    """Some box has a path when the policies leave it open."""
    boxes = allowed(policies, direction, HERE)

    for path in PATHS:
        assert any(is_inside(box, path) for box in boxes) is is_open(policies, direction, path)


@given(POLICIES, POLICIES, DIRECTIONS)
def test_difference_has_exactly_the_paths_that_become_open(
    before: list[dict[str, Any]], after: list[dict[str, Any]], direction: str
) -> None:
    """Nothing that was open is opened, and nothing that is opened is left out."""
    boxes = without(allowed(after, direction, HERE), allowed(before, direction, HERE))

    for path in PATHS:
        becomes_open = is_open(after, direction, path) and not is_open(before, direction, path)
        assert any(is_inside(box, path) for box in boxes) is becomes_open


def test_the_paths_tell_the_policies_apart() -> None:
    """The properties above compare paths of each sort, both open and closed."""
    assert len({path.address for path in PATHS}) == 6
    for block, expected in (({"cidr": "10.0.0.0/8"}, 3), ({"cidr": "::/0"}, 2)):
        policy = {"podSelector": {}, "policyTypes": [EGRESS]}
        rule = {"to": [{"ipBlock": block}]}
        seen = {
            path.address
            for path in PATHS
            if path.namespace is None and is_open([{**policy, "egress": [rule]}], EGRESS, path)
        }
        assert len(seen) == expected


@pytest.mark.parametrize(
    ("policy", "directions"),
    [
        ({"podSelector": {}}, {INGRESS}),
        ({"podSelector": {}, "egress": [{}]}, {INGRESS, EGRESS}),
        ({"podSelector": {}, "policyTypes": [EGRESS]}, {EGRESS}),
    ],
)
def test_directions_follow_from_the_rules_without_types(
    policy: dict[str, Any], directions: set[str]
) -> None:
    """Kubernetes sets them so when an object is created."""
    limited = {each for each in (INGRESS, EGRESS) if {} not in allowed([policy], each, HERE)}

    assert limited == directions - ({EGRESS} if policy.get("egress") == [{}] else set())


def test_policy_of_the_wrong_shape_allows_nothing() -> None:
    """A committed file may have been edited by hand."""
    broken = {"podSelector": [], "policyTypes": [EGRESS], "egress": [{"to": [{"ipBlock": 1}]}]}

    assert all(not all(box.values()) for box in allowed([broken], EGRESS, HERE))
