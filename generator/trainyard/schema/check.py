"""Validation of the shape of every profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.schema import faults
from trainyard.schema.profiles import profile_schema
from trainyard.schema.shape import check_shape
from trainyard.yaml_io.source import NOTHING, Profiles, Source

NO_SETTINGS = Rule(
    id="shape/no-settings",
    severity=Severity.ERROR,
    summary="The file profiles/trainyard.yaml exists.",
    why="Nothing is generated: labels have no prefix, and Argo CD has no repository.",
    fix="Run `trainyard init`, or write the file with `format`, `domain` and `repository`.",
)
RULES = (NO_SETTINGS, *faults.RULES)


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
