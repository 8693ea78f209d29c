"""From the fields of a cluster to what watches it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.monitoring import NAMESPACES, Logs, Monitoring
from trainyard.model.quantity import parse_days, parse_seconds
from trainyard.resolve.findings import Resolving
from trainyard.resolve.references import find


def resolve_monitoring(fields: Mapping[str, Any], at: Pointer) -> Resolving[Monitoring | None]:
    """Return what watches a cluster; None where the profile names nothing."""
    if "monitoring" not in fields:
        return None
    stated, priorities = fields["monitoring"], fields.get("priorities", {})
    waiting = {}
    for name, limit in sorted(stated["waiting"].items()):
        yield from find("priority class", name, priorities, (at / "waiting" / name).key())
        waiting[name] = parse_seconds(limit)
    stack = stated["stack"]
    namespace = stated.get("namespace", NAMESPACES[stack])
    return Monitoring(
        at=at,
        stack=stack,
        labels=stated["labels"],
        namespace=namespace,
        severity=stated["severity"],
        waiting=waiting,
        dashboards=stated.get("dashboards", ""),
        logs=_logs(stated, at / "logs"),
    )


def _logs(fields: Mapping[str, Any], at: Pointer) -> Logs | None:
    """Return how lines of pods are kept; None where the profile does not state it."""
    if "logs" not in fields:
        return None
    stated = fields["logs"]
    return Logs(at, parse_days(stated["keep"]), stated["dropCredentials"])
