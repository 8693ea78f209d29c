"""Find what a cluster needs from others and its `external` does not declare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.fabric import ATTACHMENT
from trainyard.model.monitoring import METRICS, STACKS, VIEWERS
from trainyard.model.nvlink import DRIVER, is_possible
from trainyard.model.platform import Platform, Site
from trainyard.rules._check import Check
from trainyard.rules.references._needed import needed

_NO_OWNER = "It may not exist, because it has no known owner."
_CONSEQUENCES = {
    "StorageClass": "Without the class, claims stay Pending, and Argo CD's sync of their unit "
    "waits (`waiting for healthy state of /PersistentVolumeClaim/<claim>`, seen with "
    "Argo CD 3.5.7).",
    "ClusterSecretStore": "Without the store, Secrets stay empty.",
    "NodeLabel": "Without the label, jobs wait (`no topology domains at level: <label>`, seen with "
    "Kueue 0.19.2).",
    "Namespace": "Without the namespace, an egress rule or a scrape opens no connection, and the "
    "API server refuses what Argo CD would read there.",
    "Partitions": "Without partitions in the subnet manager, ranks find no path.",
    "Vlans": "Without VLANs in the switches, ranks find no path.",
    "LosslessQueue": "Without a lossless queue, switches drop RDMA packets under load.",
    "NodeFirmware": "With other settings, nodes have no virtual functions, or GPUs and cards reach "
    "each other through the processor, many times slower.",
    "DevicePlugin": "Without the plugin, nodes have no such device, and pods stay Pending.",
    DRIVER: "Without the driver no namespace has the template of claims, and Kueue admits no job "
    "of the pool.",
    ATTACHMENT: "Without the network, pods stay in ContainerCreating.",
    "PoolNetworks": "Without a network of each pool's own, teams of different pools reach each "
    "other's memory.",
    "SysctlAllowlist": "Without the two sysctls in the list, pods with rails stay in "
    "ContainerCreating (`Sysctl net.ipv4.conf.IFNAME.arp_ignore is not allowed`).",
    "IPReconciler": "Without the reconciler, whereabouts keeps the addresses of pods that a node "
    "lost, until a team's range is empty and its pods do not start.",
    METRICS: "Without a scrape, alerts on these metrics never fire, and panels stay empty.",
    **dict.fromkeys(
        STACKS.values(), "Without a Prometheus that reads our namespace, no alert fires."
    ),
    **dict.fromkeys(VIEWERS.values(), "Without a program that shows them, nobody sees dashboards."),
}
"""Kind of what a cluster needs from others -> what happens without it."""

RULE = Rule(
    id="references/undeclared-external",
    severity=Severity.ERROR,
    summary="""
        Everything that a cluster needs and Trainyard does not create is declared in `external`,
        with its owner.
    """,
    why=" ".join([_NO_OWNER, *(_CONSEQUENCES[kind] for kind in ("StorageClass", "NodeLabel"))]),
    fix="Add it to the cluster's `external` with the team that owns it.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    without_quota = {team for team, key in platform.lost.of_teams if key == "quota"}
    unknown = platform.lost.teams | without_quota
    for site in platform.sites:
        places: dict[str, list[Pointer]] = {}
        for entry, at in needed(site, unknown):
            places.setdefault(entry, []).append(at)
        given = {*site.cluster.external, *_impossible(site)}
        for entry, (first, *others) in places.items():
            if entry not in given:
                hint = f"Add `{entry}: <its owner>` to `external`."
                notes = [Note("also needed here", at) for at in others]
                finding = RULE.at(
                    first, f"`{entry}` is not declared in `external`", hint=hint, notes=notes
                )
                consequence = _CONSEQUENCES[entry.partition("/")[0]]
                yield replace(finding, consequence=f"{_NO_OWNER} {consequence}")


def _impossible(site: Site) -> Iterator[str]:
    """Yield the drivers of pools that can't have NVLink: `node/impossible-nvlink` says so."""
    for pool in site.cluster.pools:
        if not is_possible(pool.hardware.product, site.cluster.release.features):
            yield f"{DRIVER}/{pool.name}"


CHECK = Check(RULE, find)
