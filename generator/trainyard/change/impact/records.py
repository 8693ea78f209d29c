"""Compare how long the lines of the teams' pods are kept, and which are dropped."""

from __future__ import annotations

from collections import defaultdict

from trainyard.change.impact.model import Sides
from trainyard.change.impact.states import LogChange
from trainyard.model.platform import Site


def log_changes(sides: Sides) -> tuple[LogChange, ...]:
    """Return each other number of days, with the teams on both sides that it is for; sorted."""
    teams: dict[tuple[int, int], list[str]] = defaultdict(list)
    for name, old, new in sides.kept_tenants():
        if old.days_of_logs != new.days_of_logs:
            teams[old.days_of_logs, new.days_of_logs].append(name)
    return tuple(LogChange(tuple(names), *days) for days, names in sorted(teams.items()))


def drop_change(sides: Sides) -> bool | None:
    """Return whether lines with a credential are dropped from now on; None where nothing differs.

    A cluster that is created or deleted has no lines on the other side.
    """
    if sides.old is None or sides.new is None:
        return None
    before, after = _drops(sides.old), _drops(sides.new)
    return after if before != after else None


def _drops(site: Site) -> bool:
    monitoring = site.cluster.monitoring
    return bool(monitoring and monitoring.logs and monitoring.logs.drops_credentials)
