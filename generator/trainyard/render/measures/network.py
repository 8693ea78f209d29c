"""Network isolation: policies of each namespace, and the team's segments on fabrics."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.model.manifest import Manifest
from trainyard.model.network import AddressPool
from trainyard.model.tenant import Tenant
from trainyard.render.measures.answer import OPEN, Answer, SiteObjects, listed


def network(tenant: Tenant, place: SiteObjects) -> Answer:
    """Answer with the team's network policies, and its segment on each fabric."""
    policies = place.own(tenant, "NetworkPolicy")
    missing = _open_namespaces(tenant, policies)
    if missing:
        return Answer(f"no policy denies by default in {listed(missing)}", policies, OPEN)
    attached = {each.name for space in tenant.spaces for each in space.networks}
    definitions = place.own(tenant, "NetworkAttachmentDefinition")
    networks = place.of("SriovNetwork", attached)
    segments = [_segment(pool) for pool in tenant.address_pools if pool.rail == 0]
    how = "ingress and egress are denied by default in each of its namespaces; "
    how += "; ".join(segments) or "no fabric: its jobs use the pod network only"
    return Answer(how, [*policies, *definitions, *networks])


def _open_namespaces(tenant: Tenant, policies: Sequence[Manifest]) -> set[str]:
    """Return the team's namespaces without a policy that denies everything."""
    denied = {policy.namespace for policy in policies if policy.name == "default-deny"}
    return {space.namespace for space in tenant.spaces} - denied


def _segment(pool: AddressPool) -> str:
    link = pool.fabric.link
    segment = f"{link.segment} {link.display(pool.allocation.segment)}"
    return f"{segment} of the team's own on fabric {pool.fabric.name}"
