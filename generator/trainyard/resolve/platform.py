"""Sources to Platform: the whole of this stage in order. Sources without a value are left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.cluster import Cluster, Settings
from trainyard.model.compliance import Compliance
from trainyard.model.component import Component
from trainyard.model.fabric import Fabric
from trainyard.model.ids import UIDS, Ids, read_ids
from trainyard.model.link import LINKS
from trainyard.model.platform import Platform, Site
from trainyard.model.pool import Pool
from trainyard.model.runtime import Runtime
from trainyard.model.team import Allocation, Team
from trainyard.resolve.cluster import resolve_cluster
from trainyard.resolve.hardware import resolve_hardware
from trainyard.resolve.lost import lost
from trainyard.resolve.references import ALLOCATION_OF_ANOTHER_LINK, Found, find, network
from trainyard.resolve.release import resolve_release
from trainyard.resolve.runtime import resolve_runtime
from trainyard.resolve.team import Pools, resolve_team
from trainyard.resolve.tenant import resolve_tenant
from trainyard.yaml_io.source import Profiles, Source


@dataclass(frozen=True, slots=True)
class _Known:
    pools: Pools
    runtimes: Mapping[str, Runtime | None]
    allocations: Mapping[tuple[str, str, str], Allocation]
    ids: Mapping[str, tuple[Ids, ...]]
    components: Mapping[str, Component | None]
    regulations: Mapping[str, Compliance | None]


def resolve(profiles: Profiles) -> tuple[Platform, tuple[Diagnostic, ...]]:
    """Return everything that the profiles say, and the names in them that lead nowhere.

    Profiles whose value is ``None`` are left out, and names of them are not reported. With errors
    among the diagnostics, or something left out, the platform lacks what could not be resolved and
    must not be rendered.
    """
    found = Found()
    settings = _settings(profiles)
    hardware = resolve_hardware(profiles, settings.domain, found)
    releases = {
        name: resolve_release(name, source) for name, source in sorted(profiles.releases.items())
    }
    read: dict[str, Cluster | None] = dict.fromkeys(sorted(profiles.clusters))
    for name, source in _usable(profiles.clusters):
        read[name] = resolve_cluster(name, source, settings, (hardware, releases), found)
    clusters = {name: cluster for name, cluster in read.items() if cluster is not None}
    runtimes: dict[str, Runtime | None] = dict.fromkeys(sorted(profiles.runtimes))
    for name, source in _usable(profiles.runtimes):
        runtimes[name] = resolve_runtime(name, source, hardware, found)
    allocations = _allocations(profiles, clusters, found)
    pools = {name: _pools(profiles.clusters[name], cluster) for name, cluster in read.items()}
    known = _Known(
        pools, runtimes, allocations, _ids(profiles), _components(profiles), _regulations(profiles)
    )
    teams = tuple(_teams(profiles, known, found))
    sites = tuple(_site(cluster, teams, known, (profiles, found)) for cluster in clusters.values())
    platform = Platform(
        settings=settings,
        sites=sites,
        teams=teams,
        runtimes=tuple(runtime for runtime in runtimes.values() if runtime),
        allocations=dict(known.allocations),
        ids=dict(known.ids),
        allocations_at=Pointer(profiles.allocations.file),
        components=tuple(component for component in known.components.values() if component),
        lost=lost(profiles, found),
    )
    # What a team says once is looked up on each of its clusters, in each of its namespaces.
    return platform, tuple(dict.fromkeys(found.diagnostics))


def _usable(sources: Mapping[str, Source]) -> list[tuple[str, Source]]:
    return sorted((name, source) for name, source in sources.items() if source.value is not None)


def _settings(profiles: Profiles) -> Settings:
    """Return the settings; when they are left out, values that no rule objects to."""
    fields = profiles.settings.value or {
        "domain": "unknown.invalid",
        "repository": "https://unknown.invalid",
    }
    return Settings(
        at=Pointer(profiles.settings.file),
        domain=fields["domain"],
        repository=fields["repository"],
        branch=fields.get("branch", "main"),
        path=fields.get("path", "overlays").rstrip("/"),
    )


def _allocations(
    profiles: Profiles, clusters: Mapping[str, Cluster], found: Found
) -> dict[tuple[str, str, str], Allocation]:
    allocations = {}
    root = Pointer(profiles.allocations.file)
    for cluster, entries in sorted((profiles.allocations.value or {}).items()):
        # What a cluster that is gone has given stays taken, so its section may stay.
        known = (
            {each.name: each for each in clusters[cluster].fabrics} if cluster in clusters else {}
        )
        fabrics = {name: teams for name, teams in entries.items() if name != UIDS}
        for fabric, teams in sorted(fabrics.items()):
            find(
                "fabric",
                fabric,
                known if cluster in clusters else fabrics,
                (root / cluster / fabric).key(),
                found,
            )
            for team, held in sorted(teams.items()):
                at = root / cluster / fabric / team
                addresses = network(held["addresses"], at / "addresses", found)
                fits = fabric not in known or _of_its_link(held, known[fabric], at, found)
                if addresses is not None and fits:
                    since = held.get("since", "")
                    allocations[cluster, fabric, team] = Allocation(
                        at, _segment(held), addresses, since
                    )
    return allocations


def _ids(profiles: Profiles) -> dict[str, tuple[Ids, ...]]:
    """Return what the ledger says of namespaces' user ids, by cluster."""
    root = Pointer(profiles.allocations.file)
    return {
        cluster: tuple(
            read_ids(namespace, line, at=root / cluster / UIDS / namespace)
            for namespace, line in sorted(fabrics.get(UIDS, {}).items())
        )
        for cluster, fabrics in sorted((profiles.allocations.value or {}).items())
    }


def _of_its_link(held: Mapping[str, Any], fabric: Fabric, at: Pointer, found: Found) -> bool:
    """Tell whether a team holds what separates teams on a fabric, or report what it holds instead."""
    link = fabric.link
    others = [each for each in LINKS.values() if each is not link and each.field in held]
    wrong = others or [link] * (link.field not in held)
    for other in wrong:
        what = f"no {link.segment}" if other is link else f"{other.segment} {held[other.field]}"
        message = (
            f"team {at.path[-1]} holds {what} on fabric `{fabric.name}`, whose teams hold "
            f"{link.segment}s"
        )
        found.report(
            ALLOCATION_OF_ANOTHER_LINK.at(
                at if other is link else (at / other.field).key(), message
            )
        )
    return not wrong


def _segment(held: Mapping[str, Any]) -> int:
    """Return the one segment of an allocation; a fabric that is gone does not say which that is."""
    said = next((held[link.field] for link in LINKS.values() if link.field in held), 0)
    return int(str(said), 0)


def _pools(source: Source, cluster: Cluster | None) -> dict[str, Pool | None] | None:
    if cluster is None:
        return None
    return {**dict.fromkeys(source.value["pools"]), **{pool.name: pool for pool in cluster.pools}}


def _regulations(profiles: Profiles) -> dict[str, Compliance | None]:
    usable = {
        name: Compliance(
            name, Pointer(source.file), source.value["title"], source.value["controls"]
        )
        for name, source in _usable(profiles.compliance)
    }
    return {**dict.fromkeys(profiles.compliance), **usable}


def _components(profiles: Profiles) -> dict[str, Component | None]:
    usable = {
        name: Component(name, Pointer(source.file), profiles.component_objects[name])
        for name, source in _usable(profiles.components)
    }
    return {**dict.fromkeys(profiles.components), **usable}


def _teams(profiles: Profiles, known: _Known, found: Found) -> list[Team]:
    teams = []
    for name, source in _usable(profiles.teams):
        team = resolve_team(name, source, (known.pools, known.runtimes, known.regulations), found)
        for i, component in enumerate(source.value.get("components", ())):
            find("component", component, known.components, team.at / "components" / i, found)
        teams.append(team)
    return teams


def _site(
    cluster: Cluster, teams: tuple[Team, ...], known: _Known, context: tuple[Profiles, Found]
) -> Site:
    profiles, found = context
    here = (
        team
        for team in teams
        if team.state != "retired" and any(q.cluster == cluster.name for q in team.quotas)
    )
    ids = {each.namespace: each for each in known.ids.get(cluster.name, ())}
    known_here = (known.runtimes, known.allocations, ids, known.components)
    tenants = tuple(
        resolve_tenant(team, cluster, profiles.teams[team.name], known_here, found) for team in here
    )
    launches = {
        launch.name: launch
        for tenant in tenants
        for space in tenant.spaces
        for launch in space.launches
    }
    return Site(cluster, tuple(launch for _, launch in sorted(launches.items())), tenants)
