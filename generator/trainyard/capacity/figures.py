"""The capacity of one cluster, as `capacity.measure` returns it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from trainyard.model.maintenance import Maintenance
from trainyard.model.state import State
from trainyard.model.team import Term
from trainyard.model.unit import Unit


class Limit(StrEnum):
    """The value that a larger job of a team would exceed, in the words of the profiles."""

    QUOTA = "quota"
    LENT = "lent nodes"
    POOL = "pool"
    LARGEST_JOB = "largestJob"
    MAX_NODES = "maxNodes"
    SMALLEST_JOB = "smallest job"
    RUNTIMES = "runtimes"
    HELD = "held"
    DRAINING = "draining"


@dataclass(frozen=True, slots=True)
class Job:
    """The largest job of a team on a pool.

    Args:
        pods: its nodes, launcher included; pods on a share of a node. 0 when none fits.
        nodes: that all pods use, a fraction on a share of a node.
        limit: value that allows no larger one.
    """

    pods: int
    nodes: Fraction
    limit: Limit


@dataclass(frozen=True, slots=True)
class Part:
    """What a team has of a pool.

    Args:
        root: root of the team's tree of cohorts; empty without a cohort.
        own, borrow, lend: nodes as `model.team.Quota` has them, fractions for a share of a node.
        withheld: nodes that are its own again when no node is in maintenance.
        lent: nodes that the other teams below the same root lend.
        state: of its queue there.
        term: the time that its own are for; None without a last day.
        amounts: nominal quota of each resource, in base units.
        own_job: the largest job in the team's own quota.
        largest_job: the largest job with all that the team may borrow.
    """

    team: str
    cohort: str
    root: str
    own: Fraction
    borrow: Fraction
    lend: Fraction
    withheld: Fraction
    lent: Fraction
    state: State
    term: Term | None
    amounts: Mapping[str, int]
    own_job: Job
    largest_job: Job

    @property
    def borrowable(self) -> Fraction:
        """Nodes that the team can borrow at most: within its limit, and lent by others."""
        return min(self.borrow, self.lent)


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of a pool, in base units: thousandths of a cpu, bytes, counts.

    Args:
        per_node: allocatable of one node.
        nodes: allocatable of all nodes, with the reserve and those in maintenance.
        out_of_use: allocatable of the nodes in maintenance.
        promised: allocatable of the nodes that teams may be given.
        nominal: nominal quota of all teams.
        binds: whether no resource of a node is used up before this one by jobs of whole pods.
    """

    name: str
    per_node: int
    nodes: int
    out_of_use: int
    promised: int
    nominal: int
    binds: bool

    @property
    def head_room(self) -> int:
        """Promised and owned by no team; negative when teams own more than is promised."""
        return self.promised - self.nominal


@dataclass(frozen=True, slots=True)
class PoolCapacity:
    """One pool.

    Args:
        unit: in which teams own it.
        per_node: units that a node has: 1, or its GPUs or cores.
        gpus: of one node.
        nodes: all of them, with those in maintenance.
        maintenance: what is out of use.
        reserve: nodes that no team is given, of those in use.
        promised: nodes that teams may be given, of those in use.
        owned: nodes that teams own together.
        parts: of teams, by the team's name.
    """

    name: str
    hardware: str
    unit: Unit
    per_node: int
    gpus: int
    nodes: int
    maintenance: tuple[Maintenance, ...]
    out_of_use: int
    reserve: int
    promised: int
    owned: Fraction
    resources: tuple[Resource, ...]
    parts: tuple[Part, ...]

    @property
    def head_room(self) -> Fraction:
        """Nodes that are promised and owned by no team; negative when teams own too many."""
        return self.promised - self.owned

    @property
    def lent(self) -> Fraction:
        """Nodes that teams lend together."""
        return sum((part.lend for part in self.parts), Fraction(0))

    @property
    def binding(self) -> tuple[str, ...]:
        """Names of the resources that are used up first."""
        return tuple(resource.name for resource in self.resources if resource.binds)

    def units(self, nodes: Fraction | int) -> int:
        """Return nodes in the unit of the pool."""
        return int(nodes * self.per_node)


@dataclass(frozen=True, slots=True)
class CohortMembers:
    """A cohort with the teams that it has directly.

    Args:
        lineage: the cohort and what it descends from, the root last.
    """

    name: str
    lineage: tuple[str, ...]
    teams: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a team has of a fabric permanently, a retired team included.

    Args:
        segment: its partition or VLAN, as people write it.
        addresses: its block.
        per_rail: addresses of the block that each rail gets.
    """

    team: str
    segment: str
    addresses: str
    per_rail: int


@dataclass(frozen=True, slots=True)
class FabricCapacity:
    """The numbers that a fabric has for teams, and those that were given.

    Args:
        unit: ``partition`` or ``VLAN``.
        segments, blocks: of the fabric's range; a block is what a team gets of the addresses.
        segments_given, blocks_given: those that some team of any cluster has.
        prefix: prefix length of a block.
        teams: of this fabric, by name.
    """

    name: str
    unit: str
    rails: int
    segments: int
    segments_given: int
    blocks: int
    blocks_given: int
    prefix: int
    teams: tuple[Numbers, ...]

    @property
    def head_room(self) -> int:
        """Teams that can still join the fabric."""
        return min(self.segments - self.segments_given, self.blocks - self.blocks_given)


@dataclass(frozen=True, slots=True)
class Capacity:
    """One cluster.

    Args:
        cohorts: each after its parent.
    """

    cluster: str
    pools: tuple[PoolCapacity, ...]
    fabrics: tuple[FabricCapacity, ...]
    cohorts: tuple[CohortMembers, ...]
