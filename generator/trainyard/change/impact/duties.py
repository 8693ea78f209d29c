"""What people do by hand after a change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FileChange = Literal["changed", "created", "deleted"]


@dataclass(frozen=True, slots=True)
class HandChange:
    """Files with which somebody has something to do after the merge.

    Args:
        owner: who, in words.
        change: a deleted one removes nothing that is in use.
        files: paths below the cluster's folder, sorted.
    """

    owner: str
    change: FileChange
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodeWork:
    """What the owner of the nodes does on each of some nodes of a pool.

    Args:
        nodes: how many: all of the pool, or those that are new in it.
        adds: labels as ``key=value``, those of the topology as ``key``, and taints as
            ``key:NoSchedule``; sorted.
        removes: labels and taints, sorted.
        files: what is installed on new nodes, below the cluster's folder; sorted.
    """

    pool: str
    nodes: int
    adds: tuple[str, ...]
    removes: tuple[str, ...]
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerChange:
    """A cluster whose API server has another address."""

    before: str
    after: str
