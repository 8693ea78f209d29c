"""Rails keep their resource names while jobs run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.history.differences import few
from trainyard.history.replacement import Replacement

RAILS_RENAMED = Rule(
    id="change/rails-renamed",
    severity=Severity.ERROR,
    summary="The rails of a pool keep their resource names as long as jobs may run on it.",
    why="""
        The SR-IOV operator advertises the virtual functions of running pods under the new name, as
        free: kubelet counts each resource name by itself
        (k8s.io/kubernetes:pkg/kubelet/cm/devicemanager/manager.go). A new pod is given a function
        that another pod holds, and stays in ContainerCreating. Jobs that wait ask for a resource
        that their queue no longer covers, and are never admitted.
    """,
    fix="""
        Put `resources` back; where two fabrics are to share names, set it on the new fabric, before
        a team has quota there. To rename rails in use, merge `state: draining` for the teams of the
        pool first, alone.
    """,
)
RULES = (RAILS_RENAMED,)


def rails_renamed(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare the resource of each rail of the nodes that jobs may run on."""
    cluster = replacement.site.cluster
    pools = _in_use(replacement)
    rails = {
        rail.policy_name: rail
        for pool in cluster.pools
        if pool.name in pools
        for rail in pool.rails
    }
    renamed: dict[Pointer, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for old, new in replacement.pairs("SriovNetworkNodePolicy"):
        before, after = (each.body["spec"]["resourceName"] for each in (old, new))
        if new.name in rails and before != after:
            rail = rails[new.name]
            renamed[rail.fabric.at][rail.pool.name].append(f"{before} -> {after}")
    for at, changes in renamed.items():
        named = few(f"`{pool}`" for pool in changes)
        told = few(dict.fromkeys(change for each in changes.values() for change in each))
        message = (
            f"rails of pool {named} on cluster `{cluster.name}` are renamed while jobs may "
            f"run there: {told}"
        )
        yield RAILS_RENAMED.at(at / "resources", message)


def _in_use(replacement: Replacement) -> set[str]:
    """Return the pools of open queues; one that moves to another fabric is left to `change/immutable-field`."""
    groups = (
        group
        for queue in replacement.open_queues()
        for group in queue.body["spec"]["resourceGroups"]
    )
    used = {flavor["name"] for group in groups for flavor in group["flavors"]}
    pairs = replacement.pairs("ResourceFlavor")
    return used & {new.name for old, new in pairs if _topology(old.body) == _topology(new.body)}


def _topology(body: dict[str, Any]) -> str:
    return str(body.get("spec", {}).get("topologyName", ""))
