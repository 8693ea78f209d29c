"""What another version of Trainyard changes by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from trainyard.model.identity import Identity


@dataclass(frozen=True, slots=True)
class Upgrade:
    """Objects that differ only because another version of Trainyard generates them.

    Args:
        before, after: versions.
        objects: by cluster.
    """

    before: str
    after: str
    objects: Mapping[str, frozenset[Identity]]

    @property
    def kinds(self) -> dict[tuple[str, str], int]:
        """Number of the objects by cluster and kind, sorted."""
        kinds: Counter[tuple[str, str]] = Counter()
        for cluster, identities in self.objects.items():
            kinds.update((cluster, identity.kind) for identity in identities)
        return dict(sorted(kinds.items()))
