"""Compare what shows dashboards: whoever may open it sees the jobs of all teams."""

from __future__ import annotations

from trainyard.change.impact.model import Sides
from trainyard.change.impact.rights import ViewerChange
from trainyard.model.platform import Site


def viewer_changes(sides: Sides) -> tuple[ViewerChange, ...]:
    """Return the program that shows dashboards no more, and the one that does from now on."""
    before, after = _viewer(sides.old), _viewer(sides.new)
    changes = []
    if before and before != after:
        changes.append(ViewerChange(before, added=False))
    if after and before != after:
        changes.append(ViewerChange(after, added=True))
    return tuple(changes)


def _viewer(site: Site | None) -> str:
    return site.cluster.viewer if site else ""
