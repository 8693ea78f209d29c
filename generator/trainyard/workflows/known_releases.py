"""Look up a release by its name."""

from __future__ import annotations

from trainyard.model.release import Release
from trainyard.resolve.platform import known_releases
from trainyard.yaml_io.source import Profiles


def release_of(profiles: Profiles, name: str) -> Release:
    """Return a release that can be used.

    Raises:
        ValueError: there is none of this name.
    """
    releases = known_releases(profiles)
    release = releases.known.get(name)
    if release is None:
        other = releases.other(name)
        reason = f": {other.reason}" if other else ""
        named = ", ".join(sorted(name for name, each in releases.known.items() if each))
        raise ValueError(f"there is no release `{name}`{reason}; there is: {named}")
    return release
