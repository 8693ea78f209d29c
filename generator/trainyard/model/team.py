"""A team: its groups, runtimes, quota and storage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from ipaddress import IPv4Network

from trainyard.diagnostics import Pointer
from trainyard.model.adoption import Stage
from trainyard.model.compliance import Compliance
from trainyard.model.queue_name import QueueName
from trainyard.model.state import State
from trainyard.model.unit import Unit

NO_QUEUE = "none"
"""Value of a profile's ``defaultQueue``: jobs without a queue's label are refused."""


@dataclass(frozen=True, slots=True)
class Account:
    """A service account in the team's namespace that acts as a subject.

    Args:
        role: ``admin``, ``user`` or ``viewer``.
        owner: who makes it; empty when Trainyard does.
    """

    name: str
    at: Pointer
    role: str
    owner: str


@dataclass(frozen=True, slots=True)
class Debuggers:
    """Groups that may run commands in the pods of a team's jobs.

    Args:
        until: ISO date of their last day.
    """

    at: Pointer
    groups: tuple[str, ...]
    until: str
    reason: str


@dataclass(frozen=True, slots=True)
class Term:
    """The time that a quota is for.

    Args:
        until: ISO date of its last day.
        nodes: of the team's own afterwards.
    """

    until: str
    reason: str
    nodes: Fraction

    def display(self, left: str) -> str:
        """Return the time as text, e.g. ``until 2027-01-31 (paper), then 8 nodes``.

        Args:
            left: what the team has afterwards.
        """
        return f"until {self.until} ({self.reason}), then {left}"


@dataclass(frozen=True, slots=True)
class Quota:
    """A team's quota on one pool of one cluster.

    Args:
        unit: key of the profile that states it; a share of a node has another than ``nodes``.
        nodes: of its own.
        borrow: nodes that it uses beside its own while their owners don't need them, at most.
        lend: nodes of its own that others may use, at most.
        per_node: units that a node has: 1, or its GPUs or cores.
        term: None for a quota without a last day.
        withheld: nodes of its own that it lacks while nodes of the pool are in maintenance.
    """

    cluster: str
    pool: str
    at: Pointer
    unit: Unit
    nodes: Fraction
    borrow: Fraction
    lend: Fraction
    per_node: int
    term: Term | None = None
    withheld: Fraction = Fraction(0)

    @property
    def in_use(self) -> Quota:
        """The quota without what is withheld from it."""
        if not self.withheld:
            return self
        nodes = self.nodes - self.withheld
        term = self.term and replace(self.term, nodes=min(self.term.nodes, nodes))
        lend = min(self.lend, nodes)
        return replace(self, nodes=nodes, lend=lend, term=term, withheld=Fraction(0))

    @property
    def ending(self) -> str:
        """The time that it is for, and what follows; empty without a last day."""
        return self.term.display(self.display(self.term.nodes)) if self.term else ""

    @property
    def holding(self) -> str:
        """Its own as text, e.g. ``8 nodes``, or ``7 of 8 nodes`` while some are in maintenance."""
        left = f"{self.in_use.own} of " if self.withheld else ""
        return f"{left}{self.display(self.nodes)}"

    @property
    def place(self) -> Pointer:
        """Place of the number of its own."""
        return self.at / self.unit

    @property
    def maximum(self) -> Fraction:
        """Nodes of the largest job that the quota admits."""
        return self.nodes + self.borrow

    @property
    def is_share(self) -> bool:
        """Return whether the profile states parts of a node: jobs then take these."""
        return self.unit is not Unit.NODES

    @property
    def own(self) -> int:
        """Its own nodes, GPUs or cores."""
        return self.units(self.nodes)

    def units(self, nodes: Fraction) -> int:
        """Return nodes in the unit that the profile uses."""
        return int(nodes * self.per_node)

    def display(self, nodes: Fraction) -> str:
        """Return nodes as the profile states them, e.g. ``1 node`` or ``2 GPUs``."""
        return self.unit.counted(self.units(nodes))


@dataclass(frozen=True, slots=True)
class MpiJobs:
    """The time in which a team may create MPIJobs on a cluster, beside TrainJobs.

    Args:
        until: ISO date of its last day.
    """

    at: Pointer
    until: str


@dataclass(frozen=True, slots=True)
class StorageRequest:
    """A team's request for one kind of storage.

    Args:
        size: bytes, for claims; 0 for S3.
        bucket: for S3.
        volume: PersistentVolume behind an adopted claim.
    """

    storage: str
    at: Pointer
    size: int = 0
    bucket: str = ""
    volume: str = ""


@dataclass(frozen=True, slots=True)
class Allocation:
    """A team's permanent segment and addresses on a fabric.

    Args:
        segment: its partition (InfiniBand) or VLAN (RoCE).
        since: ISO date of the day on which it was given; empty when it is not recorded.
    """

    at: Pointer
    segment: int
    addresses: IPv4Network
    since: str = ""

    def addresses_of_a_rail(self, rails: int) -> int:
        """Return how many addresses each rail gets: a power of two, so the rest stays unused."""
        return self.addresses.num_addresses >> (rails - 1).bit_length()


@dataclass(frozen=True, slots=True)
class TeamSpace:
    """A namespace of a team, on each of its clusters: its own, or a further one on the same queues.

    Args:
        name: empty for the team's own.
        namespace: its name on each cluster.
        largest_job: nodes of the largest job that may be submitted in it, launcher included.
        largest_job_at: where that is stated, or the quota that it follows from.
        storage: names of the storage that it asks for.
        priorities: classes that it may use; empty for all of the cluster's.
        queues: further names of the team's queues.
    """

    name: str
    at: Pointer
    namespace: str
    largest_job: int
    largest_job_at: Pointer
    storage: tuple[str, ...]
    priorities: tuple[str, ...]
    queues: tuple[QueueName, ...] = ()

    @property
    def namespace_at(self) -> Pointer:
        """Place of its name in the profile, stated or not."""
        return self.at / "namespace"


@dataclass(frozen=True, slots=True)
class Team:
    """One team, complete.

    Args:
        state: ``active``, ``held`` (its queues admit no job), ``draining`` (they evict too) or
            ``retired`` (a tombstone: nothing is made). Of a team on a cluster, its state there.
        states: cluster -> its state there, of each that it has quota on or has left.
        stage: how far it is held to the rules, on every cluster.
        renamed_from: name that it had; empty for none. Only the change that renames it reads this.
        folder: its folder on NFS servers and in secret stores.
        cost_center: that pays for its quota; empty when the profile states none.
        owners: who approves changes of its profile, sorted; empty when the profile states nobody.
        groups: role -> groups of the identity provider.
        debuggers: None where nobody may run commands in the pods of its jobs.
        weight: of its queues among those of its cohort, where borrowed nodes are shared fairly.
        default_runtime: that of its runtimes which its jobs take if nothing asks for another; empty
            for none.
        metrics: port of its jobs' own metrics; 0 where they have none.
        own_runtimes: how many TrainingRuntimes its admins may create in each namespace.
        default_queue: class of node for jobs without a queue's label, or `NO_QUEUE`; empty for
            nodes with GPUs where it has some.
        mpi_jobs: cluster -> the time in which it may create MPIJobs there.
        spaces: its namespaces, its own first.
        components: hand-written Kustomize Components that its sync unit lists.
        compliance: regulation that it is under.
        encrypts_transit: whether its data must be encrypted between nodes; None when the profile
            doesn't state it.
    """

    name: str
    at: Pointer
    state: str
    states: Mapping[str, State]
    stage: Stage
    renamed_from: str
    folder: str
    contact: str
    cost_center: str
    owners: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]
    debuggers: Debuggers | None
    accounts: tuple[Account, ...]
    runtimes: tuple[str, ...]
    cohort: str
    weight: int
    quotas: tuple[Quota, ...]
    default_runtime: str
    metrics: int
    own_runtimes: int
    default_queue: str
    mpi_jobs: Mapping[str, MpiJobs]
    spaces: tuple[TeamSpace, ...]
    components: tuple[str, ...]
    compliance: Compliance | None
    encrypts_transit: bool | None

    def quotas_on(self, cluster: str) -> list[Quota]:
        """Return its quota on the pools of a cluster."""
        return [quota for quota in self.quotas if quota.cluster == cluster]

    def state_on(self, cluster: str) -> State:
        """Return its state on a cluster."""
        return self.states.get(cluster) or State(self.state, self.at / "state", f"team {self.name}")

    @property
    def largest_job(self) -> int:
        """Nodes of the largest job that it may submit in its own namespace."""
        return self.spaces[0].largest_job

    @property
    def largest_job_at(self) -> Pointer:
        """Place that decides it."""
        return self.spaces[0].largest_job_at
