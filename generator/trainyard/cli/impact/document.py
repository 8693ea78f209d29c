"""The impact of a change as plain data for JSON; ``trainyard schema diff`` prints its schema."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

from trainyard.change.diff import Diff
from trainyard.change.impact.amounts import Move
from trainyard.change.impact.model import Impact
from trainyard.change.impact.upgrade import Upgrade
from trainyard.model.identity import Identity
from trainyard.model.money import Money, Price
from trainyard.model.team import Quota


def impact_document(diff: Diff) -> dict[str, Any]:
    """Return a change and what it does; numbers of nodes may be fractions."""
    head = {"commit": diff.head.id, "date": diff.head.date} if diff.head else None
    return {
        "base": {"commit": diff.base.id, "date": diff.base.date},
        "head": head,
        "behind": diff.behind,
        "known_warnings": diff.known,
        "approvals": _plain(diff.approvals),
        "stale_files": diff.stale,
        "impact": _impact(diff.impact) if diff.impact else None,
    }


def _impact(impact: Impact) -> dict[str, Any]:
    return {
        "worst": _plain(impact.worst),
        "clusters": [_plain(each) for each in impact.clusters],
        "upgrade": _upgrade(impact.upgrade) if impact.upgrade else None,
    }


def _upgrade(upgrade: Upgrade) -> dict[str, Any]:
    kinds = [
        {"cluster": cluster, "kind": kind, "objects": count}
        for (cluster, kind), count in upgrade.kinds.items()
    ]
    return {"before": upgrade.before, "after": upgrade.after, "kinds": kinds}


def _plain(value: Any) -> Any:
    """Return part of the model under the names that it has there."""
    if (parts := _parts(value)) is not None:
        return {name: _plain(part) for name, part in parts.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value.name.lower() if isinstance(value, Enum) else value


def _parts(value: Any) -> dict[str, Any] | None:
    """Return the fields of a value; None when it has none."""
    if isinstance(value, Quota):
        numbers = {"nodes": value.nodes, "borrow": value.borrow, "lend": value.lend}
        return {**numbers, "term": value.term}
    if isinstance(value, Money | Price):
        return {"amount": value.number, "currency": value.currency}
    if isinstance(value, Identity | Move):
        return value._asdict()
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    return None
