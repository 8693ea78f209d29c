"""Partitions and VLANs: what separates teams on a fabric."""

from __future__ import annotations

from trainyard.model.link import Link


def is_reserved(link: Link, number: int) -> bool:
    """Return whether no team may have a number on a link."""
    return not link.first <= number <= link.last
