"""Partitions and VLANs: what separates teams on a fabric."""

from __future__ import annotations

from trainyard.model.link import Link


def is_reserved(link: Link, number: int) -> bool:
    return not link.first <= number <= link.last
