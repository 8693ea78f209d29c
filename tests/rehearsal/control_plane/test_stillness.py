"""Waits that end because nothing moves."""

from __future__ import annotations

import pytest

from trainyard_rehearsal.control_plane.stillness import Stillness


def test_time_counts_from_the_last_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two minutes without a change end it; each change begins anew."""
    times = iter([0.0, 119.0, 120.0, 200.0, 240.0])
    monkeypatch.setattr(
        "trainyard_rehearsal.control_plane.stillness.time.monotonic", lambda: next(times)
    )
    still = Stillness(120)

    assert [still.ended(state) for state in ("a", "a", "b", "b", "b")] == [
        False,
        False,
        False,
        False,
        True,
    ]
