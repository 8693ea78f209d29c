"""What stands beside the objects: kustomizations, the cluster's README, the fragment for the owner of Argo CD."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

from generator.model.manifest import Manifest
from generator.model.platform import Site
from generator.render.site import template, templates_folder

HEALTH_CHECKS = "argocd/resource-health-checks"
_UNLISTED = frozenset({"samples"})


def kustomizations(site: Site, manifests: tuple[Manifest, ...], components_root: str) -> Mapping[str, dict[str, Any]]:
    """Return the body of each unit's ``kustomization.yaml``, by folder.

    Args:
        site: the cluster with its teams.
        manifests: its objects.
        components_root: path of the components' folder relative to the tree's, e.g. ``../profiles/components``.
    """
    listed: dict[str, list[str]] = {}
    for manifest in manifests:
        if manifest.unit not in _UNLISTED:
            listed.setdefault(manifest.unit, []).append(manifest.path.rpartition("/")[2])
    components = {f"teams/{tenant.name}": [each.name for each in tenant.components] for tenant in site.tenants}
    return {
        folder: _kustomization(
            resources, [f"{_up(folder)}{components_root}/{name}" for name in components.get(folder, ())]
        )
        for folder, resources in sorted(listed.items())
    }


def _up(folder: str) -> str:
    """Return the way from a unit to the tree: past the unit's own folders and the cluster's."""
    return "../" * (folder.count("/") + 2)


def _kustomization(resources: list[str], components: list[str]) -> dict[str, Any]:
    body: dict[str, Any] = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": sorted(resources),
    }
    if components:
        body["components"] = components
    return body


def health_checks(site: Site) -> dict[str, Any]:
    """Return the fragment with health checks, in the form of this site's Argo CD installation."""
    body: dict[str, Any] = template(HEALTH_CHECKS)({"cluster": site.cluster})
    return body


def readme(site: Site) -> str:
    """Return the cluster's README: what must be there, what is done once by hand, what Argo CD does then."""
    return _markdown("cluster.md.j2").render(site=site, cluster=site.cluster)


@cache
def _markdown(name: str) -> Template:
    environment = Environment(  # noqa: S701 - Markdown, shown as text
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    return environment.from_string((templates_folder() / name).read_text(encoding="utf-8"))


def units(manifests: tuple[Manifest, ...]) -> Iterator[str]:
    """Yield the folders that Argo CD syncs, in order."""
    yield from sorted({manifest.unit for manifest in manifests} - _UNLISTED)
