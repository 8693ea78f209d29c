"""Check manifests: each object against its schema, and the names in it against the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from trainyard.diagnostics import Diagnostic, Step
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform, Site
from trainyard.model.release import Release
from trainyard.references.graph import check_references
from trainyard.rules.release.invalid_manifest import RULE as INVALID_MANIFEST
from trainyard.schema.manifests import Fault, check_manifest

_BY_HAND = "Correct the field in this file of the component."
_OURS = (
    "Trainyard makes this object, so this is a fault of Trainyard and not of the profile: report "
    "the message, the release and the profile. Until it is corrected, undo the last change of the "
    "profile."
)


def check_tree(site: Site, manifests: tuple[Manifest, ...]) -> Iterator[Diagnostic]:
    """Check every object of a site against the release's schemas, and its names against the rest.

    Args:
        site: a cluster with its teams.
        manifests: the generated objects; those of hand-written components are added.
    """
    everything = (*manifests, *component_manifests(site))
    for manifest in everything:
        yield from check_object(site, manifest)
    yield from check_references(site, everything)


def check_object(site: Site, manifest: Manifest) -> Iterator[Diagnostic]:
    """Check one object against the release's schema of its kind."""
    release = site.cluster.release
    for path, message in check_manifest(release.schemas, manifest.body, release.name):
        yield invalid(manifest, path, message)


def invalid(manifest: Manifest, path: Iterable[Step], message: str) -> Diagnostic:
    """Return the finding that an object does not fit its schema at a path."""
    hint = _BY_HAND if manifest.by_hand else _OURS
    return INVALID_MANIFEST.at(manifest.place(path), f"{manifest.display}: {message}", hint=hint)


def check_unlisted(platform: Platform) -> Iterator[Diagnostic]:
    """Check the objects of components that no team lists: a release in use must take each of them.

    No profile names the cluster that they are for. When no release takes an object, the faults that
    the first one finds are reported.
    """
    listed = set(chain.from_iterable(team.components for team in platform.teams))
    every = {site.cluster.release.name: site.cluster.release for site in platform.sites}
    releases = [release for _, release in sorted(every.items())]
    for component in platform.components:
        if component.name not in listed:
            for at, file, body in component.each():
                path = f"{component.name}/{file}"
                manifest = Manifest(path, body, (component.at.file,), at, by_hand=True)
                for fault in _faults_everywhere(releases, body):
                    yield invalid(manifest, *fault)


def _faults_everywhere(releases: Sequence[Release], body: Mapping[str, Any]) -> tuple[Fault, ...]:
    """Return the faults of an object in the first release, none if some release takes it."""
    first: tuple[Fault, ...] = ()
    for release in releases:
        faults = tuple(check_manifest(release.schemas, body, release.name))
        if not faults:
            return ()
        first = first or faults
    return first


def component_manifests(site: Site) -> Iterator[Manifest]:
    """Yield the objects that hand-written components add to the teams' units."""
    for tenant in site.tenants:
        for component in tenant.components:
            for at, file, body in component.each():
                path = f"{tenant.unit}/{component.name}/{file}"
                yield Manifest(path, body, (component.at.file,), at, by_hand=True)
