"""Sources and sentences that several reactions of Kueue share."""

from __future__ import annotations

BOTH = "seen with Kueue 0.16.2 and 0.19.2"
SEEN = "seen with Kueue 0.19.2"
COUNTED = "kubernetes-sigs/kueue:pkg/cache/scheduler/cache.go@v0.19.2"
RECLAIMED = (
    "Running jobs stay until another team of the cohort needs its own nodes. Kueue then evicts "
    "whole jobs beyond the quota, the lowest priority first."
)
MOVED = (
    "Kueue counts the queues in the new tree at once. Running jobs stay until an owner there needs "
    "its own nodes: then whole jobs on borrowed nodes are evicted."
)
REFUSED = (
    "The API server refuses the change, and Argo CD repeats the sync without end. Somebody must "
    "delete the object, and Argo CD creates it again."
)
SHARED = (
    "Kueue shares borrowed nodes by weight: it evicts jobs on borrowed nodes of a team that has "
    "more than its share."
)
