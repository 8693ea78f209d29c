"""Limits of teams that are in no cohort."""

from __future__ import annotations

NO_LIMITS = (
    "Kueue accepts no limits without a cohort (`borrowingLimit must be nil when cohort is empty`, "
    "seen with Kueue 0.16.2), so Trainyard writes none."
)
