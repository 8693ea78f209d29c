"""The objects of one cluster in the committed tree and in the new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trainyard.change.objects import Objects, moved_namespaces, of_kind
from trainyard.model.holding import Holding
from trainyard.model.identity import team_of
from trainyard.model.ids import Ids
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform, Site
from trainyard.model.team import Team


@dataclass(frozen=True, slots=True)
class Replacement:
    """Objects of one cluster before and after.

    Args:
        platform, site: as the profiles have them now.
        tool: version of Trainyard that wrote what is replaced.
        before: objects of the committed tree; their place is the file there.
        after: objects that the profiles make now.
        holdings: each number ever given on the cluster's fabrics, as the committed lockfile
            remembers it, under the new names of renamed teams.
        ids: user ids ever given to its namespaces, likewise.
        renamed: teams that the change renames here, by their old names.
    """

    platform: Platform
    site: Site
    tool: str
    before: Objects
    after: Objects
    holdings: tuple[Holding, ...]
    ids: tuple[Ids, ...]
    renamed: Mapping[str, Team]

    @property
    def moved(self) -> dict[str, str]:
        """Namespaces that teams keep under another name: the new name, by the old one."""
        renamed = {old: team.name for old, team in self.renamed.items()}
        return moved_namespaces(self.before, self.after, renamed)

    @property
    def ledger(self) -> tuple[Holding, ...]:
        """The ledger's numbers on the cluster's fabrics now."""
        return tuple(self.platform.holdings(self.site))

    @property
    def running(self) -> frozenset[str]:
        """Teams whose jobs may run: no earlier merge has drained them."""
        return frozenset(map(team_of, self.open_queues()))

    def old(self, *kinds: str) -> Iterator[Manifest]:
        """Yield the committed objects of some kinds."""
        return of_kind(self.before, *kinds)

    def pairs(self, *kinds: str) -> Iterator[tuple[Manifest, Manifest]]:
        """Yield the objects of some kinds that stay, before and after."""
        for key, old in self.before.items():
            if key.kind in kinds and key in self.after:
                yield old, self.after[key]

    def open_queues(self) -> Iterator[Manifest]:
        """Yield the committed ClusterQueues that let jobs run."""
        return open_queues(self.before)


def open_queues(objects: Objects) -> Iterator[Manifest]:
    """Yield the ClusterQueues that let jobs run.

    A queue that is held and drained has evicted its jobs and starts none.
    """
    for queue in of_kind(objects, "ClusterQueue"):
        if queue.body["spec"].get("stopPolicy") != "HoldAndDrain":
            yield queue
