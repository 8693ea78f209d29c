"""Sentences that several fixes of the family share."""

from __future__ import annotations

NEVER_MERGED = (
    "If the numbers were never merged, restore `overlays/` from the base branch and generate again."
)
PRESENT_IDS = (
    "Write the range and level that the namespace has: `oc get namespace NAME -o yaml` shows them "
    "as `openshift.io/sa.scc.uid-range` and `openshift.io/sa.scc.mcs`."
)
