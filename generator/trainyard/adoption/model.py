"""What an import finds: pools, quotas, teams, and what becomes of each part of the site."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from trainyard.model import names
from trainyard.model.facts import Body
from trainyard.model.unit import Unit

_LABEL = re.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
"""Name of a namespace, as the API server has it."""


class Mark(StrEnum):
    """What becomes of a part of the site."""

    KEPT = "kept"
    CHANGED = "changed"
    OUTSIDE = "outside"
    """It has GPUs outside of Kueue: it goes on, and admission decides about its next start."""
    REFUSED = "refused"
    """It has no counterpart; the note has the reason."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A part of the site, and what becomes of it. What is left to choose is in the drafts.

    Args:
        part: kind and name of the object.
    """

    mark: Mark
    part: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """A resource of a team, or a name, before and after.

    Args:
        becomes: what the drafts give; `choose` where somebody decides.
        difference: of the nominal quota, `0` included.
    """

    team: str
    pool: str
    resource: str
    was: str
    becomes: str
    difference: str
    why: str


@dataclass(frozen=True, slots=True)
class Kind:
    """Nodes of one type: a pool, and its hardware profile.

    Args:
        name: of the pool.
        nodes: at least one, by name.
        flavors: names of the ResourceFlavors that select exactly these nodes.
        labels: that select them; empty where the site has none.
        topology: name of the Topology of the flavors.
        refusal: why no profile can have such nodes; empty if one can.
        is_part: whether the labels select nodes of other pools too.
    """

    name: str
    nodes: tuple[Body, ...]
    flavors: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    topology: str = ""
    refusal: str = ""
    is_part: bool = False


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool as it is drafted.

    Args:
        lines: of its hardware profile.
        per_node: what a node promises to teams, in base units; what the profile leaves open is as
            the nodes have it.
        offered: what kubelet offers on a node, before daemons.
        counted: the resource that quota follows: the GPUs, or `cpu`.
        cores: cores of a thread; None where the dump does not show them.
        fabric: name of its fabric; empty without one.
    """

    kind: Kind
    lines: tuple[str, ...]
    per_node: Mapping[str, int]
    offered: Mapping[str, int]
    counted: str
    cores: Fraction | None
    fabric: str = ""

    @property
    def name(self) -> str:
        """Its name."""
        return self.kind.name

    @property
    def count(self) -> int:
        """Nodes that it has."""
        return len(self.kind.nodes)


@dataclass(frozen=True, slots=True)
class Cell:
    """What a queue has of a resource of a flavor, in base units.

    Args:
        queue: kind and name of the object that states it.
        borrow, lend: the limits; None without one.
    """

    queue: str
    flavor: str
    resource: str
    nominal: int
    borrow: int | None = None
    lend: int | None = None


@dataclass(frozen=True, slots=True)
class Crew:
    """Namespaces that share queues: a team.

    Args:
        spaces: name of the space by namespace, its own first; it has no name.
        queues: its ClusterQueues; none where ResourceQuotas alone limit it.
        cells: of the queues, or the ResourceQuotas.
        cohort: empty without one.
        local: namespace and name of its LocalQueues, and the ClusterQueue of each.
        held: whether somebody stopped all of its queues.
    """

    name: str
    spaces: Mapping[str, str]
    queues: tuple[Body, ...]
    cells: tuple[Cell, ...]
    cohort: str = ""
    local: tuple[tuple[str, str, str], ...] = ()
    held: bool = False

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Its namespaces, the main one first."""
        return tuple(self.spaces)

    def kept(self, namespace: str) -> str:
        """Return the name that a namespace gets: its own, if a profile can have it."""
        usual = names.namespace(self.name, self.spaces[namespace])
        return namespace if _LABEL.fullmatch(namespace) else usual


@dataclass(frozen=True, slots=True)
class Share:
    """A team's quota on a pool, as far as it is decided.

    Args:
        own: in `unit`; None where somebody chooses.
        borrow: in `unit`; 0 where somebody chooses.
        lend: in `unit`; None for all, also where somebody chooses.
        part: of a node that one unit is.
        open: what is left to choose, by its key: `own`, `borrow` or `lend`.
    """

    team: str
    pool: str
    unit: Unit
    own: int | None
    borrow: int
    lend: int | None
    part: Fraction
    open: Mapping[str, str] = field(default_factory=dict)

    @property
    def nodes(self) -> Fraction:
        """Nodes of its own; 0 where somebody chooses."""
        return (self.own or 0) * self.part


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that somebody chooses.

    Args:
        file: below the folder of the profiles' folder.
        line: that has the comment.
    """

    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Adoption:
    """The drafts of a cluster.

    Args:
        files: content by path below the folder that has `profiles/`.
        sums: of the pools, in words.
        absent: kinds that the dump does not have.
    """

    cluster: str
    files: Mapping[str, bytes]
    rows: Sequence[Row]
    sums: Sequence[str]
    choices: Sequence[Choice]
    remarks: Sequence[Remark]
    absent: Sequence[str]


Fields = dict[str, Any]
