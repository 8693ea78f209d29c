"""What is not known of a platform, told by the places that lead nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.model.platform import Lost
from trainyard.resolve.references import Found
from trainyard.yaml_io.source import Profiles, Source


def lost(profiles: Profiles, found: Found) -> Lost:
    """Return what the platform lacks.

    Args:
        profiles: those that are left out have no value.
        found: what all resolvers found.
    """
    left_out = frozenset(name for name, source in profiles.teams.items() if source.value is None)
    of_teams = {*_of_teams(profiles, found), *_through_runtimes(profiles, found)}
    return Lost(left_out, frozenset(of_teams), frozenset(_gaps(profiles, found)))


def _of_teams(profiles: Profiles, found: Found) -> Iterator[tuple[str, str]]:
    teams = _by_file(profiles.teams)
    yield from ((teams[at.file], str(at.path[0])) for at in found.lost if at.file in teams)


def _through_runtimes(profiles: Profiles, found: Found) -> Iterator[tuple[str, str]]:
    """Yield the teams that list a runtime with hardware that there is not: where else it runs is not known."""
    runtimes = _by_file(profiles.runtimes)
    partial = {
        runtimes[at.file] for at in found.lost if at.file in runtimes and at.path[0] == "hardware"
    }
    for team, source in profiles.teams.items():
        if source.value is not None and partial.intersection(source.value["runtimes"]):
            yield team, "runtimes"


def _gaps(profiles: Profiles, found: Found) -> Iterator[tuple[str, str]]:
    clusters, teams = _by_file(profiles.clusters), _by_file(profiles.teams)
    reported = {each.at for each in found.diagnostics}
    for at in found.lost:
        if at.file in clusters:
            yield str(at.path[0]), clusters[at.file]
        elif at.file in teams and at in reported:
            # A name of a profile that is left out means that one, whereas a wrong name may mean
            # any.
            key, *inside = map(str, at.path)
            yield key, inside[0] if key == "quota" and inside[0] in profiles.clusters else ""
        elif at.file == profiles.allocations.file:
            yield "allocations.yaml", ""
    files = {
        "allocations.yaml": [profiles.allocations],
        "trainyard.yaml": [profiles.settings],
        "runtimes/": profiles.runtimes.values(),
        "teams/": profiles.teams.values(),
    }
    yield from (
        (kind, "")
        for kind, sources in files.items()
        if any(source.value is None for source in sources)
    )


def _by_file(sources: Mapping[str, Source]) -> dict[str, str]:
    return {source.file: name for name, source in sources.items()}
