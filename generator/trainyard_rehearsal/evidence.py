"""Write into a release of the repository that its controllers were run together."""

from __future__ import annotations

from trainyard.diagnostics import TreeError
from trainyard.model.release import Release
from trainyard.profiles.read import load
from trainyard.profiles.releases import RELEASE, UnusableError, digest_of, read_folder
from trainyard.scaffold.edit import with_value
from trainyard.scaffold.install import overwrite
from trainyard_rehearsal.tasks import Origin, Rehearsal

_REHEARSED = "rehearsed"
_SETTINGS = "trainyard.yaml"


def proven(rehearsal: Rehearsal) -> list[Release]:
    """Return the releases of the repository that were tried and do not say so yet, if all held."""
    platform = rehearsal.generation.checked.platform
    if platform is None or not rehearsal.fine:
        return []
    tried = (site.cluster.release for site in platform.sites if site.name in rehearsal.outcomes)
    unsaid = {release.name: release for release in tried if _is_unsaid(release)}
    return [release for _, release in sorted(unsaid.items())]


def _is_unsaid(release: Release) -> bool:
    return bool(release.digest) and release.tested != _REHEARSED


def write_evidence(source: Origin, release: Release) -> None:
    """State in a release's file that it was rehearsed and on which day, and its new digest.

    Raises:
        TreeError: its folder changed since the rehearsal began, or a file can't be written.
    """
    root, name = source.root, release.name
    profiles, _ = load(root)
    try:
        files = read_folder(root, name)
    except UnusableError as problem:
        raise TreeError(f"release {name}: {problem}") from problem
    if digest_of(files) != release.digest:
        raise TreeError(f"release {name} changed while it was rehearsed; rehearse it again")
    stated = with_value(profiles.own_releases[name], ("tested",), _REHEARSED)
    stated = with_value(stated, ("date",), source.today)
    settings = profiles.settings
    digest = digest_of({**files, RELEASE: stated.content})
    sealed = with_value(settings, ("releases", name), digest)
    edits = {
        f"releases/{name}/{RELEASE}": (files[RELEASE], stated.content),
        _SETTINGS: (settings.content, sealed.content),
    }
    overwrite(root, edits)
