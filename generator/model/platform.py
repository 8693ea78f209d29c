"""The whole platform: every cluster with the teams on it. What `resolve` returns and everything later reads."""

from __future__ import annotations

from dataclasses import dataclass

from generator.diagnostics import Pointer
from generator.model.cluster import Cluster, Settings
from generator.model.runtime import Launch, Runtime
from generator.model.team import Allocation, Team
from generator.model.tenant import Tenant


@dataclass(frozen=True, slots=True)
class Site:
    """One cluster with its teams: becomes one folder of overlays/.

    Args:
        launches: runtimes on the hardware of this cluster's pools that some team lists.
        tenants: teams that are here and not retired, by name.
    """

    cluster: Cluster
    launches: tuple[Launch, ...]
    tenants: tuple[Tenant, ...]


@dataclass(frozen=True, slots=True)
class Platform:
    """Everything the profiles say, complete and sorted.

    Args:
        teams: all of them, tombstones included.
        runtimes: all of them.
        allocations: (cluster, fabric, team) -> what it holds.
    """

    settings: Settings
    sites: tuple[Site, ...]
    teams: tuple[Team, ...]
    runtimes: tuple[Runtime, ...]
    allocations: dict[tuple[str, str, str], Allocation]
    allocations_at: Pointer
