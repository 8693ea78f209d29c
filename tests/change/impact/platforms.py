"""The base platform of the rules' cases, before and after a change."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.conftest import REPOSITORY
from tests.rules.cases import platform_of
from trainyard.change.objects import Sides
from trainyard.diagnostics import Pointer, has_errors
from trainyard.model.identity import Identity, identity
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.profiles.read import load
from trainyard.render.site import render_site
from trainyard.resolve.platform import resolve
from trainyard.schema.defaults import filled

CLUSTER, NLP, VISION = "clusters/prod-east.yaml", "teams/nlp.yaml", "teams/vision.yaml"
RUNTIME, LEDGER = "runtimes/openmpi-cuda.yaml", "allocations.yaml"


def sides(before: Mapping[str, Any], after: Mapping[str, Any]) -> Sides:
    """Return the only cluster of the base, after changes that are right in every name."""
    old, new = site(before), site(after)
    return Sides("prod-east", old, new, objects(old), objects(new))


def site(changes: Mapping[str, Any]) -> Site:
    """Return the only cluster of the base after some changes."""
    (found,) = platform_of(changes).sites
    return found


def objects(of: Site) -> dict[Identity, Manifest]:
    """Return what a cluster is rendered to."""
    return {identity(each): each for each in render_site(of)}


def quota(nodes: int, **more: Any) -> dict[str, Any]:
    """Return the change of a team's quota on the base's only pool."""
    return {"quota": {"prod-east": {"dgx-h100": {"nodes": nodes, **more}}}}


@cache
def own() -> tuple[tuple[Site, tuple[Manifest, ...]], ...]:
    """Return each cluster of this repository with its objects."""
    return described(REPOSITORY / "profiles")


def described(folder: Path) -> tuple[tuple[Site, tuple[Manifest, ...]], ...]:
    """Return each cluster of a folder of profiles with its objects."""
    profiles, found = load(folder)
    assert not has_errors(found), found
    platform, unresolved = resolve(filled(profiles))
    assert not has_errors(unresolved), unresolved
    return tuple((site, tuple(render_site(site))) for site in platform.sites)


def tree(*bodies: Mapping[str, Any]) -> dict[Identity, Manifest]:
    """Return objects as the tree of one unit."""
    manifests = (
        Manifest(f"teams/x/{i}.yaml", dict(body), (), Pointer("x")) for i, body in enumerate(bodies)
    )
    return {identity(each): each for each in manifests}


def two(before: dict[Identity, Manifest], after: dict[Identity, Manifest]) -> Sides:
    """Return a cluster of which only the objects are known."""
    return Sides("lab", None, None, before, after)
