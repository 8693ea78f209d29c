"""Validation of the shape of every profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.rules.shape.no_settings import RULE as NO_SETTINGS
from trainyard.schema.profiles import profile_schema
from trainyard.schema.releases import check_releases
from trainyard.schema.shape import check_shape
from trainyard.yaml_io.source import NOTHING, Profiles, Source


def check_profiles(
    profiles: Profiles, known: Mapping[str, Source] = NOTHING
) -> Iterator[Diagnostic]:
    """Yield all faults in the shape of each profile.

    Args:
        profiles: as they were read.
        known: sources by file that are known to have none.
    """
    if not profiles.settings.content:
        yield NO_SETTINGS.at(Pointer(profiles.settings.file), "profiles/trainyard.yaml is missing")
    alone = {
        "trainyard": profiles.settings,
        "allocations": profiles.allocations,
        "waivers": profiles.waivers,
    }
    for kind, source in alone.items():
        if source.content and known.get(source.file) is not source:
            yield from check_shape(source, profile_schema(kind))
    kinds = {
        "component": profiles.components,
        "hardware": profiles.hardware,
        "cluster": profiles.clusters,
        "compliance": profiles.compliance,
        "runtime": profiles.runtimes,
        "team": profiles.teams,
    }
    for kind, sources in kinds.items():
        for _, source in sorted(sources.items()):
            if known.get(source.file) is not source:
                yield from check_shape(source, profile_schema(kind))
    # Their files are known by one of several, so they are always checked.
    yield from check_releases(profiles)
