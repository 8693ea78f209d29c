"""The impact of a change as JSON; ``trainyard schema diff`` prints its schema."""

from __future__ import annotations

from typing import Any

from trainyard.change.diff import Diff
from trainyard.change.impact.model import Impact, Upgrade


def impact_document(diff: Diff) -> dict[str, Any]:
    """Return a change and what it does; numbers of nodes may be fractions."""
    head = {"commit": diff.head.id, "date": diff.head.date} if diff.head else None
    return {
        "base": {"commit": diff.base.id, "date": diff.base.date},
        "head": head,
        "behind": diff.behind,
        "knownWarnings": diff.known,
        "approvals": diff.approvals,
        "staleFiles": diff.stale,
        "releases": diff.releases,
        "impact": _impact(diff.impact) if diff.impact else None,
    }


def _impact(impact: Impact) -> dict[str, Any]:
    return {
        "worst": impact.worst,
        "clusters": impact.clusters,
        "upgrade": _upgrade(impact.upgrade) if impact.upgrade else None,
    }


def _upgrade(upgrade: Upgrade) -> dict[str, Any]:
    kinds = []
    for (cluster, kind), count in upgrade.kinds.items():
        kinds.append({"cluster": cluster, "kind": kind, "objects": count})
    return {"before": upgrade.before, "after": upgrade.after, "kinds": kinds}
