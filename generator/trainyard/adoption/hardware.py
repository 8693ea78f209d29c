"""Draft the hardware profile of nodes: each line with the node and field that it is from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Any

from trainyard.adoption.amounts import read_amount
from trainyard.adoption.model import Kind, Pool
from trainyard.adoption.wording import choose, quoted, said
from trainyard.model.accelerator import MAKERS
from trainyard.model.facts import Body, Facts, labels_of, place_of
from trainyard.model.hardware import EVICTION_MEMORY, EVICTION_STORAGE, KERNEL_PART
from trainyard.model.importable import PODS
from trainyard.model.lookup import mapping, mappings, text
from trainyard.model.quantity import counted, parse_bytes
from trainyard.model.readable import NODE_STATES, NUMA
from trainyard.scaffold.measured import Fact, gpus_of, ports_of
from trainyard.scaffold.measured import facts as measured_facts
from trainyard.scaffold.nodes import Measured
from trainyard.scaffold.ports import port_lines, read_ports
from trainyard.yaml_io.scalars import inline
from trainyard.yaml_io.source import Source

_SHARES = {"cpu": "cpu", "memory": "memory", "ephemeralStorage": "ephemeral-storage"}
"""Keys of shares, and their resources."""
_MIB, _GIB = 1 << 20, 1 << 30
_MOST_MIB = 9_999_999
"""Largest number that a size in a profile may have."""
_OWNERS = frozenset({"DaemonSet", "Node"})
"""Owners of pods that every node has; static pods belong to their Node."""
_NEAR = Fraction(1, 50)
_SHARED = frozenset({"system", "kubelet"})
"""Lines that daemons are added to."""


def drafted(kind: Kind, facts: Facts, presets: Mapping[str, Source]) -> Pool:
    """Return a pool with the lines of its hardware profile.

    Args:
        kind: its nodes.
        facts: of the cluster, with the states of ports and the pods if the dump has them.
        presets: those that are shipped.

    Raises:
        TreeError: an amount is no quantity, or a port has an address that none has.
    """
    others = [*facts.of(NODE_STATES), *facts.of(NUMA)]
    found = Measured([dict(node) for node in kind.nodes], [dict(body) for body in others])
    preset = matching(found, presets)
    fields: Mapping[str, Any] = presets[preset].value if preset else {}
    daemons = None if facts.without([PODS]) else _daemons(kind, facts)
    total, system, kubelet = _shares(found, fields, daemons or {})
    own = {"memory": total["memory"], "ephemeralStorage": total["ephemeral-storage"]}
    lines = [*_lines(found, preset, fields, own)]
    lines += _system(found.first, system, kubelet, knows_daemons=daemons is not None)
    lines += _ports(found, fields, facts)
    lines += _selected(kind)
    promised = {name: total[name] - system[name] for name in total}
    per_node = {**_extended(found), **promised}
    return Pool(
        kind=kind,
        lines=tuple(lines),
        per_node=dict(sorted(per_node.items())),
        offered={name: _base(found, "allocatable", name) for name in per_node},
        counted=next((name for name in per_node if _is_gpu(name) and per_node[name]), "cpu"),
        cores=_cores(found, fields),
    )


def matching(found: Measured, presets: Mapping[str, Source]) -> str:
    """Return the preset with the product and the ports of nodes; empty if none has both."""
    ports = {port.pci for port in read_ports(found.first, ports_of(found))}
    for name, source in sorted(presets.items()):
        fields = source.value
        own = fields.get("gpu", {})
        same = own.get("product") in _products(found) and own.get("count") == gpus_of(found)
        if same and ports and ports == {nic["pci"] for nic in fields.get("nics", ())}:
            return name
    return ""


def _products(found: Measured) -> set[str]:
    labels = labels_of(found.nodes[0])
    keys = (maker.label or f"{maker.resource}.product-name" for maker in MAKERS)
    return {labels[key] for key in keys if key in labels}


def _is_gpu(resource: str) -> bool:
    return any(maker.resource == resource for maker in MAKERS)


def _base(found: Measured, group: str, resource: str) -> int:
    """Return the least amount of a resource that a node has, in base units."""
    part = f"node {found.first}: status.{group}"
    amounts = (mapping(node, "status", group).get(resource, "0") for node in found.nodes)
    return min(read_amount(resource, amount, part) for amount in amounts)


def _extended(found: Measured) -> dict[str, int]:
    """Return the extended resources of a node."""
    names = (name for name in mapping(found.nodes[0], "status", "allocatable") if "/" in name)
    return {name: _base(found, "allocatable", name) for name in names}


def _daemons(kind: Kind, facts: Facts) -> dict[str, int]:
    """Return the most that the daemons of a node request, and how many they are."""
    names = {place_of(node)[1] for node in kind.nodes}
    sums: dict[str, dict[str, int]] = {name: {} for name in names}
    for pod in facts.of(PODS):
        node = text(pod, "spec", "nodeName")
        if node in names and _is_daemon(pod):
            asked = requests(pod)
            for resource in (*_SHARES.values(), "pods"):
                of_node = sums[node]
                more = 1 if resource == "pods" else asked.get(resource, 0)
                of_node[resource] = of_node.get(resource, 0) + more
    every = (*_SHARES.values(), "pods")
    return {name: max(found.get(name, 0) for found in sums.values()) for name in every}


def _is_daemon(pod: Body) -> bool:
    owners = mappings(dict(pod), "metadata", "ownerReferences")
    ended = text(pod, "status", "phase") in {"Succeeded", "Failed"}
    return not ended and any(owner.get("kind") in _OWNERS for owner in owners)


def requests(pod: Body) -> dict[str, int]:
    """Return what the containers of a pod request together, in base units.

    Raises:
        TreeError: an amount is no quantity.
    """
    part = f"Pod {'/'.join(place_of(pod))}"
    found: dict[str, int] = {}
    containers = [*mappings(dict(pod), "spec", "containers")]
    beside = mappings(dict(pod), "spec", "initContainers")
    containers += [each for each in beside if each.get("restartPolicy") == "Always"]
    for container in containers:
        asked = mapping(container, "resources", "limits")
        asked = {**asked, **mapping(container, "resources", "requests")}
        for name, amount in asked.items():
            found[name] = found.get(name, 0) + read_amount(name, amount, part)
    return found


def _shares(
    found: Measured, fields: Mapping[str, Any], daemons: Mapping[str, int]
) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """Return the size of a node, the share of its system, and kubelet's part of that.

    So that what is left is what kubelet offers, less what daemons request, in whole Mi.
    """
    capacity = {name: _base(found, "capacity", name) for name in (*_SHARES.values(), "pods")}
    offered = {name: _base(found, "allocatable", name) for name in capacity}
    total = dict(capacity)
    total["memory"] = _installed(capacity["memory"], fields)
    total["ephemeral-storage"] = capacity["ephemeral-storage"] // _GIB * _GIB
    disk = total["ephemeral-storage"]
    withheld = {name: max(capacity[name] - offered[name], 0) for name in capacity}
    kubelet = {
        "cpu": max(ceil(Fraction(withheld["cpu"], 1000)), 1) * 1000,
        "memory": _up(withheld["memory"] - EVICTION_MEMORY),
        "ephemeral-storage": _up(withheld["ephemeral-storage"] - int(disk * EVICTION_STORAGE)),
    }
    least = {
        "cpu": kubelet["cpu"],
        "memory": total["memory"] // KERNEL_PART + kubelet["memory"] + EVICTION_MEMORY,
        "ephemeral-storage": kubelet["ephemeral-storage"] + int(disk * EVICTION_STORAGE),
        "pods": 1,
    }
    system = {}
    for name in capacity:
        kept = total[name] - max(offered[name] - daemons.get(name, 0), 0)
        unit = {"cpu": 1000, "pods": 1}.get(name, _MIB)
        system[name] = -(-max(kept, least[name]) // unit) * unit
    return total, system, kubelet


def _installed(capacity: int, fields: Mapping[str, Any]) -> int:
    """Return the installed memory: what the kernel shows, and the 64th that it keeps."""
    installed = Fraction(capacity * KERNEL_PART, KERNEL_PART - 1)
    if "memory" in fields:
        stated = parse_bytes(fields["memory"])
        if abs(stated - installed) <= stated * _NEAR:
            return stated
    return ceil(installed / _GIB) * _GIB


def _up(amount: int) -> int:
    """Return an amount in whole Mi, rounded up; at least one."""
    return max(-(-amount // _MIB), 1) * _MIB


def _size(amount: int) -> str:
    """Return an amount in whole Gi if it is one, else in Mi, or in Gi where that is too long."""
    if amount % _GIB == 0 or amount // _MIB > _MOST_MIB:
        return f"{-(-amount // _GIB)}Gi"
    return f"{amount // _MIB}Mi"


def _lines(
    found: Measured, preset: str, fields: Mapping[str, Any], own: Mapping[str, int]
) -> Iterator[str]:
    """Yield the lines of what a node has; what a preset states and the node confirms is left out.

    Args:
        found: the nodes.
        preset: that they match; empty if they match none.
        fields: of the preset.
        own: sizes that are stated otherwise than as the capacity.
    """
    if preset:
        yield said(f"extends: {preset}", f"product, count and ports of node {found.first}")
    for stated in measured_facts(found):
        key = stated.key
        fact = _sized(key, own[key], found.first) if key in own else stated
        known = fact.is_guess or key == "gpu" or fields.get(key) == fact.value
        if key in _SHARED or (key in fields and known):
            continue
        yield (
            choose(_asked(fact))
            if fact.is_guess
            else said(f"{fact.key}: {fact.value}", fact.source)
        )


def _asked(fact: Fact) -> str:
    return f"{fact.key}: proposal {fact.value}; {fact.source}"


def _sized(key: str, amount: int, node: str) -> Fact:
    source = f"status.capacity of node {node}"
    if key == "memory":
        source += ", and the 64th that its kernel keeps"
    size = _size(amount)
    whole = f"{amount >> 40}Ti" if amount % (1 << 40) == 0 else size
    return Fact(key, whole, source)


def _system(
    node: str, system: Mapping[str, int], kubelet: Mapping[str, int], *, knows_daemons: bool
) -> Iterator[str]:
    value = f"{{{_share(system)}, pods: {system['pods']}}}"
    if knows_daemons:
        yield said(f"system: {value}", f"capacity less allocatable of {node}, and its daemons")
    else:
        yield choose(
            "system: what daemons request on a node, since no pods are in the dump; "
            f"proposal, without any: {value}"
        )
    less = f"capacity less allocatable of node {node}, without what it evicts pods for"
    yield said(f"kubelet: {{{_share(kubelet)}}}", less)


def _share(amounts: Mapping[str, int]) -> str:
    sizes = (f"{key}: {_size(amounts[name])}" for key, name in _SHARES.items() if key != "cpu")
    return ", ".join([f"cpu: {amounts['cpu'] // 1000}", *sizes])


def _ports(found: Measured, fields: Mapping[str, Any], facts: Facts) -> Iterator[str]:
    """Yield the ports; which are rails is nowhere in a dump."""
    if fields.get("nics"):
        return
    ports = read_ports(found.first, ports_of(found))
    gpus = gpus_of(found)
    if ports:
        yield choose("nic and nics: the role of each port, and the GPU beside each rail; proposal:")
        yield from (f"# {quoted(line)}" for line in port_lines(found.first, ports, gpus))
    elif gpus and facts.without([NODE_STATES]):
        yield choose(
            "nics: the ports beside the GPUs; no SriovNetworkNodeState is in the dump. "
            "Without any, jobs use TCP: delete this line"
        )


def _selected(kind: Kind) -> Iterator[str]:
    """Yield the labels by which the site's flavor selects the nodes, or that they need one."""
    if kind.labels:
        pairs = ", ".join(f"{inline(key)}: {inline(str(kind.labels[key]))}" for key in kind.labels)
        flavors = ", ".join(kind.flavors)
        yield said(f"labels: {{{pairs}}}", f"spec.nodeLabels of ResourceFlavor {flavors}")
    else:
        first = place_of(kind.nodes[0])[1]
        many = counted(len(kind.nodes), "node")
        yield choose(
            f"labels: no flavor selects these {many}, such as {first}. Without `labels`, "
            "set the label `node-type` below your domain on each of them: delete this line"
        )


def _cores(found: Measured, fields: Mapping[str, Any]) -> Fraction | None:
    """Return the cores of a hardware thread; None where neither label nor preset has it."""
    if "cpu" in fields:
        return Fraction(fields["cpu"]["cores"], fields["cpu"]["threads"])
    label = labels_of(found.nodes[0]).get("feature.node.kubernetes.io/cpu-hardware_multithreading")
    return {"true": Fraction(1, 2), "false": Fraction(1)}.get(str(label))


def unused(pools: Sequence[Pool]) -> Iterator[str]:
    """Yield the pools with GPUs that no flavor selects."""
    for pool in pools:
        if not pool.kind.flavors and _is_gpu(pool.counted):
            yield pool.name
