"""Find the teams of a site: namespaces that share ClusterQueues, or have a ResourceQuota."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from trainyard.adoption.amounts import read_amount
from trainyard.adoption.model import Cell, Crew, Mark, Remark
from trainyard.adoption.wording import fit
from trainyard.model.accelerator import MAKERS
from trainyard.model.facts import Body, Facts, place_of
from trainyard.model.importable import QUOTAS
from trainyard.model.lookup import mapping, mappings, text
from trainyard.model.names import TEAM_PREFIX
from trainyard.model.readable import CLUSTER_QUEUES, LOCAL_QUEUES

REQUESTS = "requests."
_LIMITED = frozenset({"cpu", "memory", *(maker.resource for maker in MAKERS)})
"""Resources of a ResourceQuota that are a quota of nodes."""
_GPUS = frozenset(maker.resource for maker in MAKERS)


def crews(facts: Facts) -> tuple[Crew, ...]:
    """Return the teams of a site, by name.

    Raises:
        TreeError: an amount is not a quantity.
    """
    queues = {place_of(body)[1]: body for body in facts.of(CLUSTER_QUEUES)}
    found = [*_of_queues(facts, queues)]
    found += _of_quotas(facts, {each for crew in found for each in crew.namespaces})
    taken: set[str] = set()
    named = []
    for crew in sorted(found, key=lambda each: each.namespaces):
        name = fit(crew.name, "team", taken)
        taken.add(name)
        named.append(replace(crew, name=name))
    return tuple(sorted(named, key=lambda each: each.name))


def unused(facts: Facts) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    """Yield each ClusterQueue without a LocalQueue, with what it has: no namespace can use it."""
    used = {text(body, "spec", "clusterQueue") for body in facts.of(LOCAL_QUEUES)}
    for body in sorted(facts.of(CLUSTER_QUEUES), key=place_of):
        if place_of(body)[1] not in used:
            yield place_of(body)[1], tuple(cells_of(body))


def dangling(facts: Facts) -> Iterator[Remark]:
    """Yield each LocalQueue whose ClusterQueue is not in the dump."""
    known = {place_of(body)[1] for body in facts.of(CLUSTER_QUEUES)}
    for body in sorted(facts.of(LOCAL_QUEUES), key=place_of):
        if (queue := text(body, "spec", "clusterQueue")) not in known:
            part = f"LocalQueue {'/'.join(place_of(body))}"
            yield Remark(Mark.REFUSED, part, f"the dump has no ClusterQueue {queue}")


def cohort_of(body: Body) -> str:
    """Return the cohort of a ClusterQueue; v1beta1 has another name for it than v1beta2."""
    return text(body, "spec", "cohortName") or text(body, "spec", "cohort")


def cells_of(body: Body) -> Iterator[Cell]:
    """Yield what a ClusterQueue, or a Cohort, has of each resource of each flavor.

    Raises:
        TreeError: an amount is not a quantity.
    """
    part = f"{body['kind']} {place_of(body)[1]}"
    for group in mappings(dict(body), "spec", "resourceGroups"):
        for flavor in mappings(group, "flavors"):
            for each in mappings(flavor, "resources"):
                yield _cell(part, text(flavor, "name"), each)


def _cell(part: str, flavor: str, fields: Mapping[str, object]) -> Cell:
    resource = text(dict(fields), "name")

    def amount(key: str) -> int | None:
        return read_amount(resource, fields[key], part) if key in fields else None

    nominal = amount("nominalQuota") or 0
    return Cell(part, flavor, resource, nominal, amount("borrowingLimit"), amount("lendingLimit"))


def _of_queues(facts: Facts, queues: Mapping[str, Body]) -> Iterator[Crew]:
    """Yield a team for all namespaces that share ClusterQueues, directly or by another one."""
    bodies = sorted(facts.of(LOCAL_QUEUES), key=place_of)
    every = [(*place_of(body), text(body, "spec", "clusterQueue")) for body in bodies]
    local = [each for each in every if each[2] in queues]
    for namespaces in _connected(local):
        own = tuple(each for each in local if each[0] in namespaces)
        yield _crew(namespaces, queues, own)


def _connected(local: Sequence[tuple[str, str, str]]) -> list[set[str]]:
    """Return namespaces in sets that share no ClusterQueue."""
    sets: list[tuple[set[str], set[str]]] = []
    for namespace, _, queue in local:
        namespaces, queues, others = {namespace}, {queue}, []
        for one in sets:
            if namespace in one[0] or queue in one[1]:
                namespaces |= one[0]
                queues |= one[1]
            else:
                others.append(one)
        sets = [*others, (namespaces, queues)]
    return [namespaces for namespaces, _ in sets]


def _crew(
    namespaces: set[str], known: Mapping[str, Body], local: tuple[tuple[str, str, str], ...]
) -> Crew:
    ordered = _ordered(namespaces)
    queues = [known[name] for name in sorted({queue for _, _, queue in local})]
    stopped = {text(body, "spec", "stopPolicy") or "None" for body in queues}
    cohorts = sorted({cohort_of(body) for body in queues} - {""})
    return Crew(
        name=_name(ordered, queues),
        spaces=_spaces(ordered),
        queues=tuple(queues),
        cells=tuple(chain.from_iterable(map(cells_of, queues))),
        cohort=next(iter(cohorts), ""),
        local=local,
        held="None" not in stopped,
    )


def _name(ordered: Sequence[str], queues: Sequence[Body]) -> str:
    """Return the name of a team: what its namespaces have in common, or else of its queue."""
    first = ordered[0]
    if all(each.startswith(first) for each in ordered):
        return first.removeprefix(TEAM_PREFIX)
    return place_of(queues[0])[1]


def _ordered(namespaces: set[str]) -> tuple[str, ...]:
    """Return namespaces, the one whose name begins the others' first."""
    return tuple(sorted(namespaces, key=lambda each: (len(each), each)))


def _spaces(ordered: Sequence[str]) -> dict[str, str]:
    """Return the name of each namespace's space; the first is the team's own."""
    first, *others = ordered
    found = {first: ""}
    for namespace in others:
        name = namespace.removeprefix(f"{first}-").removeprefix(TEAM_PREFIX)
        found[namespace] = fit(name, "space", set(found.values()))
    return found


def _of_quotas(facts: Facts, queued: set[str]) -> Iterator[Crew]:
    """Yield a team for each namespace whose ResourceQuota has GPUs, and that has no queue."""
    by_namespace: dict[str, list[Cell]] = {}
    for body in sorted(facts.of(QUOTAS), key=place_of):
        by_namespace.setdefault(place_of(body)[0], []).extend(_hard(body))
    for namespace, cells in by_namespace.items():
        if namespace not in queued and any(cell.resource in _GPUS for cell in cells):
            yield Crew(namespace.removeprefix(TEAM_PREFIX), {namespace: ""}, (), tuple(cells))


def _hard(body: Body) -> Iterator[Cell]:
    """Yield what a ResourceQuota has of nodes."""
    part = f"ResourceQuota {'/'.join(place_of(body))}"
    for key, value in sorted(mapping(dict(body), "spec", "hard").items()):
        resource = key.removeprefix(REQUESTS)
        if key.startswith(REQUESTS) and resource in _LIMITED:
            yield Cell(part, "", resource, read_amount(resource, value, part))
