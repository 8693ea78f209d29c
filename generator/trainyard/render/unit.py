"""Files beside the objects: kustomizations, the cluster's pages, fragments for other owners."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.model.by_hand import limits_file
from trainyard.model.manifest import UNLISTED, Manifest
from trainyard.model.platform import Site
from trainyard.render.daemons import daemons
from trainyard.render.evidence import evidence, outside
from trainyard.render.folder import templates_folder
from trainyard.render.markdown import Markdown, page
from trainyard.render.site import kinds_of
from trainyard.render.templates import template
from trainyard.render.views.cluster import ClusterView

HEALTH_CHECKS = ("argocd/health-customizations", "argocd/resource-health-checks")
"""The same checks for argocd-cm, and for the object that an operator makes it from."""

ROUTES = "monitoring/alertmanager-routes"
"""Which alerts go to which team's contact."""

STATES = "monitoring/job-states"
"""What kube-state-metrics shows of jobs, and of what sets up nodes."""


def kustomizations(
    site: Site, manifests: tuple[Manifest, ...], components_root: str
) -> Mapping[str, dict[str, Any]]:
    """Return the body of each unit's ``kustomization.yaml``, by folder.

    Args:
        site: the cluster with its teams.
        manifests: its objects.
        components_root: path of the components' folder relative to the tree's, e.g.
            ``../profiles/components``.
    """
    listed = defaultdict(list)
    for manifest in manifests:
        if manifest.unit not in UNLISTED:
            listed[manifest.unit].append(manifest.path.rpartition("/")[2])
    tenants = site.units
    bodies: dict[str, dict[str, Any]] = {}
    for folder, resources in sorted(listed.items()):
        bodies[folder] = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": sorted(resources),
        }
        tenant = tenants.get(folder)
        if tenant and tenant.components:
            # Past the unit's own folders and the cluster's.
            root = f"{'../' * (folder.count('/') + 2)}{components_root}"
            components = [f"{root}/{component.name}" for component in tenant.components]
            bodies[folder]["components"] = components
    return bodies


@dataclass(frozen=True, slots=True)
class Health:
    """Health checks of kinds that Argo CD has none for, in Lua."""

    scripts: Mapping[tuple[str, str], str]

    @property
    def checks(self) -> list[dict[str, str]]:
        """As ``spec.resourceHealthChecks`` of an ArgoCD object."""
        return [
            {"group": group, "kind": kind, "check": script}
            for (group, kind), script in self.scripts.items()
        ]

    @property
    def customizations(self) -> dict[str, str]:
        """As ``data`` of argocd-cm."""
        return {
            f"resource.customizations.health.{f'{group}_' if group else ''}{kind}": script
            for (group, kind), script in self.scripts.items()
        }


def health_checks(site: Site) -> tuple[str, dict[str, Any]]:
    """Return the name and body of the fragment with health checks for this site's Argo CD.

    It has a check for each kind that a unit of the cluster may hold, and for no other.
    """
    held = {(kind.group, kind.name) for kind in kinds_of(site.cluster)}
    scripts = {}
    for path in sorted((templates_folder() / "argocd" / "health").glob("*.lua")):
        group, _, kind = path.stem.rpartition("_")
        if (group, kind) in held:
            scripts[group, kind] = path.read_text(encoding="utf-8")
    name = HEALTH_CHECKS["argocd-object" in site.cluster.release.features]
    body: dict[str, Any] = template(name)({"health": Health(scripts)})
    return name, body


def alert_routes(site: Site) -> dict[str, Any]:
    """Return a piece of Alertmanager's configuration by its name; none where nobody is alerted."""
    if not site.cluster.monitoring or not site.tenants:
        return {}
    return {ROUTES: template(ROUTES)({"site": site})}


def job_states(site: Site) -> dict[str, Any]:
    """Return the configuration of kube-state-metrics by its name; none where nobody takes it."""
    if not ClusterView(site.cluster).has_job_states:
        return {}
    return {STATES: template(STATES)({"cluster": site.cluster})}


def node_limits(site: Site) -> dict[str, str]:
    """Return text files for nodes with rails, by path; none if objects or nobody set them."""
    if "node-files" not in site.cluster.features:
        return {}
    text = (templates_folder() / "node-files" / "memlock.conf").read_text(encoding="utf-8")
    return {limits_file(pool): text for pool in site.cluster.pools if pool.fabric}


def readme(site: Site) -> str:
    """Return the cluster's README: prerequisites, steps by hand, and what Argo CD does."""
    prerequisites = Markdown(page("prerequisites.md.j2").render(site=site, cluster=site.cluster))
    return page("cluster.md.j2").render(
        site=site,
        cluster=site.cluster,
        prerequisites=prerequisites,
        daemons=tuple(daemons(site.cluster)),
    )


def evidence_page(site: Site, manifests: tuple[Manifest, ...]) -> dict[str, str]:
    """Return the page from control to object by path; none where no team is under a regulation."""
    sections = evidence(site, manifests)
    text = page("compliance.md.j2").render(site=site, evidence=sections, outside=outside(site))
    return {"COMPLIANCE.md": text} if sections else {}


def units(manifests: tuple[Manifest, ...]) -> Iterator[str]:
    """Yield the folders that Argo CD syncs, in order."""
    yield from sorted({manifest.unit for manifest in manifests} - UNLISTED)
