"""The steps of an upgrade in their order."""

from __future__ import annotations

import pytest

from trainyard.change.releases import Change
from trainyard.change.stages import Action, stages
from trainyard.change.upgrade import Part, ReleaseChange

_JOBSET = Part("JobSet", (Change("jobset", "0.11", "0.12"),))
_WINDOW = (
    Part("Kueue", (Change("kueue", "0.16", "0.19"),)),
    Part("Trainer", (Change("trainer", "2.1", "2.3"),)),
    Part("", ()),
)


def _change(
    *steps: tuple[Part, ...], lost: tuple[str, ...] = (), stuck: tuple[str, ...] = ()
) -> ReleaseChange:
    return ReleaseChange("lab", "a", "b", (), steps, ("nlp",), lost, (), stuck, None, {})


@pytest.mark.parametrize("why", [{"lost": ("spec.labels",)}, {"stuck": ("modes",)}])
def test_cluster_is_drained_before_the_step_that_hits_jobs(why: dict[str, tuple[str]]) -> None:
    found = stages(_change((_JOBSET,), _WINDOW, **why))
    assert [each.action for each in found] == [
        Action.UPGRADE,
        Action.DRAIN,
        Action.UPGRADE,
        Action.OPEN,
    ]
    operators = "Kueue: kueue 0.16 -> 0.19; Trainer: trainer 2.1 -> 2.3"
    assert found[2].display == f"{operators}; merge this change"


def test_jobs_that_lose_nothing_are_left_alone() -> None:
    assert [each.parts for each in stages(_change((_JOBSET,), _WINDOW))] == [(_JOBSET,), _WINDOW]
