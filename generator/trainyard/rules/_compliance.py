"""The measures that a regulation demands of a team."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.compliance import Compliance
from trainyard.model.platform import Platform, Site
from trainyard.model.team import Team
from trainyard.model.tenant import Tenant

NOT_ENFORCED = (
    "Nothing on the cluster refuses it, and the evidence page states that the control is answered."
)
"""End of the `why` of each rule that checks a measure."""


def under(platform: Platform, measure: str) -> Iterator[tuple[Site, Tenant, Compliance]]:
    """Yield each team whose regulation demands a measure, once for each of its clusters."""
    for site in platform.sites:
        for tenant in site.tenants:
            compliance = asking(tenant.team, measure)
            if compliance:
                yield site, tenant, compliance


def asking(team: Team, measure: str) -> Compliance | None:
    """Return the regulation that demands a measure of a team, or None when none does."""
    if team.compliance and team.compliance.asks(measure):
        return team.compliance
    return None
