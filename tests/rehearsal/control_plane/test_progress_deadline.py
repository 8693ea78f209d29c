"""Waits that end because there is no progress."""

from __future__ import annotations

import pytest

from trainyard_rehearsal.control_plane.progress_deadline import ProgressDeadline


def test_time_counts_from_the_last_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadline of two minutes starts again with each change."""
    times = iter([0.0, 119.0, 120.0, 200.0, 240.0])
    monkeypatch.setattr(
        "trainyard_rehearsal.control_plane.progress_deadline.time.monotonic", lambda: next(times)
    )
    deadline = ProgressDeadline(120)

    assert [deadline.exceeded(state) for state in ("a", "a", "b", "b", "b")] == [
        False,
        False,
        False,
        False,
        True,
    ]
