"""Network paths that a change opens or closes, as `diff` says and as the server's policies do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from tests.e2e import reality_said as said_by
from tests.e2e import reality_seen as seen_on
from tests.e2e.reality_said import Object
from tests.e2e.reality_seen import Seen
from trainyard.change.impact.model import ClusterImpact
from trainyard.change.impact.policies import EGRESS, INGRESS
from trainyard.model.names import MPI_JOB_LABEL
from trainyard_rehearsal.control_plane.api import Body

Facts = dict[tuple[object, ...], bool]
"""A path -> whether it is opened; it is closed else."""

_ADDRESSES = ("198.51.100.1", "198.51.100.65", "192.0.2.1", "203.0.113.1", "203.0.113.9", "8.8.8.8")
_SPACES = (
    "kube-system",
    "mlflow",
    "monitoring",
    "openshift-dns",
    "openshift-ingress",
    "openshift-monitoring",
    "redhat-ods-applications",
    "team-audio",
)


def rails(
    impact: ClusterImpact, before: Mapping[Object, Seen], after: Mapping[Object, Seen]
) -> tuple[Facts, Facts]:
    """Return the rails that namespaces are said to gain or lose, and those that they do."""
    old, new = seen_on.segments(before), seen_on.segments(after)
    return dict(said_by.segments(impact)), {each: each in new for each in old ^ new}


def paths(
    impact: ClusterImpact, before: Mapping[Object, Seen], after: Mapping[Object, Seen]
) -> Iterator[tuple[Facts, Facts]]:
    """Yield the paths of each team's namespace that are said to change, and those that do."""
    old, new = seen_on.policies(before), seen_on.policies(after)
    for namespace in sorted(old.keys() | new.keys()):
        if namespace.startswith("team-"):
            yield _in(namespace, impact, old.get(namespace), new.get(namespace))


def _in(
    namespace: str,
    impact: ClusterImpact,
    old: list[Body] | None,
    new: list[Body] | None,
) -> tuple[Facts, Facts]:
    spaces = {*_SPACES, namespace} if old != new else ()
    addresses = _ADDRESSES if old != new else ()
    every = tuple(seen_on.paths(spaces, addresses, mpi=MPI_JOB_LABEL in str((old, new))))
    was, now = (
        set() if specs is None else seen_on.open_paths(specs, namespace, every)
        for specs in (old, new)
    )
    said: Facts = {}
    happened: Facts = {}
    for direction, (number, path) in product((INGRESS, EGRESS), enumerate(every)):
        key, fact = (namespace, direction, str(path)), (direction, number)
        opened = said_by.is_opened(impact, namespace, direction, path)
        if opened is not None:
            said[key] = opened
        if (fact in was) != (fact in now):
            happened[key] = fact in now
    return said, happened
