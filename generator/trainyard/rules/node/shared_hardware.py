"""Find pools of one hardware profile that need a runtime each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import chain, combinations

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform, Site
from trainyard.model.pool import Pool
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check

RULE = Rule(
    id="node/shared-hardware",
    severity=Severity.ERROR,
    summary="""
        Pools with the same hardware profile are on the same fabric, both with or without NVLink
        between nodes, and teams own whole nodes of them. A team has nodes of both only if Kueue
        places all pods of its jobs as one.
    """,
    why="""
        A runtime is made for the hardware. Its pods ask for the rails of one fabric, so those that
        Kueue sends to the other pool stay Pending. Those of a share may take a part of a node that
        is promised whole. Pods that Kueue places apart, as launcher and nodes, may find room in two
        pools. Kueue then tries the job without end, and no job behind it
        (kubernetes-sigs/kueue#3710; seen with Kueue 0.16.2).
    """,
    fix="""
        Give one of the pools a hardware profile of its own, which `extends` this one and has other
        `labels`, and list it in the runtimes. A team may also have nodes of one pool only.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        in_parts = _in_parts(site)
        for one, two in combinations(site.cluster.pools, 2):
            if one.hardware.name == two.hardware.name:
                for difference in _differences(one, two, in_parts):
                    message = (
                        f"pools `{one.name}` and `{two.name}` have hardware `{one.hardware.name}`, "
                        f"and {difference}"
                    )
                    yield RULE.at(two.at.key(), message, notes=[Note("the other pool", one.at)])
        yield from chain.from_iterable(map(_apart, site.tenants))


def _in_parts(site: Site) -> frozenset[str]:
    """Return the pools of which some team owns a part of a node."""
    flavors = (flavor for tenant in site.tenants for flavor in tenant.flavors)
    return frozenset(flavor.pool.name for flavor in flavors if flavor.quota.is_share)


def _differences(one: Pool, two: Pool, in_parts: Collection[str]) -> Iterator[str]:
    """Yield why one runtime can't be for two pools."""
    if one.fabric != two.fabric:
        fabrics = (f"`{pool.fabric.name}`" if pool.fabric else "no fabric" for pool in (one, two))
        yield f"are on {' and '.join(fabrics)}"
    if one.has_nvlink != two.has_nvlink:
        yield "only one of them has NVLink between its nodes"
    for pool in (one, two):
        if pool.name in in_parts:
            yield f"teams own parts of nodes of `{pool.name}`"


def _apart(tenant: Tenant) -> Iterator[Diagnostic]:
    """Yield the runtimes of a team with two pools to choose from, whose pods are placed apart."""
    held = Counter(flavor.pool.hardware.name for flavor in tenant.flavors)
    for launch in tenant.launches:
        name = launch.hardware.name
        if held[name] > 1 and not launch.is_placed_as_one:
            message = (
                f"team {tenant.name} has nodes of {held[name]} pools with hardware `{name}`, and "
                f"Kueue places the pods of runtime `{launch.runtime.name}` apart"
            )
            yield RULE.at(tenant.team.at / "quota" / tenant.cluster.name, message)


CHECK = Check(RULE, find)
