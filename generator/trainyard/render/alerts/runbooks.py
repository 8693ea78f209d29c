"""The runbooks of a cluster: a section for each alert, with the cluster's own names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil

from trainyard.model.monitoring import METRICS
from trainyard.model.named import by_name
from trainyard.model.ownership import Owners, owned_nodes, owners_of
from trainyard.model.platform import Site
from trainyard.model.pool import Pool, Rail
from trainyard.model.quantity import format_seconds
from trainyard.render.alerts.alert import Alert
from trainyard.render.alerts.facts import limits
from trainyard.render.alerts.rights import marked, of_operators
from trainyard.render.alerts.rulesets import alerts_of
from trainyard.render.markdown import page

_STEP = "what a step before prints"

WORDS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "CLAIM": (("persistentvolumeclaim",), ""),
    "DEVICE": (("device",), ""),
    "IMAGE": ((), "an image that the nodes can pull and that has `chroot`, such as `busybox`"),
    "JOB": (("job_name", "jobset_name", "trainjob"), _STEP),
    "JOB.yaml": ((), "the file of the job, which its owner has"),
    "NAME": (("name",), ""),
    "NAMESPACE": (("namespace",), f"{_STEP}, or a namespace of the queue's team"),
    "NODE": (("node",), _STEP),
    "POD": ((), _STEP),
    "POOL": (("pool",), ""),
    "QUEUE": (("cluster_queue",), ""),
    "SELECTOR": ((), "that of the pool, in the table below"),
    "WORKLOAD": ((), _STEP),
}
"""Word in capitals of a step -> labels of alerts, and what to take for an alert without them."""


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A pool, as the table of pools lists it."""

    name: str
    nodes: int
    owned: int
    out_of_use: str
    selector: str


@dataclass(frozen=True, slots=True)
class RailRow:
    """A rail of a pool's nodes, as the table of rails lists it."""

    pool: str
    rail: int
    resource: str
    pci: str
    interface: str
    device: str
    gpu: str


@dataclass(frozen=True, slots=True)
class Runbooks:
    """What the template of the runbooks reads."""

    site: Site

    @property
    def pools(self) -> list[PoolRow]:
        """The pools, with what their teams own."""
        owners = owners_of(self.site.in_use)
        return [_pool_row(pool, owners[pool.name]) for pool in self.site.cluster.pools]

    @property
    def rails(self) -> list[RailRow]:
        """The rails of each pool: which port each is, and the GPU beside it."""
        rails = chain.from_iterable(pool.rails for pool in self.site.cluster.pools)
        return list(map(_rail_row, rails))

    @property
    def words(self) -> dict[str, tuple[tuple[str, ...], str]]:
        """The words in capitals that the steps of this cluster have."""
        steps = " ".join(chain.from_iterable(alert.look + alert.fix for alert in self.alerts))
        return {word: meant for word, meant in WORDS.items() if re.search(rf"\b{word}\b", steps)}

    @property
    def sources(self) -> dict[str, str]:
        """What has metrics -> who has it scraped."""
        cluster, scrapers = self.site.cluster, {}
        for name, source in by_name(cluster.sources).items():
            is_ours = source.scrape is not None
            scrapers[name] = "this tree" if is_ours else cluster.external[f"{METRICS}/{name}"]
        return scrapers

    @property
    def alerts(self) -> list[Alert]:
        """The alerts, each name once, with the cluster's names in their steps and marks."""
        words, rights = self._words(), of_operators(self.site)

        def steps(templates: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(marked(step.format_map(words), rights) for step in templates)

        alerts = by_name(chain.from_iterable(alerts_of(self.site.cluster).values())).values()
        return [replace(alert, look=steps(alert.look), fix=steps(alert.fix)) for alert in alerts]

    def _words(self) -> dict[str, str]:
        """Return the programs, the limits of waiting, and the namespace of each controller.

        A pod that looks at a node tolerates each taint, which admission permits only daemons. The
        kernel shows its log to privileged pods only, which the profile ``sysadmin`` makes.
        """
        cluster = self.site.cluster
        cli, admin = "kubectl", "kubectl"
        shell = "kubectl -n kube-system debug node/NODE -it --profile sysadmin --image IMAGE --"
        if "machine-config" in cluster.release.features:
            cli, admin, shell = "oc", "oc adm", "oc debug node/NODE --"
        namespaces = {source.name: source.namespace for source in cluster.sources}
        names = {"cli": cli, "admin": admin, "cluster": cluster.name, "node_shell": shell}
        waiting = (f"{name} {format_seconds(limit)}" for name, limit in limits(cluster).items())
        names["waiting"] = ", ".join(waiting)
        return {**names, "sriov": cluster.release.sriov_namespace, **namespaces}


def _rail_row(rail: Rail) -> RailRow:
    nic = rail.nic
    gpu = str(nic.gpu) if nic.gpu >= 0 else ""
    ports = (nic.pci, nic.interface, nic.device)
    return RailRow(rail.pool.name, rail.index, rail.resource, *ports, gpu)


def _pool_row(pool: Pool, owners: Owners) -> PoolRow:
    labels = [f"{key}={value}" for key, value in sorted(pool.labels.items())]
    return PoolRow(
        pool.name,
        pool.nodes,
        ceil(owned_nodes(owners)),
        ", ".join(pool.out_of_use) or "none",
        ",".join(labels),
    )


def runbooks(site: Site) -> dict[str, str]:
    """Return the runbooks by path; none where no Prometheus watches the cluster."""
    if site.cluster.monitoring is None:
        return {}
    return {"RUNBOOKS.md": page("runbooks.md.j2").render(site=site, page=Runbooks(site))}
