"""Sources to Platform: the whole of this stage in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from generator.diagnostics import Diagnostic, Pointer
from generator.dialect.source import Profiles
from generator.model.cluster import Cluster, Settings
from generator.model.compliance import Compliance
from generator.model.component import Component
from generator.model.fabric import Fabric
from generator.model.link import LINKS
from generator.model.platform import Platform, Site
from generator.model.runtime import Runtime
from generator.model.team import Allocation, Team
from generator.resolve.cluster import resolve_cluster
from generator.resolve.hardware import resolve_hardware
from generator.resolve.references import ALLOCATION_OF_ANOTHER_LINK, Found, find, network
from generator.resolve.release import resolve_release
from generator.resolve.runtime import resolve_runtime
from generator.resolve.team import resolve_team
from generator.resolve.tenant import resolve_tenant


@dataclass(frozen=True, slots=True)
class _Known:
    clusters: Mapping[str, Cluster | None]
    runtimes: Mapping[str, Runtime]
    allocations: Mapping[tuple[str, str, str], Allocation]
    components: Mapping[str, Component]
    regulations: Mapping[str, Compliance]


def resolve(profiles: Profiles) -> tuple[Platform, tuple[Diagnostic, ...]]:
    """Return everything that the profiles say, and the names in them that lead nowhere.

    With errors among the diagnostics the platform lacks what could not be resolved and must not be rendered.
    """
    found: Found = []
    settings = _settings(profiles)
    hardware = resolve_hardware(profiles, found)
    releases = {name: resolve_release(name, source) for name, source in sorted(profiles.releases.items())}
    read = {
        name: resolve_cluster(name, source, settings, (hardware, releases), found)
        for name, source in sorted(profiles.clusters.items())
    }
    clusters = {name: cluster for name, cluster in read.items() if cluster is not None}
    runtimes = {
        name: resolve_runtime(name, source, hardware, found) for name, source in sorted(profiles.runtimes.items())
    }
    regulations = {
        name: Compliance(name, Pointer(source.file), source.value["title"], source.value["controls"])
        for name, source in sorted(profiles.compliance.items())
    }
    allocations = _allocations(profiles, clusters, found)
    known = _Known(read, runtimes, allocations, _components(profiles), regulations)
    teams = tuple(_teams(profiles, known, found))
    platform = Platform(
        settings=settings,
        sites=tuple(_site(cluster, teams, known, (profiles, found)) for cluster in clusters.values()),
        teams=teams,
        runtimes=tuple(runtimes.values()),
        allocations=dict(known.allocations),
        allocations_at=Pointer(profiles.allocations.file),
        components=tuple(known.components.values()),
    )
    return platform, tuple(found)


def _settings(profiles: Profiles) -> Settings:
    fields = profiles.settings.value
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
    for cluster, fabrics in sorted((profiles.allocations.value or {}).items()):
        # What a cluster that is gone has given stays taken, so its section may stay.
        known = {each.name: each for each in clusters[cluster].fabrics} if cluster in clusters else {}
        for fabric, teams in sorted(fabrics.items()):
            find("fabric", fabric, known if cluster in clusters else fabrics, (root / cluster / fabric).key(), found)
            for team, held in sorted(teams.items()):
                at = root / cluster / fabric / team
                if fabric in known:
                    _of_its_link(held, known[fabric], at, found)
                addresses = network(held["addresses"], at / "addresses", found)
                if addresses is not None:
                    allocations[cluster, fabric, team] = Allocation(
                        at, _segment(held), addresses, held.get("since", "")
                    )
    return allocations


def _of_its_link(held: Mapping[str, Any], fabric: Fabric, at: Pointer, found: Found) -> None:
    link = fabric.link
    others = [each for each in LINKS.values() if each is not link and each.field in held]
    for other in others or [link] * (link.field not in held):
        what = f"no {link.segment}" if other is link else f"{other.segment} {held[other.field]}"
        message = f"team {at.path[-1]} holds {what} on fabric `{fabric.name}`, whose teams hold {link.segment}s"
        found.append(ALLOCATION_OF_ANOTHER_LINK.at(at if other is link else (at / other.field).key(), message))


def _segment(held: Mapping[str, Any]) -> int:
    """Return the one segment of an allocation; the wrong one for its fabric, or none, was reported."""
    said = next((held[link.field] for link in LINKS.values() if link.field in held), 0)
    return int(str(said), 0)


def _components(profiles: Profiles) -> dict[str, Component]:
    return {
        name: Component(name, Pointer(source.file), profiles.component_objects[name])
        for name, source in sorted(profiles.components.items())
    }


def _teams(profiles: Profiles, known: _Known, found: Found) -> list[Team]:
    teams = []
    for name, source in sorted(profiles.teams.items()):
        team = resolve_team(name, source, (known.clusters, known.runtimes, known.regulations), found)
        for i, component in enumerate(source.value.get("components", ())):
            find("component", component, profiles.components, team.at / "components" / i, found)
        teams.append(team)
    return teams


def _site(cluster: Cluster, teams: tuple[Team, ...], known: _Known, context: tuple[Profiles, Found]) -> Site:
    profiles, found = context
    here = (team for team in teams if team.state != "retired" and any(q.cluster == cluster.name for q in team.quotas))
    known_here = (known.runtimes, known.allocations, known.components)
    tenants = tuple(resolve_tenant(team, cluster, profiles.teams[team.name], known_here, found) for team in here)
    launches = {launch.name: launch for tenant in tenants for space in tenant.spaces for launch in space.launches}
    return Site(cluster, tuple(launch for _, launch in sorted(launches.items())), tenants)
