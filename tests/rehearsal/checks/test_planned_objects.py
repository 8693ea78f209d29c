"""What becomes of objects in an upgrade, compared with the plan by their uids."""

from __future__ import annotations

import pytest

from trainyard.change.impact.objects import ObjectChange
from trainyard.diagnostics import Pointer
from trainyard.model.identity import Identity
from trainyard.model.manifest import Manifest
from trainyard_rehearsal.checks.planned_objects import PlannedObjects, check_objects, planned


def _object(name: str) -> Manifest:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    return Manifest(f"platform/{name}.yaml", body, (), Pointer(f"{name}.yaml"))


def _key(name: str) -> Identity:
    return Identity("ConfigMap", "", name)


def _change(name: str, change: str) -> ObjectChange:
    return ObjectChange(_key(name), change, "cluster-wide", "platform", "", ())


_BEFORE = ("kept", "edited", "remade", "v1", "left", "old")
_AFTER = ("kept", "edited", "remade", "v2", "new")
_PLAN = {
    "edited": "changed",
    "remade": "recreated",
    "v2": "recreated",
    "left": "left behind",
    "old": "deleted",
    "new": "created",
}
_UIDS = dict.fromkeys(_BEFORE, "1")
_AS_PLANNED = {"kept": "1", "edited": "1", "left": "1", "remade": "2", "v2": "2", "new": "2"}


@pytest.fixture
def plan() -> PlannedObjects:
    """A plan with an object of each fate."""
    changes = [_change(name, change) for name, change in _PLAN.items()]
    return planned([*map(_object, _BEFORE)], [*map(_object, _AFTER)], changes)


def _failures(plan: PlannedObjects, now: dict[str, str]) -> list[tuple[str, str]]:
    before = {_key(name): uid for name, uid in _UIDS.items()}
    outcome = check_objects(plan, before, {_key(name): uid for name, uid in now.items()})
    assert outcome.tried == 8
    assert outcome.remark == "3 kept, 1 made again, 2 new, 2 gone"
    return [(each.what, each.words) for each in outcome.failures]


def test_all_as_planned(plan: PlannedObjects) -> None:
    assert _failures(plan, _AS_PLANNED) == []


@pytest.mark.parametrize(
    ("name", "uid", "words"),
    [
        ("kept", "", "the plan keeps it, and it is not there"),
        ("edited", "2", "the plan keeps it, and it was made"),
        ("left", "", "the plan keeps it, and it is not there"),
        ("old", "1", "the plan deletes it, and it is still there"),
        ("v1", "1", "the plan deletes it, and it is still there"),
        ("remade", "1", "the plan makes it, and it is the former one"),
        ("v2", "", "the plan makes it, and it is not there"),
        ("new", "", "the plan makes it, and it is not there"),
    ],
)
def test_other_fate_is_reported(plan: PlannedObjects, name: str, uid: str, words: str) -> None:
    now = {key: each for key, each in (_AS_PLANNED | {name: uid}).items() if each}
    assert _failures(plan, now) == [(f"platform/{name}.yaml", words)]
