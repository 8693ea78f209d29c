"""The people who approve changes of profiles and of the tree, as CODEOWNERS names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Owners:
    """Owners of the platform's files (``owners`` of ``trainyard.yaml``).

    Every tuple is sorted. Any one of them may approve.

    Args:
        platform: of each file without owners of its own; empty when nobody is stated.
        kinds: kind of file (``hardware``, ``compliance``, ``runtimes``, ``components``,
            ``allocations``, ``waivers``, ``workflows``) -> its owners, where stated.
        clusters: cluster -> its owners, where stated.
    """

    platform: tuple[str, ...] = ()
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    clusters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of_kind(self, kind: str) -> tuple[str, ...]:
        """Return the owners of a kind of file."""
        return self.kinds.get(kind, self.platform)

    def of_profile(self, file: str) -> tuple[str, ...]:
        """Return the owners of a platform file, e.g. ``profiles/clusters/prod-east.yaml``."""
        _, kind, *inside = file.split("/")
        if kind == "clusters":
            return self.of_cluster(inside[-1].removesuffix(".yaml"))
        return self.of_kind(kind.removesuffix(".yaml"))

    def of_cluster(self, name: str) -> tuple[str, ...]:
        """Return the owners of a cluster."""
        return self.clusters.get(name, self.platform)
