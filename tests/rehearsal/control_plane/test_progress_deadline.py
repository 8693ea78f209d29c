"""Waits that end because nothing moves."""

from __future__ import annotations

import pytest

from trainyard_rehearsal.control_plane.progress_deadline import ProgressDeadline


def test_time_counts_from_the_last_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two minutes without a change end it; each change begins anew."""
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
