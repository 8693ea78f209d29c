"""Check that ClusterQueues and LocalQueues are active."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from trainyard.diagnostics import Pointer
from trainyard.model.tenant import Tenant
from trainyard_rehearsal.checks.jobs import KUEUE, conditions
from trainyard_rehearsal.control_plane.api import Api
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.refusal import Refused
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_PATIENCE = 120.0
"""Seconds to wait for what controllers do in less than five."""


class _Queue(NamedTuple):
    """A queue of Kueue.

    Args:
        namespace: empty for a ClusterQueue.
        at: the team's place in the profile.
    """

    kind: str
    name: str
    namespace: str
    at: Pointer

    @property
    def display(self) -> str:
        """The kind and the name, for messages."""
        path = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {path}"


def check_queues(lab: Lab) -> Iterator[Outcome]:
    """Wait until the queues of active teams are active.

    Args:
        lab: with the tree applied.
    """
    tenants = [tenant for tenant in lab.plan.site.tenants if tenant.team.state == "active"]
    wanted = {
        "cluster queues active": list(_cluster_queues(tenants)),
        "local queues active": list(_local_queues(tenants)),
    }
    every = [queue for queues in wanted.values() for queue in queues]
    inactive = dict(lab.processes.left(partial(_inactive, lab.api, every), _PATIENCE))
    for promise, queues in wanted.items():
        failures = [
            Failure(queue.display, inactive[queue], queue.at)
            for queue in queues
            if queue in inactive
        ]
        yield counted(promise, len(queues), failures)


def _cluster_queues(tenants: Sequence[Tenant]) -> Iterator[_Queue]:
    for tenant in tenants:
        for queue in tenant.queues:
            yield _Queue("ClusterQueue", queue.name, "", tenant.team.at)


def _local_queues(tenants: Sequence[Tenant]) -> Iterator[_Queue]:
    for tenant in tenants:
        for space in tenant.spaces:
            for local in space.local_queues:
                yield _Queue("LocalQueue", local.name, space.namespace, tenant.team.at)


def _inactive(api: Api, queues: Sequence[_Queue]) -> Iterator[tuple[_Queue, str]]:
    """Yield each queue that is not active, and why."""
    for queue in queues:
        if reason := _reason(api, queue):
            yield queue, reason


def _reason(api: Api, queue: _Queue) -> str:
    try:
        found = conditions(api.get(KUEUE, queue.kind, queue.name, queue.namespace))
    except Refused as refused:
        return str(refused)
    active = next((each for each in found if each["type"] == "Active"), {})
    if active.get("status") == "True":
        return ""
    return f"{active['reason']}: {active['message']}" if active else "no condition Active"
