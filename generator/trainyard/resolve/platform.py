"""Resolve all profiles: from sources to the platform."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from itertools import chain

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.cluster import Cluster
from trainyard.model.compliance import Compliance
from trainyard.model.component import Component
from trainyard.model.hardware import Hardware
from trainyard.model.named import by_name
from trainyard.model.names import TEAM_PREFIX
from trainyard.model.other_release import Releases
from trainyard.model.platform import Platform, Site
from trainyard.model.pool import Pool
from trainyard.model.quantity import parse_days
from trainyard.model.release import Release
from trainyard.model.review import Review
from trainyard.model.runtime import Runtime
from trainyard.model.settings import Settings
from trainyard.model.state import State
from trainyard.model.team import Team
from trainyard.resolve.cluster import resolve_cluster
from trainyard.resolve.findings import Resolving, collect
from trainyard.resolve.hardware import resolve_hardware
from trainyard.resolve.ledger import resolve_allocations, resolve_ids
from trainyard.resolve.lost import lost
from trainyard.resolve.owners import resolve_owners
from trainyard.resolve.release import resolve_others, resolve_release
from trainyard.resolve.runtime import resolve_runtime
from trainyard.resolve.team import KnownToTeams, Pools, resolve_team
from trainyard.resolve.tenant import KnownHere, resolve_tenant
from trainyard.rules.release.changed_release import RULE as CHANGED_RELEASE
from trainyard.yaml_io.placeholders import placeholders
from trainyard.yaml_io.source import Profiles, Source


def resolve(profiles: Profiles) -> tuple[Platform, tuple[Diagnostic, ...]]:
    """Return the platform, and the names in the profiles that refer to nothing.

    Each field of the profiles that has a default has a value (`trainyard.schema.defaults.filled`).
    Profiles whose value is ``None`` are left out, and names of them are not reported. With errors
    among the diagnostics, or something left out, the platform lacks what could not be resolved and
    must not be rendered.
    """
    platform, findings = collect(_platform(profiles))
    # One name in a team's profile is looked up on each of its clusters, in each of its namespaces.
    reported = dict.fromkeys(finding for finding in findings if isinstance(finding, Diagnostic))
    return replace(platform, lost=lost(profiles, findings)), tuple(reported)


def _platform(profiles: Profiles) -> Resolving[Platform]:
    settings = yield from _settings(profiles)
    hardware = yield from resolve_hardware(profiles, settings.domain)
    states = _states(profiles)
    retired = tuple(name for name, state in states.items() if state.word == "retired")
    read = yield from _clusters(profiles, settings, hardware, retired)
    clusters = {name: cluster for name, cluster in read.items() if cluster is not None}
    runtimes = yield from _runtimes(profiles, hardware)
    allocations = yield from resolve_allocations(profiles, clusters)
    ids = resolve_ids(profiles)
    components = _components(profiles)
    pools = _pools(profiles, read)
    known = KnownToTeams(states, pools, runtimes, _regulations(profiles), components)
    teams = yield from _teams(profiles, known)
    sites = []
    for cluster in clusters.values():
        known_here = KnownHere(cluster, runtimes, allocations, ids, components)
        sites.append((yield from _site(profiles, teams, known_here)))
    return Platform(
        settings=settings,
        sites=tuple(sites),
        teams=teams,
        runtimes=tuple(filter(None, runtimes.values())),
        allocations=dict(allocations),
        ids=ids,
        allocations_at=Pointer(profiles.allocations.file),
        components=tuple(filter(None, components.values())),
        placeholders=tuple(chain.from_iterable(map(placeholders, profiles.own()))),
        retired=retired,
    )


def _usable(sources: Mapping[str, Source]) -> list[tuple[str, Source]]:
    return sorted((name, source) for name, source in sources.items() if source.value is not None)


def _settings(profiles: Profiles) -> Resolving[Settings]:
    """Return the settings; when they are left out, values that no rule objects to."""
    yield from _stated_releases(profiles)
    fields = profiles.settings.value or {
        "domain": "unknown.invalid",
        "repository": "https://unknown.invalid",
        "branch": "unknown",
        "path": "unknown",
        "review": {"deleted": 0},
    }
    review = fields["review"]
    return Settings(
        at=Pointer(profiles.settings.file),
        domain=fields["domain"],
        domain_at=Pointer(profiles.settings.file) / "domain",
        repository=fields["repository"],
        branch=fields["branch"],
        path=fields["path"].rstrip("/"),
        owners=(yield from resolve_owners(profiles)),
        review=Review(review["deleted"], tuple(sorted(review.get("errors", ())))),
    )


def _stated_releases(profiles: Profiles) -> Resolving[None]:
    """Yield each release of which the settings state a digest, and that has no folder."""
    at = Pointer(profiles.settings.file) / "releases"
    for name in sorted((profiles.settings.value or {}).get("releases", {})):
        if name not in profiles.own_releases:
            message = f"release {name}: there is no folder profiles/releases/{name}"
            hint = "Restore the folder; or delete the digest if no cluster names the release."
            yield CHANGED_RELEASE.at((at / name).key(), message, hint=hint)


def _states(profiles: Profiles) -> dict[str, State]:
    """Return the state of every cluster; one that is left out counts as active."""
    states = {}
    for name, source in sorted(profiles.clusters.items()):
        fields = source.value or {"state": "active"}
        states[name] = State(fields["state"], Pointer(source.file) / "state", f"cluster {name}")
    return states


def _clusters(
    profiles: Profiles,
    settings: Settings,
    hardware: Mapping[str, Hardware | None],
    retired: Collection[str],
) -> Resolving[dict[str, Cluster | None]]:
    """Return every cluster that is not retired; None for one that can't be resolved."""
    releases = known_releases(profiles)
    clusters: dict[str, Cluster | None] = dict.fromkeys(sorted(profiles.clusters.keys() - retired))
    for name in clusters:
        source = profiles.clusters[name]
        if source.value is None:
            continue
        own, usable = settings, hardware
        if domain := source.value.get("domain"):
            own = replace(settings, domain=domain, domain_at=Pointer(source.file) / "domain")
            # Their usual label begins with it.
            usable = yield from resolve_hardware(profiles, domain)
        clusters[name] = yield from resolve_cluster(name, source, own, usable, releases)
    return clusters


def known_releases(profiles: Profiles) -> Releases:
    """Return the releases, and the versions that none is for."""
    known: dict[str, Release | None] = dict.fromkeys(sorted(profiles.releases))
    for name, source in _usable(profiles.releases):
        folder = profiles.release_folders.get(name)
        known[name] = resolve_release(name, source, profiles.plurals[name], folder)
    return Releases(known, resolve_others(profiles.other_releases))


def _runtimes(
    profiles: Profiles, hardware: Mapping[str, Hardware | None]
) -> Resolving[dict[str, Runtime | None]]:
    runtimes: dict[str, Runtime | None] = dict.fromkeys(sorted(profiles.runtimes))
    for name, source in _usable(profiles.runtimes):
        runtimes[name] = yield from resolve_runtime(name, source, hardware)
    return runtimes


def _pools(profiles: Profiles, clusters: Mapping[str, Cluster | None]) -> Pools:
    """Return the node pools of each cluster, those that can't be resolved included."""
    pools: dict[str, dict[str, Pool | None] | None] = dict.fromkeys(clusters)
    for name, cluster in clusters.items():
        if cluster is not None:
            unresolved = dict.fromkeys(profiles.clusters[name].value["pools"])
            pools[name] = {**unresolved, **by_name(cluster.pools)}
    return pools


def _regulations(profiles: Profiles) -> dict[str, Compliance | None]:
    regulations: dict[str, Compliance | None] = dict.fromkeys(profiles.compliance)
    for name, source in _usable(profiles.compliance):
        fields = source.value
        keep_logs = parse_days(fields["keepLogs"]) if "keepLogs" in fields else 0
        regulations[name] = Compliance(
            name, Pointer(source.file), fields["title"], fields["controls"], keep_logs
        )
    return regulations


def _components(profiles: Profiles) -> dict[str, Component | None]:
    components: dict[str, Component | None] = dict.fromkeys(profiles.components)
    for name, source in _usable(profiles.components):
        components[name] = Component(name, Pointer(source.file), profiles.component_objects[name])
    return components


def _teams(profiles: Profiles, known: KnownToTeams) -> Resolving[tuple[Team, ...]]:
    teams = []
    for name, source in _usable(profiles.teams):
        teams.append((yield from resolve_team(name, source, known)))
    return tuple(teams)


def _named(teams: Iterable[Team]) -> tuple[str, ...]:
    """Return the namespaces of teams whose names do not begin as those of teams do."""
    spaces = chain.from_iterable(team.spaces for team in teams)
    found = {space.namespace for space in spaces}
    return tuple(sorted(name for name in found if not name.startswith(TEAM_PREFIX)))


def _site(profiles: Profiles, teams: tuple[Team, ...], known: KnownHere) -> Resolving[Site]:
    name, tenants = known.cluster.name, []
    here = [team for team in teams if team.quotas_on(name)]
    known = replace(known, cluster=replace(known.cluster, named_namespaces=_named(here)))
    for team in here:
        source, there = profiles.teams[team.name], team.state_on(name).word
        tenants.append((yield from resolve_tenant(replace(team, state=there), source, known)))
    launches = by_name(chain.from_iterable(tenant.launches for tenant in tenants))
    in_order = dict(sorted(launches.items())).values()
    return Site(known.cluster, tuple(in_order), tuple(tenants))
