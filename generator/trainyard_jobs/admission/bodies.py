"""What an object of a dump is: its names, its controller, and whether it starts again."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from trainyard.model.lookup import mapping, mappings, text
from trainyard_jobs.admission import operated
from trainyard_jobs.admission.operated import JOB_SET, TRAIN_JOB

Body = dict[str, Any]

_FINISHED: Final = frozenset({"Failed", "Succeeded"})
"""Phases of pods that have ended."""


class Owner(NamedTuple):
    """What makes an object again: namespace, kind and name."""

    namespace: str
    kind: str
    name: str

    @property
    def words(self) -> tuple[str, str]:
        """Namespace and owner, as a list of known refusals has them."""
        return self.namespace, f"{self.kind}/{self.name}"


def owner_of(body: Body) -> Owner:
    """Return an object's own namespace, kind and name."""
    metadata = mapping(body, "metadata")
    return Owner(text(metadata, "namespace"), text(body, "kind"), text(metadata, "name"))


def controller_of(body: Body) -> Owner:
    """Return the controller of an object; one without kind where it has none."""
    namespace = text(body, "metadata", "namespace")
    for each in mappings(body, "metadata", "ownerReferences"):
        if each.get("controller") is True:
            return Owner(namespace, text(each, "kind"), text(each, "name"))
    return Owner(namespace, "", "")


def is_over(body: Body) -> bool:
    """Return whether a job makes no more pods, or a pod has ended."""
    kind = text(body, "kind")
    if kind == "Pod":
        return text(body, "status", "phase") in _FINISHED
    return kind in {"Job", TRAIN_JOB, *operated.KINDS} and operated.is_over(body)


def has_started(body: Body) -> bool:
    """Return whether an object is a TrainJob that Kueue admitted: it then writes into its spec."""
    return text(body, "kind") == TRAIN_JOB and mapping(body, "spec").get("suspend") is not True


def is_trainers(body: Body) -> bool:
    """Return whether an object is a JobSet that Trainer makes, which no policy refuses."""
    return text(body, "kind") == JOB_SET and controller_of(body).kind == TRAIN_JOB
