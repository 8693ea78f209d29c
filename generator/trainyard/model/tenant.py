"""A team on one cluster: its sync unit and its part of the platform."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain

from trainyard.model import names
from trainyard.model.cluster import Cluster
from trainyard.model.component import Component
from trainyard.model.launch import Launch
from trainyard.model.named import by_name
from trainyard.model.network import AddressPool
from trainyard.model.queue import Flavor, Queue
from trainyard.model.space import Sample, Space
from trainyard.model.state import State
from trainyard.model.storage import Claim
from trainyard.model.team import Team


@dataclass(frozen=True, slots=True)
class Tenant:
    """A team on one cluster, complete.

    Args:
        spaces: its namespaces, its own first.
        address_pools: of its partitions or VLANs, shared by its namespaces.
    """

    team: Team
    cluster: Cluster
    queues: tuple[Queue, ...]
    spaces: tuple[Space, ...]
    address_pools: tuple[AddressPool, ...]
    components: tuple[Component, ...]

    @property
    def name(self) -> str:
        """The team's name."""
        return self.team.name

    @property
    def days_of_logs(self) -> int:
        """Days that lines of its pods are kept in the log store; 0 where no profile states it.

        Those of the cluster, or more if a regulation demands it.
        """
        monitoring, regulation = self.cluster.monitoring, self.team.compliance
        if monitoring is None or monitoring.logs is None:
            return 0
        return max(monitoring.logs.keep, regulation.keep_logs if regulation else 0)

    @property
    def flavors(self) -> tuple[Flavor, ...]:
        """Its quota on each pool."""
        return tuple(chain.from_iterable(queue.flavors for queue in self.queues))

    @property
    def state(self) -> State:
        """Its state on this cluster, whoever states it."""
        return self.team.state_on(self.cluster.name)

    def state_of(self, flavor: Flavor) -> State:
        """Return the state of its queue with quota on a pool."""
        return next(each.state for each in self.queues if flavor.name in by_name(each.flavors))

    @property
    def in_use(self) -> Tenant:
        """The team with its queues on the nodes that are not in maintenance."""
        return replace(self, queues=tuple(queue.in_use for queue in self.queues))

    @property
    def files(self) -> tuple[str, ...]:
        """The profile files that made it."""
        return (self.team.at.file, *self.cluster.files)

    @property
    def made_volumes(self) -> tuple[Claim, ...]:
        """Claims whose PersistentVolume we make."""
        return tuple(chain.from_iterable(space.made_volumes for space in self.spaces))

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Names of its namespaces, its own first."""
        return tuple(space.namespace for space in self.spaces)

    @property
    def launches(self) -> tuple[Launch, ...]:
        """Runtimes that the jobs of its namespaces may use, each once."""
        launches = chain.from_iterable(space.launches for space in self.spaces)
        return tuple(by_name(launches).values())

    @property
    def samples(self) -> tuple[Sample, ...]:
        """A job to copy for each runtime of each namespace."""
        return tuple(chain.from_iterable(space.samples for space in self.spaces))

    @property
    def unit(self) -> str:
        """Its sync unit, a folder below the cluster's."""
        return f"teams/{self.name}"

    @property
    def application(self) -> str:
        """Name of the team's AppProject and Application."""
        return names.application(self.cluster.name, f"team-{self.name}")
