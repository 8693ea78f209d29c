"""From the controls of a regulation to the objects that answer them.

Each sentence follows from what is there: an object of the tree, or a line of a profile that the
sentence names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainyard.model.compliance import Compliance
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.tenant import Tenant
from trainyard.render.measures import MEASURES, OUTSIDE, SiteObjects


@dataclass(frozen=True, slots=True)
class Row:
    """A control, and what answers it.

    Args:
        how: Markdown, in which texts of profiles are escaped.
        objects: paths below the cluster's folder.
    """

    control: str
    measure: str
    state: str
    how: str
    objects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A team under a regulation."""

    title: str
    team: str
    contact: str
    file: str
    rows: tuple[Row, ...]


def evidence(site: Site, manifests: Sequence[Manifest]) -> tuple[Section, ...]:
    """Return a section for each team of a site that is under a regulation."""
    return tuple(
        Section(
            title=tenant.team.compliance.title,
            team=tenant.name,
            contact=tenant.team.contact,
            file=tenant.team.at.file,
            rows=tuple(_rows(tenant, tenant.team.compliance, SiteObjects(site, manifests))),
        )
        for tenant in site.tenants
        if tenant.team.compliance
    )


def outside(site: Site) -> tuple[str, ...]:
    """Return what the measures of a site's teams rest on that is not in its tree."""
    asked = {
        measure
        for tenant in site.tenants
        if tenant.team.compliance
        for measure in tenant.team.compliance.controls
    }
    fabrics = [
        pool for tenant in site.tenants if tenant.team.compliance for pool in tenant.address_pools
    ]
    there = {"networkIsolation": bool(fabrics)}
    return tuple(
        what for measure, what in OUTSIDE.items() if measure in asked and there.get(measure, True)
    )


def _rows(tenant: Tenant, compliance: Compliance, place: SiteObjects) -> Iterator[Row]:
    for measure, control in sorted(
        compliance.controls.items(), key=lambda each: (each[1], each[0])
    ):
        name, answer = MEASURES[measure]
        found = answer(tenant, place)
        yield Row(control, name, found.state, found.how, tuple(each.path for each in found.objects))
