"""List the objects of a dump that nothing else of an import names: they stay as they are."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from trainyard.adoption.model import Adoption, Mark, Remark
from trainyard.model.facts import Body, place_of
from trainyard.model.lookup import mappings, text

_PASSED = frozenset(
    {
        "ControllerRevision",
        "CustomResourceDefinition",
        "Endpoints",
        "EndpointSlice",
        "Event",
        "Lease",
        "Node",
        "Pod",
        "ReplicaSet",
        "Secret",
        "Workload",
    }
)
"""Kinds that the tables count, that controllers make, or of which not even names are kept."""
_OF_SYSTEM = ("kube-", "openshift-", "system:")
"""Begin namespaces and names of Kubernetes and OpenShift itself."""
_NAMED = re.compile(r"\b([A-Z][A-Za-z0-9]+)[ /]((?:[A-Za-z0-9_.-]+/)?[A-Za-z0-9][A-Za-z0-9.:_-]*)")
_VOLUME = re.compile(r"\bvolume:? ([a-z0-9][a-z0-9.-]*)")


def untold(adoption: Adoption, bodies: Iterable[Body]) -> Iterator[Remark]:
    """Yield the objects that no draft, row or remark names, those of a kind together."""
    told = set(_told(adoption))
    counting = list(filter(_counts, bodies))
    numbers = Counter(_key(body, place_of(body)[1]) for body in counting)
    found: dict[str, set[str]] = defaultdict(set)
    for body in counting:
        short, name = place_of(body)[1], "/".join(filter(None, place_of(body)))
        # A name without its namespace is clear where one object of the kind has it.
        is_told = numbers[_key(body, short)] == 1 and _key(body, short) in told
        if not is_told and _key(body, name) not in told:
            found[text(dict(body), "kind")].add(name)
    for kind, names in found.items():
        listed = ", ".join(sorted(names))
        why = f"{listed}: stays as it is; the tree has nothing of this name"
        yield Remark(Mark.KEPT, kind, why)


def _key(body: Body, name: str) -> tuple[str, str]:
    return text(dict(body), "kind"), name


def _counts(body: Body) -> bool:
    """Return whether somebody may ask what becomes of an object."""
    places = place_of(body)
    owners = mappings(dict(body), "metadata", "ownerReferences")
    is_made = any(owner.get("controller") for owner in owners)
    is_system = any(place.startswith(_OF_SYSTEM) for place in places)
    return text(dict(body), "kind") not in _PASSED and not is_made and not is_system


def _told(adoption: Adoption) -> Iterator[tuple[str, str]]:
    """Yield kind and name of what the page and the drafts name."""
    parts = [content.decode() for content in adoption.files.values()]
    parts += [f"{each.part}: {each.text}" for each in adoption.remarks]
    parts += [f"{row.resource.capitalize()} {row.was}" for row in adoption.rows]
    parts += [f"{row.resource} {row.was}" for row in adoption.rows]
    every = "\n".join([*parts, *adoption.sums])
    yield from ((kind, name.rstrip(".:")) for kind, name in _NAMED.findall(every))
    yield from (("PersistentVolume", name.rstrip(".")) for name in _VOLUME.findall(every))
