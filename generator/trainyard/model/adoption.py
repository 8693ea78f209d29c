"""What a tree spares of the workloads that were there before it, until a day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard.diagnostics import Pointer

_ACTIONS: Final = {"audit": ("Audit",), "warn": ("Warn", "Audit"), "deny": ("Deny",)}
"""Actions of a binding; Kubernetes lets Warn and Deny not stand together
(kubernetes/kubernetes:staging/src/k8s.io/api/admissionregistration/v1/types.go@v1.36.3)."""


def adopted_name(body: Mapping[str, Any]) -> str:
    """Return an object as a profile names it, e.g. ``Cohort/research``."""
    metadata = body.get("metadata") or {}
    parts = (body.get("kind"), metadata.get("namespace"), metadata.get("name"))
    return "/".join(str(part) for part in parts if part)


@dataclass(frozen=True, slots=True)
class Adoption:
    """What is spared of the workloads that were there.

    Args:
        at: its place in the cluster's profile.
        pods: ``audit``, ``warn`` or ``deny``: what becomes of pods and namespaces of others that
            the two policies without a selector refuse.
        keeps_queues: whether Kueue still manages the jobs of all namespaces, as by its own default.
        until: ISO date of the last day; empty where nothing is spared.
        reason: why.
        objects: of the tree that others made, as ``Kind/name`` or ``Kind/namespace/name``, sorted.
    """

    at: Pointer
    pods: str = "deny"
    keeps_queues: bool = False
    until: str = ""
    reason: str = ""
    objects: tuple[str, ...] = ()

    def takes(self, body: Mapping[str, Any]) -> bool:
        """Return whether an object of the tree is one that others made."""
        return bool(self.objects) and adopted_name(body) in self.objects

    @property
    def refuses(self) -> bool:
        """Whether admission refuses what others may not do."""
        return self.pods == "deny"

    @property
    def actions(self) -> tuple[str, ...]:
        """Actions of the bindings of the two policies."""
        return _ACTIONS[self.pods]


@dataclass(frozen=True, slots=True)
class Firmness:
    """How bindings of a policy hold a team to it.

    Args:
        missing: what becomes of a request while the policy's parameters are not there. With
            ``Deny`` it is refused, whatever the actions are
            (k8s.io/apiserver:pkg/admission/plugin/policy/generic/policy_dispatcher.go@v0.36.3).
    """

    actions: tuple[str, ...]
    missing: str


ENFORCED: Final = Firmness(_ACTIONS["deny"], "Deny")
_FIRMNESS: Final = {
    "observe": Firmness(_ACTIONS["audit"], "Allow"),
    "warn": Firmness(_ACTIONS["warn"], "Allow"),
    "enforce": ENFORCED,
}


@dataclass(frozen=True, slots=True)
class Stage:
    """How far a team is held to the platform's rules.

    Args:
        at: the key in the team's profile.
        word: ``observe``, ``warn`` or ``enforce``.
        until: ISO date of the last day; empty for ``enforce``.
        reason: why.
    """

    at: Pointer
    word: str = "enforce"
    until: str = ""
    reason: str = ""

    @property
    def enforces(self) -> bool:
        """Whether the team is held to all rules, and so is isolated."""
        return self.word == "enforce"

    @property
    def observes(self) -> bool:
        """Whether nothing is refused, and no job of the team's queues starts."""
        return self.word == "observe"

    @property
    def usual(self) -> Firmness:
        """How policies hold that protect the team and the order in its namespaces."""
        return _FIRMNESS[self.word]

    @property
    def of_nodes(self) -> Firmness:
        """How policies hold that decide which pods get the pools' nodes, which others use too.

        They hold as soon as the team's queues admit jobs.
        """
        return self.usual if self.observes else ENFORCED
