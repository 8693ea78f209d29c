"""Node labels: as text, and each where it is stated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.diagnostics import Pointer
from trainyard.model.platform import Platform
from trainyard.rules._iterate import hardware


def as_selector(labels: Mapping[str, str]) -> str:
    """Return labels as a label selector: ``key=value`` pairs, separated by commas."""
    return ", ".join(f"{key}={value}" for key, value in labels.items())


def selecting_keys(platform: Platform) -> Iterator[tuple[str, str, Pointer]]:
    """Yield each label key that selects nodes, with what has it in words, and its place."""
    for node_type in hardware(platform):
        for key in node_type.labels:
            yield key, f"`{node_type.name}` nodes", (node_type.stated("labels") / key).key()
    for site in platform.sites:
        for pool in site.cluster.pools:
            for key in pool.own_labels:
                yield key, f"nodes of pool `{pool.name}`", (pool.at / "labels" / key).key()
