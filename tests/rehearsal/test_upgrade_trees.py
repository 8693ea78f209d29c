"""The steps of an upgrade, numbered as the plan numbers them."""

from __future__ import annotations

from trainyard.change.releases import Change
from trainyard.change.upgrade import Part, ReleaseChange
from trainyard_rehearsal.upgrade_trees import DRAIN, OPEN, stages

_JOBSET = Part("JobSet", (Change("jobset", "0.11", "0.12"),))
_WINDOW = (
    Part("Kueue", (Change("kueue", "0.16", "0.19"),)),
    Part("Trainer", (Change("trainer", "2.1", "2.3"),)),
    Part("", ()),
)


def _change(lost: tuple[str, ...]) -> ReleaseChange:
    steps = ((_JOBSET,), _WINDOW)
    return ReleaseChange("lab", "a", "b", (), steps, ("nlp",), lost, (), None, {})


def test_cluster_is_drained_before_the_step_that_hits_jobs() -> None:
    jobset, drain, window, opening = stages(_change(("spec.labels",)))
    assert (drain, opening) == (DRAIN, OPEN)
    assert jobset.words == "JobSet: jobset 0.11 -> 0.12"
    assert (
        window.words == "Kueue: kueue 0.16 -> 0.19; Trainer: trainer 2.1 -> 2.3; merge this change"
    )


def test_nothing_is_drained_for_jobs_that_lose_nothing() -> None:
    assert [each.parts for each in stages(_change(()))] == [(_JOBSET,), _WINDOW]
