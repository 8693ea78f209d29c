"""A committed object that somebody edited by hand is compared like any other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.change.impact.platforms import own
from trainyard.change.impact.disruption import disruptions
from trainyard.change.impact.edits import same_edits
from trainyard.change.impact.objects import object_changes
from trainyard.change.impact.states import alert_changes
from trainyard.change.objects import Sides
from trainyard.model.identity import identity
from trainyard.schema.manifests import check_committed

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2**70) | st.text(max_size=4),
    lambda inside: (
        st.lists(inside, max_size=2) | st.dictionaries(st.text(max_size=3), inside, max_size=2)
    ),
    max_leaves=4,
)


@given(st.data())
def test_no_edit_of_a_committed_object_breaks_the_comparison(data: st.DataObject) -> None:
    site, manifests = data.draw(st.sampled_from(own()))
    edited = data.draw(st.sampled_from(sorted(manifests, key=lambda each: each.path)))
    kind = {"apiVersion": edited.body["apiVersion"], "kind": edited.body["kind"]}
    body = {**_edited_inside(data, {**edited.body}), **kind}
    assume(not check_committed(body))
    after = {identity(each): each for each in manifests}
    broken = replace(edited, body=body)
    before = {key: each for key, each in after.items() if each is not edited}
    before |= {identity(broken): broken}
    for both in (
        Sides(site.name, site, site, before, after),
        Sides(site.name, site, None, before, {}),
    ):
        changes = object_changes(both)
        assert all(each.fields for each in changes if each.change == "changed")
        same_edits(changes)
        disruptions(both, changes)
        alert_changes(both)


@pytest.mark.parametrize("kind", ["ClusterQueue", "Namespace", "PersistentVolumeClaim"])
def test_object_of_a_team_without_metadata_is_refused(kind: str) -> None:
    """Rules on changes read the team from its labels."""
    (committed, *_) = (each.body for _, tree in own() for each in tree if each.kind.name == kind)
    edited = {key: value for key, value in committed.items() if key != "metadata"}
    assert not check_committed(committed)
    assert "metadata" in check_committed(edited)


def _edited_inside(data: st.DataObject, value: dict[str, Any]) -> dict[str, Any]:
    """Return a mapping that lacks a key, or has another value somewhere inside."""
    key = data.draw(st.sampled_from(sorted(value)))
    rest = {name: each for name, each in value.items() if name != key}
    if data.draw(st.sampled_from([True, False, False, False])):
        return rest
    return {**rest, key: _edited(data, value[key])}


def _edited(data: st.DataObject, value: Any) -> Any:
    """Return a value with another one somewhere inside, or with a key less."""
    goes_on = data.draw(st.sampled_from([True, True, True, False]))
    if isinstance(value, dict) and value and goes_on:
        return _edited_inside(data, value)
    if isinstance(value, list) and value and goes_on:
        index = data.draw(st.integers(0, len(value) - 1))
        return [*value[:index], _edited(data, value[index]), *value[index + 1 :]]
    return data.draw(VALUES)
