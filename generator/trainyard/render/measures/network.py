"""Network isolation: policies of each namespace, and the team's segments on fabrics."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from trainyard.model.named import by_name
from trainyard.model.neighbours import Neighbours, neighbours
from trainyard.model.network import AddressPool
from trainyard.model.tenant import Tenant
from trainyard.render.measures.answer import ANSWERED, OPEN, Answer, SiteObjects, listed


def network(tenant: Tenant, place: SiteObjects) -> Answer:
    """Answer with the team's network policies, and its segment on each fabric."""
    policies = place.own(tenant, "NetworkPolicy")
    denied = {policy.namespace for policy in policies if policy.name == "default-deny"}
    missing = set(tenant.namespaces) - denied
    if missing:
        return Answer(f"no policy denies by default in {listed(missing)}", policies, OPEN)
    attached = by_name(chain.from_iterable(space.networks for space in tenant.spaces))
    definitions = place.own(tenant, "NetworkAttachmentDefinition")
    networks = place.of("SriovNetwork", attached)
    how = "ingress and egress are denied by default in each of its namespaces; "
    groups = _groups(tenant, place)
    how += _fabrics(tenant, groups) or "no fabric: its jobs use the pod network only"
    state = OPEN if any(len(group.tenants) > 1 for group in groups) else ANSWERED
    return Answer(how, [*policies, *definitions, *networks], state)


def _groups(tenant: Tenant, place: SiteObjects) -> list[Neighbours]:
    """Return the pools on which the team uses a fabric that others make."""
    return [group for group in neighbours(place.site) if tenant in group.tenants]


def _fabrics(tenant: Tenant, groups: Sequence[Neighbours]) -> str:
    """Return what separates the team on its fabrics; empty where it uses none."""
    segments = [_segment(pool) for pool in tenant.address_pools if pool.rail == 0]
    return "; ".join([*segments, *map(_border, groups)])


def _border(group: Neighbours) -> str:
    """Return what separates the teams on a fabric whose network others make."""
    others = [each.name for each in group.tenants]
    where = f"{group.name} of fabric {group.fabric.name}"
    if len(others) > 1:
        return f"RDMA passes between teams {', '.join(others)} on {where}"
    return f"no other team uses RDMA on {where}"


def _segment(pool: AddressPool) -> str:
    link = pool.fabric.link
    segment = f"{link.segment} {link.display(pool.allocation.segment)}"
    return f"{segment} of the team's own on fabric {pool.fabric.name}"
