"""Names of LocalQueues that the teams of a site keep."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainyard.adoption.model import Crew
from trainyard.adoption.queues import cells_of
from trainyard.adoption.quota import Site
from trainyard.adoption.wording import choose
from trainyard.model import names
from trainyard.model.facts import Body, place_of
from trainyard.yaml_io.scalars import inline

_NAME = re.compile(r"(?=.{1,63}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
"""What a profile may give; a job's label has at most 63 characters."""


def classes_by_queue(crew: Crew, site: Site) -> dict[str, list[str]]:
    """Return the classes of node that each ClusterQueue of a team has quota on."""
    return {place_of(queue)[1]: _classes(queue, site) for queue in crew.queues}


def _classes(queue: Body, site: Site) -> list[str]:
    pools = (site.pool_of(cell) for cell in cells_of(queue))
    return sorted({"cpu" if pool.counted == "cpu" else "gpu" for pool in pools if pool})


def can_stay(name: str) -> bool:
    """Return whether a profile can give a LocalQueue a name."""
    return _NAME.fullmatch(name) is not None and not names.is_reserved_queue(name)


def _kept(crew: Crew, site: Site, namespace: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each name that a namespace keeps, with the classes of node of its queue."""
    classes = classes_by_queue(crew, site)
    for place, name, of in crew.local:
        if place == namespace and can_stay(name) and classes[of]:
            yield name, classes[of]


def _by_class(crew: Crew, site: Site, namespace: str) -> dict[str, list[str]]:
    """Return the names that a namespace keeps, by the one class of node of their queue."""
    found: dict[str, list[str]] = {}
    for name, classes in _kept(crew, site, namespace):
        if len(classes) == 1:
            found.setdefault(classes[0], []).append(name)
    return dict(sorted(found.items()))


def stated(crew: Crew, site: Site, namespace: str) -> str:
    """Return the key with the names of a namespace; empty where it needs none."""
    own = _by_class(crew, site, crew.namespaces[0])
    here = _by_class(crew, site, namespace)
    is_first = namespace == crew.namespaces[0]
    return f"queues: {_value(here)}" if here != ({} if is_first else own) else ""


def _value(by_class: Mapping[str, list[str]]) -> str:
    parts = (f"{key}: [{', '.join(map(inline, each))}]" for key, each in by_class.items())
    return f"{{{', '.join(parts)}}}"


def undecided(crew: Crew, site: Site, namespace: str) -> Iterator[str]:
    """Yield the choice of each name whose queue has several classes of node."""
    space = crew.spaces[namespace]
    key = f"spaces.{space}.queues" if space else "queues"
    for name, classes in _kept(crew, site, namespace):
        if len(classes) > 1:
            ways = " or ".join(f"{{{each}: [{name}]}}" for each in classes)
            yield choose(f"{key}: {ways}; LocalQueue {name} leads to both, and will lead to one")
