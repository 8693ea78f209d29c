"""What a site has in a team's namespaces, and what a cut-over does with it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from trainyard.model.differences import few
from trainyard.model.tenant import Tenant

_LEFT = "rolebindings,resourcequotas,limitranges,networkpolicies,persistentvolumeclaims"
_NOT_OURS = "app.kubernetes.io/managed-by!=trainyard"


@dataclass(frozen=True, slots=True)
class OldQueues:
    """Queues of the site that a team had, as an import noted them.

    Args:
        cluster: names of ClusterQueues.
        local: LocalQueues as ``namespace/name``.
    """

    cluster: frozenset[str] = frozenset()
    local: frozenset[str] = frozenset()


def old_local_queues(tenant: Tenant, old: OldQueues) -> list[str]:
    """Return LocalQueues of the site in a team's namespaces: names it keeps, and those noted."""
    kept = {f"{space.namespace}/{q.name}" for space in tenant.spaces for q in space.profile.queues}
    noted = (each for each in old.local if each.partition("/")[0] in tenant.namespaces)
    return sorted({*kept, *noted})


def deleted(queues: Collection[str]) -> str:
    """Return the step in which LocalQueues go: none can be led to another ClusterQueue.

    A job that waits in one whose name the team keeps is admitted when the new one is there. Unless
    it keeps the tree's rules, it then holds quota without a pod.
    """
    if not queues:
        return ""
    return (
        f"save and delete LocalQueue {few(queues)} and its jobs that wait and must change "
        "(submit these again afterwards), "
    )


def saved(queue: str) -> str:
    """Return the command that saves a LocalQueue as one that can be created again."""
    namespace, _, name = queue.partition("/")
    return (
        f"save: kubectl get localqueue {name} --namespace {namespace} --output yaml | "
        f"grep -vE '^ +(resourceVersion|uid):' > {namespace}-{name}.yaml"
    )


def left_over(tenant: Tenant) -> Iterator[str]:
    """Yield what stays of the site in a team's namespaces, which no profile shows."""
    yield (
        "profiles do not show what stays of the site. Delete RoleBindings that give more than the "
        "team's roles, and quotas and limits that its jobs do not fit; a claim stays, with its "
        "data, until its volume is adopted:"
    )
    for namespace in tenant.namespaces:
        yield f"kubectl get {_LEFT} --namespace {namespace} --selector {_NOT_OURS}"
