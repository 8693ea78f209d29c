"""Group nodes into pools: by the flavors that select them, then by what they have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from trainyard.adoption.model import Kind, Mark, Remark
from trainyard.adoption.wording import fit
from trainyard.model.accelerator import MAKERS, SLICED
from trainyard.model.facts import Body, Facts, labels_of, named, place_of
from trainyard.model.lookup import mapping, text
from trainyard.model.quantity import counted, format_bytes
from trainyard.model.readable import FLAVORS, NODES
from trainyard.scaffold.nodes import amount, label, measured

_PRODUCTS = [maker.label or f"{maker.resource}.product-name" for maker in MAKERS]
_GPUS = [maker.resource for maker in MAKERS]
_SIZES = ("memory", "ephemeral-storage")
_TOLERANCE = 50
"""Nodes of one type differ in memory and disk by what firmware and file systems keep: by less than
one part in 50."""
_MIG = "nvidia.com/mig-"


@dataclass(frozen=True, slots=True)
class Grouped:
    """The nodes of a cluster in pools.

    Args:
        flavors: pools by the flavor that selects their nodes; several where its nodes differ.
        open: what is left to choose about them.
    """

    kinds: tuple[Kind, ...]
    flavors: dict[str, tuple[str, ...]]
    open: tuple[str, ...]
    remarks: tuple[Remark, ...]


def grouped(facts: Facts) -> Grouped:
    """Return the nodes of a cluster in pools.

    Raises:
        TreeError: there is no node, or an amount of one is not a quantity.
    """
    bodies = [dict(node) for node in facts.of(NODES)]
    nodes = sorted(measured("the dump", bodies).nodes, key=place_of)
    flavors = sorted(facts.of(FLAVORS), key=place_of)
    selected = {place_of(each)[1]: _selected(each, nodes) for each in flavors}
    taken = frozenset[str]().union(*selected.values())
    left = [node for node in nodes if place_of(node)[1] not in taken]
    kinds = [*_of_flavors(flavors, selected, named(nodes))]
    kinds += _of_products(left, {kind.name for kind in kinds})
    kinds.sort(key=lambda kind: kind.name)
    problems = [*_overlaps(selected), *_empty(flavors, selected)]
    remarks = (*_left_out(left), *_uneven(kinds))
    return Grouped(tuple(kinds), _by_flavor(flavors, kinds), tuple(problems), remarks)


def _by_flavor(flavors: Sequence[Body], kinds: Sequence[Kind]) -> dict[str, tuple[str, ...]]:
    """Return the pools that each flavor means."""
    found = {}
    for name in named(flavors):
        own = tuple(kind.name for kind in kinds if name in kind.flavors)
        found[name] = own if _labels(flavors, name) else _any_of(kinds)
    return found


def _any_of(kinds: Sequence[Kind]) -> tuple[str, ...]:
    """Return the pools that a flavor without labels may mean: those with GPUs, if there are any."""
    of_gpus = tuple(kind.name for kind in kinds if has_gpus(kind))
    return of_gpus or tuple(kind.name for kind in kinds)


def _labels(flavors: Sequence[Body], name: str) -> dict[str, str]:
    return mapping(dict(named(flavors)[name]), "spec", "nodeLabels")


def _empty(flavors: Sequence[Body], selected: Mapping[str, frozenset[str]]) -> Iterator[str]:
    for name, nodes in selected.items():
        if not nodes and _labels(flavors, name):
            yield f"pools: the labels of ResourceFlavor {name} select no node of the dump"


def has_gpus(kind: Kind) -> bool:
    """Return whether nodes have GPUs, or parts of them."""
    names = mapping(dict(kind.nodes[0]), "status", "capacity")
    return any(name in _GPUS or name.startswith(_MIG) for name in names)


def _selected(flavor: Body, nodes: Sequence[Body]) -> frozenset[str]:
    """Return the names of the nodes that the labels of a flavor select; none without labels."""
    labels = mapping(dict(flavor), "spec", "nodeLabels").items()
    found = (node for node in nodes if labels and labels <= labels_of(node).items())
    return frozenset(place_of(node)[1] for node in found)


def _overlaps(selected: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """Yield the flavors that share some nodes and not all: their quota is on the same nodes."""
    for (one, first), (other, second) in combinations(sorted(selected.items()), 2):
        common = sorted(first & second)
        if common and first != second:
            yield (
                f"pools: ResourceFlavors {one} and {other} both select "
                f"{counted(len(common), 'node')}, such as {common[0]}: one pool has it"
            )


def _of_flavors(
    flavors: Sequence[Body],
    selected: Mapping[str, frozenset[str]],
    nodes: Mapping[str, Body],
) -> Iterator[Kind]:
    """Yield a pool for each set of nodes that flavors select; a node is in one pool."""
    taken: set[str] = set()
    names: set[str] = set()
    # The flavor with the fewest nodes is the most specific one.
    for flavor in sorted(flavors, key=lambda each: len(selected[place_of(each)[1]])):
        name = place_of(flavor)[1]
        own = sorted(selected[name] - taken)
        taken |= selected[name]
        same = tuple(sorted(each for each in selected if selected[each] == selected[name]))
        labels = mapping(dict(flavor), "spec", "nodeLabels")
        topology = text(flavor, "spec", "topologyName")
        groups = _alike([nodes[each] for each in own])
        for group in groups:
            pool = fit(name, "pool", names)
            names.add(pool)
            kind = Kind(pool, tuple(group), same, labels, topology, is_part=len(groups) > 1)
            yield _refused(kind)


def _of_products(nodes: Sequence[Body], taken: set[str]) -> Iterator[Kind]:
    """Yield a pool for the nodes with GPUs that no flavor selects."""
    names = set(taken)
    for group in _alike(nodes):
        found = Kind("", tuple(group))
        if has_gpus(found):
            name = fit(_product(group[0]).removeprefix("NVIDIA-") or "gpu", "pool", names)
            names.add(name)
            yield _refused(replace(found, name=name))


def _alike(nodes: Sequence[Body]) -> list[list[Body]]:
    """Return nodes of one type together, in the order of their names."""
    groups: list[list[Body]] = []
    for node in nodes:
        for group in groups:
            if _is_alike(node, group[0]):
                group.append(node)
                break
        else:
            groups.append([node])
    return groups


def _is_alike(one: Body, other: Body) -> bool:
    if _type(one) != _type(other):
        return False
    pairs = (
        (amount(dict(one), group, size), amount(dict(other), group, size))
        for group in ("capacity", "allocatable")
        for size in _SIZES
    )
    return all(abs(a - b) * _TOLERANCE <= max(a, b) for a, b in pairs)


def _type(node: Body) -> tuple[object, ...]:
    """Return what nodes of one type have alike: all but memory and disk."""
    allocatable = mapping(dict(node), "status", "allocatable")
    fixed = {name: str(value) for name, value in allocatable.items() if name not in _SIZES}
    threads = "feature.node.kubernetes.io/cpu-hardware_multithreading"
    architecture = text(node, "status", "nodeInfo", "architecture")
    return (
        _product(node),
        architecture,
        amount(dict(node), "capacity", "cpu"),
        label(dict(node), threads),
        *(amount(dict(node), "capacity", resource) for resource in _GPUS),
        *sorted(fixed.items()),
    )


def _product(node: Body) -> str:
    return next(filter(None, (label(dict(node), key) for key in _PRODUCTS)), "")


def _refused(kind: Kind) -> Kind:
    """Return a pool with the reason why no profile can have it."""
    node = dict(kind.nodes[0])
    parts = [name for name in mapping(node, "status", "allocatable") if name.startswith(_MIG)]
    if SLICED.search(_product(node)) or parts:
        what = ", ".join(sorted(parts)) or _product(node)
        return replace(kind, refusal=f"GPUs are cut or shared ({what}): quota counts whole GPUs")
    return kind


def _uneven(kinds: Sequence[Kind]) -> Iterator[Remark]:
    """Yield the pools whose nodes differ a little: what the smallest of them has counts."""
    for kind in kinds:
        for group in ("capacity", "allocatable"):
            for resource in _SIZES:
                amounts = {amount(dict(node), group, resource) for node in kind.nodes}
                if len(amounts) > 1:
                    least, most = (format_bytes(each) for each in (min(amounts), max(amounts)))
                    why = f"{group} of {resource} is {least} to {most}: the least counts"
                    yield Remark(Mark.CHANGED, f"pool {kind.name}", why)


def _left_out(nodes: Sequence[Body]) -> Iterator[Remark]:
    """Yield the nodes without GPUs that no flavor selects."""
    plain = [place_of(node)[1] for node in nodes if not has_gpus(Kind("", (node,)))]
    if plain:
        shown = ", ".join(plain[:5]) + (" ..." if len(plain) > len(plain[:5]) else "")
        yield Remark(
            Mark.KEPT,
            f"{counted(len(plain), 'node')} without GPUs",
            f"no flavor selects them, so no pool has them: {shown}",
        )
