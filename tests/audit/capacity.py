"""Quota against hardware, in exact fractions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from math import floor
from typing import Any

from tests.audit.tree import Document, Tree, mappings

GPU = "nvidia.com/gpu"
"""Resource of a GPU whose profile names none."""

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?)([numkMGTPE]|[KMGTPE]i)?\Z")
_AMOUNTS = {"default", "defaultRequest", "hard", "limits", "requests", "systemReserved", "capacity"}
_SINGLE = {"borrowingLimit", "lendingLimit", "nominalQuota", "sizeLimit", "weight"}


def amount(text: object) -> Fraction:
    """Return the number of a quantity."""
    match = _QUANTITY.match(str(text))
    assert match, f"no quantity: {text!r}"
    suffix = match[2] or ""
    if suffix in _BINARY:
        return Fraction(match[1]) * Fraction(1024) ** _BINARY[suffix]
    return Fraction(match[1]) * Fraction(10) ** _DECIMAL[suffix]


def canonical(text: str) -> str:
    """Return the form in which the API server stores a quantity.

    Source: apimachinery, ``Quantity.CanonicalizeBytes``.
    """
    value = amount(text)
    if value == 0:
        return "0"
    base, powers = Fraction(10), _DECIMAL
    if text[-2:] in _BINARY and value >= 1024:
        base, powers = Fraction(1024), {"": 0, **_BINARY}
    for suffix, power in reversed(powers.items()):
        if value % base**power == 0:
            return f"{value / base**power}{suffix}"
    raise ValueError(f"finer than the finest suffix: {text!r}")


def quantities(document: Document) -> Iterator[tuple[str, Any]]:
    """Yield the path and text of every quantity of an object."""
    for path, fields in mappings(document.body):
        key = path.rpartition(".")[2]
        if key in _AMOUNTS and (document.kind != "LimitRange" or not path.endswith("spec")):
            yield from ((f"{path}.{name}", value) for name, value in fields.items())
        yield from ((f"{path}.{name}", fields[name]) for name in sorted(_SINGLE & set(fields)))


def quantities_are_canonical(tree: Tree) -> Iterator[str]:
    """A quantity that the API server would rewrite differs from Git permanently."""
    for document in tree.documents:
        for path, text in quantities(document):
            if not isinstance(text, str) or canonical(text) != text:
                yield f"{document.path}: {path} is {text!r}, stored as {canonical(str(text))!r}"


def node_of(tree: Tree, pool: str) -> dict[str, Fraction]:
    """Return the allocatable resources of a pool's node, from its hardware profile."""
    hardware = tree.hardware_of(pool)
    system = hardware["system"]
    storage = amount(hardware["ephemeralStorage"]) - amount(system["ephemeralStorage"])
    node = {
        "cpu": amount(hardware["cpu"]["threads"]) - amount(system["cpu"]),
        "memory": amount(hardware["memory"]) - amount(system["memory"]),
        "ephemeral-storage": storage,
        "pods": amount(hardware["pods"]) - amount(system["pods"]),
    }
    if "gpu" in hardware:
        node[hardware["gpu"].get("resource", GPU)] = amount(hardware["gpu"]["count"])
    rails = [nic for nic in hardware.get("nics", ()) if nic["role"] == "rail"]
    fabric = tree.cluster["pools"][pool].get("fabric", "").replace("-", "_")
    for rail in range(len(rails)):
        functions = amount(hardware["nic"]["virtualFunctions"])
        node[f"{tree.prefix}/{fabric}_rail_{rail}"] = functions
    return node


def _nominal(tree: Tree) -> dict[tuple[str, str, str], Fraction]:
    """Return (team, flavor, resource) -> nominal quota."""
    found: dict[tuple[str, str, str], Fraction] = {}
    for queue in tree.of("ClusterQueue"):
        for group in queue.spec["resourceGroups"]:
            for flavor in group["flavors"]:
                for resource in flavor["resources"]:
                    key = (tree.team_of(queue), flavor["name"], resource["name"])
                    found[key] = found.get(key, Fraction(0)) + amount(resource["nominalQuota"])
    return found


def quota_follows_the_profiles(tree: Tree) -> Iterator[str]:
    """Each team's nominal quota is its nodes times a node's allocatable, in every resource."""
    nominal = _nominal(tree)
    for team, profile in tree.teams.items():
        for pool, share in profile["quota"][tree.name].items():
            nodes = left_of(tree, pool, team, share)
            each = node_of(tree, pool).items()
            # A share of a node in cores may be a fraction of a byte or a pod: rounded down.
            expected = {name: Fraction(floor(nodes * whole)) for name, whole in each}
            found = {
                name: value
                for (owner, flavor, name), value in nominal.items()
                if (owner, flavor) == (team, pool)
            }
            wrong = sorted({name for name, _ in expected.items() ^ found.items()})
            if wrong:
                yield f"team {team} on {pool}: quota of {wrong} is not nodes times a node"


def left_of(tree: Tree, pool: str, team: str, share: dict[str, Any]) -> Fraction:
    """Return the nodes of a team's quota on a pool without what maintenance takes of them."""
    fields = tree.cluster["pools"][pool]
    entries = fields.get("maintenance", ())
    if fields["nodes"] <= len({node for each in entries for node in each["nodes"]}):
        return Fraction(0)
    unit = next(each for each in ("gpus", "cores", "nodes") if each in share)
    taken = sum(each.get("from", {}).get(team, 0) for each in entries)
    return nodes_of(tree, pool, {**share, unit: share[unit] - taken})


def nodes_of(tree: Tree, pool: str, share: dict[str, int]) -> Fraction:
    """Return the nodes of a team's quota on a pool, a fraction for a quota in GPUs or cores.

    The cores of a node are the whole ones that its system share leaves.
    """
    hardware = tree.hardware_of(pool)
    if "gpus" in share:
        return Fraction(share["gpus"], hardware.get("gpu", {"count": 1})["count"])
    if "cores" in share:
        cpu = hardware["cpu"]
        cores = node_of(tree, pool)["cpu"] * cpu["cores"] / cpu["threads"]
        return Fraction(share["cores"], floor(cores))
    return Fraction(share["nodes"])


def quota_fits_the_nodes(tree: Tree) -> Iterator[str]:
    """All teams' nominal quota on a pool fits its nodes without the reserve and those in
    maintenance, of which the reserve takes the place."""
    nominal = _nominal(tree)
    for pool, fields in tree.cluster["pools"].items():
        out = {node for each in fields.get("maintenance", ()) for node in each["nodes"]}
        nodes = fields["nodes"] - max(fields.get("reserve", 0), len(out))
        for name, allocatable in node_of(tree, pool).items():
            promised = sum(
                value
                for (_, flavor, each), value in nominal.items()
                if (flavor, each) == (pool, name)
            )
            if promised > nodes * allocatable:
                yield f"pool {pool}: {promised} of {name} promised, {nodes * allocatable} there"


def a_whole_node_pod_fits_a_node(tree: Tree) -> Iterator[str]:
    """A runtime for several types of node fits each of them."""
    for runtime in tree.of("ClusterTrainingRuntime"):
        pools = tree.pools_of(runtime)
        if not pools:
            yield f"{runtime.path}: for no pool"
        for pool in pools:
            node = node_of(tree, pool)
            for path, name, requested in _requests(runtime):
                if requested > node.get(name, Fraction(0)):
                    yield f"{runtime.path}: {path} asks for more {name} than a node has"


def small_launchers_fit_beside_the_pods_of_every_runtime(tree: Tree) -> Iterator[str]:
    """Else one would take a node from a job that needs it whole."""
    small = [each for each in tree.of("ClusterTrainingRuntime") if _launcher(each)]
    for pool in {pool for each in small for pool in tree.pools_of(each)}:
        node = node_of(tree, pool)
        beside = [_launcher(each) for each in small if pool in tree.pools_of(each)]
        for runtime in tree.of("ClusterTrainingRuntime"):
            if pool in tree.pools_of(runtime):
                for path, name, requested in _requests(runtime):
                    most = max(each.get(name, Fraction(0)) for each in beside)
                    if requested + most > node.get(name, Fraction(0)):
                        yield f"{runtime.path}: {path} leaves no {name} for a launcher"


def _launcher(runtime: Document) -> dict[str, Fraction]:
    """Return the requests of a launcher without ranks; nothing for another one."""
    if runtime.spec["mlPolicy"].get("mpi", {}).get("runLauncherAsNode") is not False:
        return {}
    pod = runtime.spec["template"]["spec"]["replicatedJobs"][-1]["template"]["spec"]["template"]
    requests = pod["spec"]["containers"][0]["resources"]["requests"]
    return {name: amount(text) for name, text in requests.items()}


def _requests(runtime: Document) -> Iterator[tuple[str, str, Fraction]]:
    """Yield path, resource and amount of each request of a runtime."""
    for path, fields in mappings(runtime.body):
        if path.endswith("resources.requests"):
            for name, text in fields.items():
                yield path, name, amount(text)


def lending_and_borrowing_are_bounded(tree: Tree) -> Iterator[str]:
    """In a cohort, an absent limit means unlimited, and Kueue refuses to lend more than owned."""
    for queue in tree.of("ClusterQueue"):
        if "cohortName" in queue.spec:
            for _, fields in mappings(queue.body):
                if "nominalQuota" in fields:
                    yield from (f"{queue.path}: {fault}" for fault in _limit_faults(fields))


def _limit_faults(resource: dict[str, Any]) -> Iterator[str]:
    if "borrowingLimit" not in resource or "lendingLimit" not in resource:
        yield f"{resource['name']} has no limit"
    elif amount(resource["lendingLimit"]) > amount(resource["nominalQuota"]):
        yield f"lends more {resource['name']} than it owns"


AUDITS = (
    quantities_are_canonical,
    quota_follows_the_profiles,
    quota_fits_the_nodes,
    a_whole_node_pod_fits_a_node,
    small_launchers_fit_beside_the_pods_of_every_runtime,
    lending_and_borrowing_are_bounded,
)
