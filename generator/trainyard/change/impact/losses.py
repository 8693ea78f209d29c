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
    tenant = next((each for each in sides.new.tenants if each.name == used.team), None)
    if tenant is None:
        return "the team leaves the cluster"
    runtime = sides.before.get(Identity("ClusterTrainingRuntime", "", used.name))
    profile = profile_of(runtime) if runtime else use.runtime
    if profile not in tenant.team.runtimes:
        return "no longer listed"
    return _of_listed(sides.new, tenant, profile, use, used)


def _of_listed(site: Site, tenant: Tenant, profile: str, use: Use, used: Used) -> str:
    """Return why a team can't use a runtime that it lists."""
    flavors = [each for each in tenant.flavors if use.nodes in _kinds(each) and each.quota.maximum]
    if not flavors:
        return "no quota on such nodes any more"
    runtimes = [each.runtime for each in site.launches if each.runtime.name == profile]
    return _other(runtimes, use, flavors) or _too_small(tenant, use, used, flavors)


def _too_small(tenant: Tenant, use: Use, used: Used, flavors: list[Flavor]) -> str:
    largest = _largest(tenant, use.space, flavors)
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


def _kinds(flavor: Flavor) -> tuple[str, str]:
    return flavor.pool.hardware.name, flavor.pool.hardware.node_class


def _largest(tenant: Tenant, space: str, flavors: list[Flavor]) -> int:
    """Return the nodes of the largest job that quota and `largestJob` permit in a namespace."""
    quota = max(int(each.quota.maximum) for each in flavors)
    caps = (
        each.profile.largest_job
        for each in tenant.spaces
        if each.limits_name == names.job_limits(space)
    )
    return min(quota, *caps)
