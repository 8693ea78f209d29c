"""The platforms of this repository on each release."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from trainyard.model.platform import Platform
from trainyard.profiles.read import load, releases
from trainyard.resolve.platform import resolve
from trainyard.schema.defaults import filled
from trainyard.yaml_io.source import Profiles, Source

ROOT = Path("profiles")
ROOTS = (ROOT, *sorted(Path("examples").glob("*/profiles")))


_RELEASE = re.compile(r"^release: (\S+)$", re.MULTILINE)


def uncommitted() -> list[str]:
    """Return the releases that no committed cluster names, of this repository or an example."""
    named = {
        source.value["release"] for root in ROOTS for source in load(root)[0].clusters.values()
    }
    return sorted(releases().keys() - named)


def copy_on(release: str, folder: Path) -> str:
    """Write this repository's profiles into a folder, and return its cluster on a release."""
    shutil.copytree(ROOT, folder / ROOT.name)
    changed = []
    for path in (folder / ROOT.name / "clusters").glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        (stated,) = _RELEASE.findall(text)
        if is_openshift(stated) == is_openshift(release):
            path.write_text(_RELEASE.sub(f"release: {release}", text), encoding="utf-8")
            changed.append(path.stem)
    (name,) = changed
    return name


@cache
def platforms() -> list[Platform]:
    """Return the platforms of this repository and of each example, as they are and on releases.

    Each release that no committed cluster names has this repository's, on it.
    """
    committed = [load(root)[0] for root in ROOTS]
    others = [on(committed[0], release) for release in uncommitted()]
    return [resolve(filled(profiles))[0] for profiles in (*committed, *others)]


def on(profiles: Profiles, release: str) -> Profiles:
    """Return profiles whose clusters of a release's kind have that release."""
    return replace(profiles, clusters=dict(_clusters(profiles.clusters, release)))


def _clusters(clusters: Mapping[str, Source], release: str) -> Iterator[tuple[str, Source]]:
    for name, source in clusters.items():
        value = source.value
        if is_openshift(value["release"]) == is_openshift(release):
            value = {**value, "release": release}
        yield name, replace(source, value=value)


def is_openshift(release: str) -> bool:
    """Return whether a cluster of OpenShift can take a release."""
    return "openshift" in releases()[release].value["versions"]
