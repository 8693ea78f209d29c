"""Find the clusters whose tree a change may touch, so that no other is rendered."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard import __version__
from trainyard.model.platform import Platform, Site
from trainyard.tree.lockfile import Lock
from trainyard.tree.tree import Tree


def touched(old: Platform | None, new: Platform, base: Tree, head: Tree) -> Iterator[str]:
    """Yield the clusters whose tree may differ from the base's.

    A tree follows from its cluster's part of the platform, the numbers in its lockfile and the
    version of Trainyard. A base that nobody generated after its last edit shows in the lockfiles:
    that of the head differs then.

    Args:
        old: None when the base's profiles can't be resolved.
        new: the head's.
        base: the committed tree that the change would replace.
        head: that of the change.

    Raises:
        TreeError: a lockfile of the base is broken or can't be read.
    """
    for site in new.sites:
        same = _is_same(site, old, new) and _is_current(base.lock(site.name))
        if not same or head.differs(site.name, base):
            yield site.name
    for name in new.retired:
        if _has_files(base.lock(name)) or head.differs(name, base):
            yield name


def _is_same(site: Site, old: Platform | None, new: Platform) -> bool:
    """Return whether a cluster's part of two platforms is the same."""
    return old is not None and site in old.sites and _numbers(old, site) == _numbers(new, site)


def _has_files(lock: Lock | None) -> bool:
    return lock is not None and bool(lock.files)


def _is_current(lock: Lock | None) -> bool:
    """Return whether this version of Trainyard generated a cluster."""
    return lock is not None and lock.tool == __version__


def _numbers(platform: Platform, site: Site) -> tuple[object, object]:
    """Return what the ledger has given on a cluster, to teams without a profile too."""
    return tuple(platform.holdings(site)), platform.ids.get(site.name, ())
