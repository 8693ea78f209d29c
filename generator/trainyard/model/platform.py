"""The whole platform: every cluster with the teams on it. `resolve` returns it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.cluster import Cluster
from trainyard.model.component import Component
from trainyard.model.holding import Holding
from trainyard.model.ids import Ids
from trainyard.model.launch import Launch
from trainyard.model.named import by_name
from trainyard.model.runtime import Runtime
from trainyard.model.settings import Settings
from trainyard.model.space import Space
from trainyard.model.team import Allocation, Team
from trainyard.model.tenant import Tenant


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

    @property
    def name(self) -> str:
        """The cluster's name, and that of its folder."""
        return self.cluster.name

    @property
    def in_use(self) -> Site:
        """The cluster without nodes in maintenance, with the quota that is left."""
        if not any(pool.maintenance for pool in self.cluster.pools):
            return self
        pools = tuple(pool.in_use for pool in self.cluster.pools)
        tenants = tuple(tenant.in_use for tenant in self.tenants)
        return replace(self, cluster=replace(self.cluster, pools=pools), tenants=tenants)

    @property
    def spaces(self) -> tuple[Space, ...]:
        """Namespaces of all teams."""
        return tuple(chain.from_iterable(tenant.spaces for tenant in self.tenants))

    @property
    def units(self) -> dict[str, Tenant]:
        """The teams by their sync units."""
        return {tenant.unit: tenant for tenant in self.tenants}

    @property
    def mpi_spaces(self) -> tuple[Space, ...]:
        """Namespaces whose users may create MPIJobs for a time."""
        return tuple(space for space in self.spaces if space.mpi_jobs)

    @property
    def frameworks(self) -> tuple[str, ...]:
        """Job kinds that Kueue queues: those of the profile, and MPIJob while a team has them."""
        mpi = {"MPIJob"} if self.mpi_spaces else set()
        return tuple(sorted({*self.cluster.frameworks, *mpi}))

    def part(self, part: str) -> str:
        """Return the name of the AppProject and Application of a part of this cluster."""
        return names.application(self.name, part)

    def folder(self, part: str) -> str:
        """Return a part's folder in the repository."""
        return f"{self.cluster.settings.path}/{self.name}/{part}"


@dataclass(frozen=True, slots=True)
class Lost:
    """Gaps of a platform: profiles that can't be used, and names that refer to nothing.

    Args:
        teams: those whose whole profile is left out.
        of_teams: (team, key of its profile) for each key with a name behind which nothing is known.
        gaps: (what is not known, the only cluster that this concerns; empty when it may concern
            any): a key of a team's or cluster's profile, or the file that is left out:
            ``allocations.yaml``, ``trainyard.yaml``, one of ``runtimes/`` or ``teams/``.
    """

    teams: frozenset[str] = frozenset()
    of_teams: frozenset[tuple[str, str]] = frozenset()
    gaps: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Platform:
    """The content of all profiles, complete and sorted.

    Args:
        teams: all of them, tombstones included.
        runtimes: all of them.
        allocations: (cluster, fabric, team) -> what it holds.
        ids: cluster -> the user ids of its namespaces, sorted, those that are gone included.
        components: all of them, those that no team lists included.
        retired: names of the clusters that are given up; none is a site.
        lost: nothing, unless there are errors; then the platform must not be rendered.
    """

    settings: Settings
    sites: tuple[Site, ...]
    teams: tuple[Team, ...]
    runtimes: tuple[Runtime, ...]
    allocations: dict[tuple[str, str, str], Allocation]
    ids: dict[str, tuple[Ids, ...]]
    allocations_at: Pointer
    components: tuple[Component, ...]
    placeholders: tuple[tuple[Pointer, object], ...] = ()
    retired: tuple[str, ...] = ()
    lost: Lost = Lost()

    @property
    def clusters(self) -> frozenset[str]:
        """Names of all clusters, the retired ones included."""
        return frozenset((*by_name(self.sites), *self.retired))

    def holdings(self, site: Site) -> Iterator[Holding]:
        """Yield the ledger's numbers on a cluster's fabrics, of teams without a profile too."""
        fabrics = by_name(site.cluster.rail_fabrics)
        for (cluster, fabric, team), held in sorted(self.allocations.items()):
            if cluster == site.name:
                yield Holding(
                    fabric,
                    team,
                    fabrics[fabric].link.field,
                    held.segment,
                    held.addresses,
                    held.since,
                )
