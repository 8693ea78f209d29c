"""The whole platform: every cluster with the teams on it. What `resolve` returns and everything later reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.cluster import Cluster, Settings, group_subjects
from trainyard.model.component import Component
from trainyard.model.holding import Holding
from trainyard.model.ids import Ids
from trainyard.model.launch import Launch
from trainyard.model.runtime import Runtime
from trainyard.model.space import MOST_JOBS, Binding
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
    def bindings(self) -> tuple[Binding, ...]:
        """Who has a role in the whole cluster: everybody in some team reads the catalog, two kinds of groups more."""
        everybody = {
            tuple(subject.items()): subject
            for tenant in self.tenants
            for subject in tenant.everybody
        }
        subjects = {
            "auditor": group_subjects(self.cluster.auditors),
            "catalog-viewer": sorted(
                everybody.values(), key=lambda subject: sorted(subject.items())
            ),
            "operator": group_subjects(self.cluster.operators),
        }
        return tuple(
            Binding(role, f"trainyard-{role}", who) for role, who in subjects.items() if who
        )

    @property
    def admitted_namespaces(self) -> str:
        """Namespaces whose limits are in this tree, as the admission policy splits them."""
        return " ".join(space.namespace for tenant in self.tenants for space in tenant.spaces)

    @property
    def most_jobs(self) -> int:
        """TrainJobs that a namespace may hold, finished ones included."""
        return MOST_JOBS

    @property
    def has_samples(self) -> bool:
        """Whether some team can copy a job."""
        return any(space.samples for tenant in self.tenants for space in tenant.spaces)

    @property
    def audited_namespaces(self) -> list[str]:
        """Namespaces of teams whose regulation asks for an audit, and our own, which holds their limits."""
        audited = [
            space.namespace
            for tenant in self.tenants
            for space in tenant.spaces
            if tenant.team.compliance and tenant.team.compliance.asks("audit")
        ]
        return [*audited, self.cluster.system_namespace] if audited else []

    @property
    def nfs_folders(self) -> dict[str, list[str]]:
        """Namespaces by the NFS folder, as ``server:path``, that the volumes of this tree mount in them."""
        folders: dict[str, list[str]] = {}
        for claim in (claim for tenant in self.tenants for claim in tenant.made_volumes):
            folders.setdefault(f"{claim.storage.server}:{claim.path}", []).append(claim.namespace)
        return dict(sorted(folders.items()))

    @property
    def has_job_folders_on_nfs(self) -> bool:
        """Whether a runtime's steps write to NFS, where kubelet makes a folder for each job, as root."""
        folders = {each.name for each in self.cluster.storage if each.kind == "nfs"}
        return any(launch.volume in folders for launch in self.launches)

    def part(self, part: str) -> str:
        """Return the name of the AppProject and Application of a part of this cluster."""
        return names.application(self.name, part)

    def folder(self, part: str) -> str:
        """Return a part's folder in the repository."""
        return f"{self.cluster.settings.path}/{self.name}/{part}"


@dataclass(frozen=True, slots=True)
class Lost:
    """What is not known of a platform, because a profile can't be used or a name leads nowhere.

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
    """Everything the profiles say, complete and sorted.

    Args:
        teams: all of them, tombstones included.
        runtimes: all of them.
        allocations: (cluster, fabric, team) -> what it holds.
        ids: cluster -> the user ids of its namespaces, sorted, those that are gone included.
        components: all of them, those that no team lists included.
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
    lost: Lost = Lost()

    def holdings(self, site: Site) -> Iterator[Holding]:
        """Yield what the ledger gives on the fabrics of a cluster, to teams without a profile too."""
        links = {fabric.name: fabric.link for fabric in site.cluster.fabrics}
        for (cluster, fabric, team), held in sorted(self.allocations.items()):
            if cluster == site.name:
                yield Holding(
                    fabric, team, links[fabric].field, held.segment, held.addresses, held.since
                )
