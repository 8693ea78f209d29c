"""Quota against the hardware, in exact fractions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.audit.tree import Document, Tree, mappings

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?)([numkMGTPE]|[KMGTPE]i)?\Z")
_AMOUNTS = {"default", "defaultRequest", "hard", "limits", "requests", "systemReserved", "capacity"}
_SINGLE = {"borrowingLimit", "lendingLimit", "nominalQuota", "sizeLimit", "weight"}


def amount(text: object) -> Fraction:
    """Return the number that a quantity stands for."""
    match = _QUANTITY.match(str(text))
    assert match, f"no quantity: {text!r}"
    suffix = match[2] or ""
    factor = (
        Fraction(1024) ** _BINARY[suffix] if suffix in _BINARY else Fraction(10) ** _DECIMAL[suffix]
    )
    return Fraction(match[1]) * factor


def canonical(text: str) -> str:
    """Return the form that the API server makes of a quantity (apimachinery,
    Quantity.CanonicalizeBytes)."""
    value = amount(text)
    if text[-2:] in _BINARY and value >= 1024:
        steps = [(Fraction(1024) ** power, name) for name, power in reversed(_BINARY.items())] + [
            (Fraction(1), "")
        ]
    else:
        steps = [(Fraction(10) ** power, name) for name, power in reversed(_DECIMAL.items())]
    if value == 0:
        return "0"
    return next(f"{value / size}{name}" for size, name in steps if value % size == 0)


def quantities(document: Document) -> Iterator[tuple[str, Any]]:
    """Yield the place and text of every quantity of an object."""
    for path, fields in mappings(document.body):
        key = path.rpartition(".")[2]
        if key in _AMOUNTS and (document.kind != "LimitRange" or not path.endswith("spec")):
            yield from ((f"{path}.{name}", value) for name, value in fields.items())
        yield from ((f"{path}.{name}", fields[name]) for name in sorted(_SINGLE & set(fields)))


def quantities_are_canonical(tree: Tree) -> Iterator[str]:
    """What the API server would rewrite differs from Git for ever."""
    for document in tree.documents:
        for path, text in quantities(document):
            if not isinstance(text, str) or canonical(text) != text:
                yield f"{document.path}: {path} is {text!r}, stored as {canonical(str(text))!r}"


def _node(tree: Tree, pool: str) -> dict[str, Fraction]:
    """Return what one node of a pool is promised to give, as the hardware profile and its preset
    say."""
    name = tree.cluster["pools"][pool].get("hardware", pool)
    hardware = tree.hardware[name]
    system = hardware["system"]
    node = {
        "cpu": amount(hardware["cpu"]["threads"]) - amount(system["cpu"]),
        "memory": amount(hardware["memory"]) - amount(system["memory"]),
        "ephemeral-storage": amount(hardware["ephemeralStorage"])
        - amount(system["ephemeralStorage"]),
        "pods": amount(hardware["pods"]) - amount(system["pods"]),
    }
    if "gpu" in hardware:
        node[hardware["gpu"]["resource"]] = amount(hardware["gpu"]["count"])
    rails = [nic for nic in hardware.get("nics", ()) if nic["role"] == "rail"]
    fabric = tree.cluster["pools"][pool].get("fabric", "")
    for i in range(len(rails)):
        node[f"{tree.prefix}/{fabric.replace('-', '_')}_rail_{i}"] = amount(
            hardware["nic"]["virtualFunctions"]
        )
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


def quota_is_what_the_profiles_say(tree: Tree) -> Iterator[str]:
    """Each team's nominal quota is its nodes times what a node is worth, in every resource."""
    nominal = _nominal(tree)
    for team, profile in tree.teams.items():
        for pool, said in profile["quota"][tree.name].items():
            gpus = tree.hardware[tree.cluster["pools"][pool].get("hardware", pool)].get(
                "gpu", {"count": 1}
            )["count"]
            nodes = Fraction(said["gpus"], gpus) if "gpus" in said else Fraction(said["nodes"])
            expected = {n: nodes * allocatable for n, allocatable in _node(tree, pool).items()}
            found = {
                name: value
                for (owner, flavor, name), value in nominal.items()
                if (owner, flavor) == (team, pool)
            }
            if found != expected:
                wrong = sorted(
                    n for n in expected.keys() | found.keys() if expected.get(n) != found.get(n)
                )
                yield f"team {team} on {pool}: quota of {wrong} is not nodes times a node"


def quota_is_there(tree: Tree) -> Iterator[str]:
    """All teams' nominal quota on a pool fits its nodes, reserve left aside."""
    nominal = _nominal(tree)
    for pool, fields in tree.cluster["pools"].items():
        nodes = fields["nodes"] - fields.get("reserve", 0)
        for name, allocatable in _node(tree, pool).items():
            promised = sum(
                value
                for (_, flavor, each), value in nominal.items()
                if (flavor, each) == (pool, name)
            )
            if promised > nodes * allocatable:
                yield f"pool {pool}: {promised} of {name} promised, {nodes * allocatable} there"


def a_whole_node_pod_fits_a_node(tree: Tree) -> Iterator[str]:
    """One for any of several kinds of node fits each of them."""
    for runtime in tree.of("ClusterTrainingRuntime"):
        if not tree.pools_of(runtime):
            yield f"{runtime.path}: for no pool"
        for node in (_node(tree, pool) for pool in tree.pools_of(runtime)):
            for path, fields in mappings(runtime.body):
                for name, text in fields.items() if path.endswith("resources.requests") else ():
                    if amount(text) > node.get(name, Fraction(0)):
                        yield f"{runtime.path}: {path} asks for more {name} than a node has"


def lending_and_borrowing_are_bounded(tree: Tree) -> Iterator[str]:
    """A limit that is absent means no limit; lending more than one owns is refused; alone there is
    nobody to share."""
    for queue in (queue for queue in tree.of("ClusterQueue") if "cohortName" in queue.spec):
        for _, fields in mappings(queue.body):
            if "nominalQuota" in fields:
                if "borrowingLimit" not in fields or "lendingLimit" not in fields:
                    yield f"{queue.path}: {fields['name']} has no limit"
                elif amount(fields["lendingLimit"]) > amount(fields["nominalQuota"]):
                    yield f"{queue.path}: lends more {fields['name']} than it owns"


AUDITS = (
    quantities_are_canonical,
    quota_is_what_the_profiles_say,
    quota_is_there,
    a_whole_node_pod_fits_a_node,
    lending_and_borrowing_are_bounded,
)
