"""Find the clusters whose tree a change may touch, so that no other is rendered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trainyard import __version__
from trainyard.model.platform import Platform, Site
from trainyard.plainfile import read_regular
from trainyard.tree.lockfile import LOCKFILE, read_lock


def touched(old: Platform | None, new: Platform, base_tree: Path, head_tree: Path) -> Iterator[str]:
    """Yield the clusters whose tree may differ from the base's.

    A tree follows from its cluster's part of the platform, the numbers in its lockfile and the
    version of Trainyard. A base that nobody generated after its last edit shows in the lockfiles:
    that of the head differs then.

    Args:
        old: None when the base's profiles can't be resolved.
        new: the head's.
        base_tree: folder with the base's lockfiles.
        head_tree: the head's committed tree.

    Raises:
        TreeError: a lockfile of the base is broken or can't be read.
    """
    sites = {site.name: site for site in old.sites} if old else {}
    for site in new.sites:
        before = sites.get(site.name)
        same = before == site and old is not None and _numbers(old, site) == _numbers(new, site)
        if not (same and _same_lock(base_tree / site.name, head_tree / site.name)):
            yield site.name


def _numbers(platform: Platform, site: Site) -> tuple[object, object]:
    """Return what the ledger has given on a cluster, to teams without a profile too."""
    return tuple(platform.holdings(site)), platform.ids.get(site.name, ())


def _same_lock(base: Path, head: Path) -> bool:
    lock = read_lock(base)
    return lock is not None and lock.tool == __version__ and _content(base) == _content(head)


def _content(folder: Path) -> bytes:
    """Return the content of a lockfile; nothing if it can't be read, which others report."""
    try:
        return read_regular(folder, LOCKFILE)
    except OSError:
        return b""
