"""Say why a namespace may no longer use a runtime."""

from __future__ import annotations

from trainyard.change.impact.model import Sides
from trainyard.change.impact.uses import Use, Used, profile_of
from trainyard.model import names
from trainyard.model.identity import Identity
from trainyard.model.platform import Site
from trainyard.model.queue import Flavor
from trainyard.model.runtime import Runtime
from trainyard.model.tenant import Tenant


def why_lost(sides: Sides, use: Use, used: Used) -> str:
    """Return what the new profiles have instead; empty where they are not known."""
    if sides.new is None:
        return "cluster removed"
    tenant = sides.tenants[1].get(used.team)
    if tenant is None:
        return "the team leaves the cluster"
    runtime = sides.before.get(Identity("ClusterTrainingRuntime", "", used.name))
    profile = profile_of(runtime) if runtime else use.runtime
    if profile not in tenant.team.runtimes:
        return "no longer listed"
    return _of_listed(sides.new, tenant, profile, use, used)


def _of_listed(site: Site, tenant: Tenant, profile: str, use: Use, used: Used) -> str:
    """Return why a team can't use a runtime that it lists."""
    flavors = []
    for flavor in tenant.flavors:
        hardware = flavor.pool.hardware
        if use.nodes in {hardware.name, hardware.node_class} and flavor.quota.maximum:
            flavors.append(flavor)
    if not flavors:
        return "no quota on such nodes any more"
    runtimes = [launch.runtime for launch in site.launches if launch.runtime.name == profile]
    return _other(runtimes, use, flavors) or _too_small(tenant, use, used, flavors)


def _too_small(tenant: Tenant, use: Use, used: Used, flavors: list[Flavor]) -> str:
    """Return that the largest job that quota and `largestJob` permit is too small; empty if not."""
    largest = max(int(flavor.quota.maximum) for flavor in flavors)
    for space in tenant.spaces:
        if space.limits_name == names.job_limits(use.space):
            largest = min(largest, space.profile.largest_job)
    if largest < used.least:
        return f"a job needs at least {used.least} nodes, and the largest here has {largest}"
    return ""


def _other(runtimes: list[Runtime], use: Use, flavors: list[Flavor]) -> str:
    """Return what differs of a runtime; empty when it has this version and nodes, or is unknown."""
    if not runtimes:
        return ""
    runtime = runtimes[0]
    if not use.runtime.endswith(f"-v{runtime.version}"):
        return f"version {runtime.version} takes its place"
    kept = any(each.pool.hardware.name in runtime.hardware for each in flavors)
    return "" if kept else "the runtime no longer names such nodes"
