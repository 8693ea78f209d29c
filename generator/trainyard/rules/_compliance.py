"""Measures that a regulation demands: nothing on a cluster refuses what is missing, only the auditor finds it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.compliance import Compliance
from trainyard.model.platform import Platform, Site
from trainyard.model.team import Team
from trainyard.model.tenant import Tenant

NOBODY_REFUSES = (
    "Nothing on the cluster refuses it, and the evidence page says that the control is answered."
)


def under(platform: Platform, measure: str) -> Iterator[tuple[Site, Tenant, Compliance]]:
    """Yield each team that a measure is demanded of, on each of its clusters."""
    for site in platform.sites:
        for tenant in site.tenants:
            if compliance := asking(tenant.team, measure):
                yield site, tenant, compliance


def asking(team: Team, measure: str) -> Compliance | None:
    """Return the regulation that demands a measure of a team."""
    return team.compliance if team.compliance and team.compliance.asks(measure) else None
