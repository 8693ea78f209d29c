"""Draft the hardware profile of nodes: each line with the node and field that it is from."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from trainyard.adoption.amounts import shown
from trainyard.adoption.model import Kind, Pool
from trainyard.adoption.sizes import SHARES, Sizes, base, daemons_of, size, sizes
from trainyard.adoption.wording import choose, quoted, said
from trainyard.model.accelerator import MAKERS
from trainyard.model.facts import Facts, labels_of, place_of
from trainyard.model.importable import PODS
from trainyard.model.lookup import mapping
from trainyard.model.quantity import counted
from trainyard.model.readable import NODE_STATES
from trainyard.model.readable_of_others import NUMA
from trainyard.scaffold.measured import Fact, gpus_of, ports_of
from trainyard.scaffold.measured import facts as measured_facts
from trainyard.scaffold.nodes import Measured
from trainyard.scaffold.ports import port_lines, read_ports
from trainyard.yaml_io.scalars import inline
from trainyard.yaml_io.source import Source

_SHARED = frozenset({"system", "kubelet"})
"""Lines that daemons are added to."""


def drafted(kind: Kind, facts: Facts, presets: Mapping[str, Source]) -> Pool:
    """Return a pool with the lines of its hardware profile.

    Args:
        kind: its nodes.
        facts: of the cluster, with the states of ports and the pods if the dump has them.
        presets: those that are shipped.

    Raises:
        TreeError: an amount is not a quantity, or a port has an address that none has.
    """
    others = [*facts.of(NODE_STATES), *facts.of(NUMA)]
    found = Measured([dict(node) for node in kind.nodes], [dict(body) for body in others])
    preset = matching(found, presets)
    fields: Mapping[str, Any] = presets[preset].value if preset else {}
    daemons = None if facts.without([PODS]) else daemons_of(kind, facts)
    own = sizes(found, fields, daemons or {})
    per_node = {**_extended(found), **own.promised}
    lines = [
        *_lines(found, preset, fields, own.total),
        *_system(found, own, knows_daemons=daemons is not None),
        *_ports(found, fields, facts),
        *_broken(found),
        *_selected(kind),
    ]
    return Pool(
        kind=kind,
        lines=tuple(lines),
        per_node=dict(sorted(per_node.items())),
        offered={name: base(found, "allocatable", name) for name in per_node},
        counted=_counted(per_node),
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


def _counted(per_node: Mapping[str, int]) -> str:
    """Return the resource that quota follows: the GPUs, or `cpu` without any."""
    names = (maker.resource for maker in MAKERS)
    return next((name for name in names if per_node.get(name)), "cpu")


def _extended(found: Measured) -> dict[str, int]:
    """Return the extended resources of a node."""
    names = (name for name in mapping(found.nodes[0], "status", "allocatable") if "/" in name)
    return {name: base(found, "allocatable", name) for name in names}


def _lines(
    found: Measured, preset: str, fields: Mapping[str, Any], total: Mapping[str, int]
) -> Iterator[str]:
    """Yield the lines of what a node has; what a preset states and the node confirms is left out.

    Args:
        found: the nodes.
        preset: that they match; empty if they match none.
        fields: of the preset.
        total: sizes by resource, in base units.
    """
    if preset:
        yield said(f"extends: {preset}", f"product, count and ports of node {found.first}")
    for stated in measured_facts(found):
        key = stated.key
        is_size = key in SHARES and key != "cpu"
        fact = _sized(key, total[SHARES[key]], found.first) if is_size else stated
        if key not in _SHARED and not _is_known(fact, fields):
            yield (
                choose(_asked(fact)) if fact.is_guess else said(f"{key}: {fact.value}", fact.source)
            )


def _is_known(fact: Fact, fields: Mapping[str, Any]) -> bool:
    """Return whether a preset has a fact already."""
    same = fact.is_guess or fact.key == "gpu" or fields.get(fact.key) == fact.value
    return fact.key in fields and same


def _asked(fact: Fact) -> str:
    return f"{fact.key}: proposal {fact.value}; {fact.source}"


def _sized(key: str, amount: int, node: str) -> Fact:
    source = f"status.capacity of node {node}"
    if key == "memory":
        source += ", and the 64th that its kernel keeps"
    whole = f"{amount >> 40}Ti" if amount % (1 << 40) == 0 else size(amount)
    return Fact(key, whole, source)


def _system(found: Measured, own: Sizes, *, knows_daemons: bool) -> Iterator[str]:
    """Yield what the system and kubelet keep; a choice where the nodes contradict themselves."""
    node = found.first
    over = {key: name for key, name in SHARES.items() if _offers_too_much(found, name)}
    value = f"{{{_share(own.system, over)}, pods: {own.system['pods']}}}"
    kubelet = f"kubelet: {{{_share(own.kubelet, over)}}}"
    why = _contradiction(found, over.values()) if over else ""
    if not knows_daemons:
        yield choose(
            "system: what daemons request on a node; no pods are in the dump, and a DaemonSet does "
            f"not say on which nodes it runs; proposal, without any: {value}{why}"
        )
    elif over:
        yield choose(f"system: {value}{why}")
    else:
        source = f"capacity less allocatable of {node}, and its daemons, in whole CPUs and Mi"
        yield said(f"system: {value}", source)
    less = f"capacity less allocatable of node {node}, without what it evicts pods for"
    yield choose(f"{kubelet}{why}") if over else said(kubelet, less)


def _contradiction(found: Measured, resources: Iterable[str]) -> str:
    figures = " and ".join(_figures(found, name) for name in resources)
    return (
        f"; {figures}. No kubelet offers more than a node has, so the dump does not show what "
        "it keeps: read the nodes again, or its systemReserved and kubeReserved"
    )


def _offers_too_much(found: Measured, resource: str) -> bool:
    return base(found, "allocatable", resource) > base(found, "capacity", resource)


def _figures(found: Measured, resource: str) -> str:
    has, offers = (
        shown(resource, base(found, group, resource)) for group in ("capacity", "allocatable")
    )
    return f"node {found.first} has {has} {resource} and offers {offers}"


def _share(amounts: Mapping[str, int], unknown: Container[str]) -> str:
    """Return a share, with a word in place of each amount that is not known."""
    sizes_ = {key: size(amounts[name]) for key, name in SHARES.items() if key != "cpu"}
    parts = {"cpu": str(amounts["cpu"] // 1000), **sizes_}
    return ", ".join(
        f"{key}: {'AMOUNT' if key in unknown else amount}" for key, amount in parts.items()
    )


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


def _broken(found: Measured) -> Iterator[str]:
    """Yield the GPUs that a node has and does not offer."""
    for maker in MAKERS:
        has, offers = (base(found, group, maker.resource) for group in ("capacity", "allocatable"))
        if offers < has:
            yield choose(
                f"gpu: {found.first} has {has} {maker.resource} and offers {offers}. Repair it and "
                "count it in the pool of its like, or state the GPUs that it keeps"
            )


def _selected(kind: Kind) -> Iterator[str]:
    """Yield the labels by which the site's flavor selects the nodes, or that they need one."""
    if kind.labels:
        pairs = ", ".join(f"{inline(key)}: {inline(str(kind.labels[key]))}" for key in kind.labels)
        flavors = ", ".join(kind.flavors)
        yield said(f"labels: {{{pairs}}}", f"spec.nodeLabels of ResourceFlavor {flavors}")
        if kind.is_part:
            yield choose(
                "labels: the flavor selects nodes of other types too; add a label that only the "
                "nodes of this pool have"
            )
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
