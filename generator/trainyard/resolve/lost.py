"""Derive from the findings what is not known of a platform."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainyard.diagnostics import Diagnostic
from trainyard.model.platform import Lost
from trainyard.resolve.findings import Finding
from trainyard.yaml_io.source import Profiles, Source


def lost(profiles: Profiles, findings: Sequence[Finding]) -> Lost:
    """Return what the platform lacks.

    Args:
        profiles: those that are left out have no value.
        findings: of all resolvers.
    """
    left_out = frozenset(name for name, source in profiles.teams.items() if source.value is None)
    of_teams = {*_of_teams(profiles, findings), *_through_runtimes(profiles, findings)}
    return Lost(left_out, frozenset(of_teams), frozenset(_gaps(profiles, findings)))


def _of_teams(profiles: Profiles, findings: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    teams = _by_file(profiles.teams)
    for finding in findings:
        if finding.at.file in teams:
            yield teams[finding.at.file], str(finding.at.path[0])


def _through_runtimes(profiles: Profiles, findings: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    """Yield the teams that list a runtime with unknown hardware: it may run on more nodes."""
    runtimes = _by_file(profiles.runtimes)
    partial = set()
    for finding in findings:
        if finding.at.file in runtimes and finding.at.path[0] == "hardware":
            partial.add(runtimes[finding.at.file])
    for team, source in profiles.teams.items():
        if source.value is not None and partial.intersection(source.value["runtimes"]):
            yield team, "runtimes"


def _gaps(profiles: Profiles, findings: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    clusters, teams = _by_file(profiles.clusters), _by_file(profiles.teams)
    for finding in findings:
        file, path = finding.at.file, list(map(str, finding.at.path))
        if file in clusters:
            yield path[0], clusters[file]
        elif file in teams and isinstance(finding, Diagnostic):
            # A name of a profile that is left out means that profile. A wrong name may mean any.
            yield path[0], _cluster_of_quota(path, profiles)
        elif file == profiles.allocations.file:
            yield "allocations.yaml", ""
    for file in _left_out(profiles):
        yield file, ""


def _cluster_of_quota(path: Sequence[str], profiles: Profiles) -> str:
    """Return the cluster that a place in a team's profile is about; empty when it may be any."""
    key, *inside = path
    return inside[0] if key == "quota" and inside[0] in profiles.clusters else ""


def _left_out(profiles: Profiles) -> Iterator[str]:
    """Yield the files and folders that have a profile without a value."""
    files = {
        "allocations.yaml": [profiles.allocations],
        "trainyard.yaml": [profiles.settings],
        "runtimes/": profiles.runtimes.values(),
        "teams/": profiles.teams.values(),
    }
    for file, sources in files.items():
        if any(source.value is None for source in sources):
            yield file


def _by_file(sources: Mapping[str, Source]) -> dict[str, str]:
    return {source.file: name for name, source in sources.items()}
