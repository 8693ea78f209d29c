"""Find ConfigMaps of components with a name that a controller uses."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.release import Release
from trainyard.rules._check import Check
from trainyard.rules._components import component_objects, distinct

RULE = Rule(
    id="delivery/name-of-a-controller",
    severity=Severity.ERROR,
    summary="A component's ConfigMap has no name that a controller uses for its own ConfigMaps.",
    why="""
        The sync unit is not synced, because admission refuses `<job>-runtime-snapshot`, from which
        Trainer builds pods: `are Trainer's alone` (seen with Argo CD 3.5.7). The other names are of
        ConfigMaps that a controller writes too: it and Argo CD overwrite each other's data.
    """,
    fix="Give the ConfigMap another `metadata.name`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    yield from distinct(_findings(platform))


def _findings(platform: Platform) -> Iterator[Diagnostic]:
    for each in component_objects(platform, "ConfigMap"):
        for pattern, owner in _owners(each.site.cluster.release).items():
            if each.served and fnmatchcase(each.body["metadata"]["name"], pattern):
                message = f"{each.display} has a name that only {owner} may use"
                yield RULE.at(each.at / "metadata" / "name", message)


def _owners(release: Release) -> dict[str, str]:
    """Return the controllers that create a ConfigMap, by a pattern of its name."""
    jobs = {f"*{ending}": "Trainer" for ending in release.reserved_config_maps}
    return jobs | dict(release.controller_config_maps)


CHECK = Check(RULE, find)
