"""Objects that the tests applied to a control plane, and their removal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from trainyard.golang import cache_folder
from trainyard_rehearsal.checks.jobs import TRAINER, conditions
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.refusal import Refused

KUEUE = "kueue.x-k8s.io/"
_PATIENCE = 120.0
"""Seconds for what takes a few, since a busy machine is not a failure."""
_KEPT = "Namespace"
"""A kind that is deleted slowly and disturbs no later test."""
_JOBS = {"TrainJob": TRAINER, "Workload": f"{KUEUE}v1beta2", "Pod": "v1"}

Identity = tuple[str, str, str, str]
"""``apiVersion``, kind, namespace and name."""


@dataclass(slots=True, eq=False)
class AppliedObjects:
    """A control plane, and the objects that were applied to it.

    Args:
        applied: each object as it was last applied.
    """

    lab: Lab
    applied: dict[Identity, Body] = field(default_factory=dict, kw_only=True)

    @property
    def api(self) -> Api:
        """The API as the administrator sees it."""
        return self.lab.api

    def log(self, program: str) -> str:
        """Return what a program has logged."""
        return (cache_folder() / "run/logs" / f"{program}.log").read_text(encoding="utf-8")

    def until(self, ready: Callable[[], bool], seconds: float = _PATIENCE) -> bool:
        """Wait for a condition; return whether it came true in time."""
        return self.lab.processes.waited(ready, seconds)

    def pass_a_second(self) -> None:
        """Let a second pass: Kueue compares whole seconds, and picks any of equal ones."""
        self.until(lambda: False, 1)

    def clear(self, wanted: Mapping[Identity, Body]) -> None:
        """Delete every job, every queue, and each applied object that differs from a wanted one."""
        self.delete_jobs()
        doomed = _doomed(self.applied, wanted)
        for identity in reversed(doomed):
            del self.applied[identity]
            self.delete(*identity)
        gone = [partial(self.is_gone, *identity) for identity in doomed]
        assert self.until(lambda: all(each() for each in gone)), [
            each for each in doomed if not self.is_gone(*each)
        ]
        self.delete_used_volumes()

    def delete_jobs(self) -> None:
        for kind, version in _JOBS.items():
            if kind != "Workload":
                for body in self.api.list(version, kind):
                    self.delete(*identity_of(body))
            assert self.until(partial(self._is_empty, version, kind)), kind

    def _is_empty(self, version: str, kind: str) -> bool:
        return not self.api.list(version, kind)

    def delete_used_volumes(self) -> None:
        """Delete each volume whose claim is gone.

        Kubernetes binds no other claim to such a volume, not even one of the same name.
        """
        claims = {each["metadata"]["uid"] for each in self.api.list("v1", "PersistentVolumeClaim")}
        used = [
            identity_of(each)
            for each in self.api.list("v1", "PersistentVolume")
            if each["spec"].get("claimRef", {}).get("uid", "") not in {"", *claims}
        ]
        for identity in used:
            self.applied.pop(identity, None)
            self.delete(*identity)
        assert self.until(lambda: all(self.is_gone(*each) for each in used)), used

    def forget(self, kind: str, name: str) -> None:
        """Delete an applied object, so that the next tree applies it again."""
        ((identity, body),) = (
            each for each in self.applied.items() if (each[0][1], each[0][3]) == (kind, name)
        )
        self.applied[identity] = {"kind": body["kind"]}
        self.delete(*identity)

    def delete(self, version: str, kind: str, namespace: str, name: str) -> None:
        """Delete an object, if it exists."""
        metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
        try:
            self.api.delete({"apiVersion": version, "kind": kind, "metadata": metadata})
        except Refused as refused:
            if refused.status != 404:
                raise

    def is_gone(self, version: str, kind: str, namespace: str, name: str) -> bool:
        """Return whether an object does not exist."""
        return not self.api.find(version, kind, name, namespace)


def _doomed(applied: Mapping[Identity, Body], wanted: Mapping[Identity, Body]) -> list[Identity]:
    """Return the applied objects that must go before the wanted ones come."""
    doomed = {
        identity
        for identity, body in applied.items()
        if body != wanted.get(identity) or identity[0].startswith(KUEUE)
    }
    volumes = {name for _, kind, _, name in doomed if kind == "PersistentVolume"}
    # Kubernetes keeps a volume that has a claim.
    claims = {
        identity
        for identity, body in applied.items()
        if identity[1] == "PersistentVolumeClaim" and body["spec"].get("volumeName") in volumes
    }
    return [each for each in applied if each in doomed | claims and each[1] != _KEPT]


def identity_of(body: Body) -> Identity:
    """Return ``apiVersion``, kind, namespace and name of an object."""
    metadata = body["metadata"]
    return body["apiVersion"], body["kind"], metadata.get("namespace", ""), metadata["name"]


def messages(body: Body) -> str:
    """Return the messages of an object's conditions, separated by semicolons."""
    return "; ".join(str(each.get("message", "")) for each in conditions(body))
