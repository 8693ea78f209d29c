"""Resolve a cluster's profile: pools with their hardware, fabrics, cohorts, storage, egress."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network
from operator import attrgetter
from typing import Any, TypeVar

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.cleanup import FinishedJobs
from trainyard.model.cluster import OWN_SERVER, Cluster, Cohort
from trainyard.model.fabric import Fabric
from trainyard.model.hardware import AMD64, Hardware
from trainyard.model.maintenance import Maintenance
from trainyard.model.money import parse_price
from trainyard.model.named import by_name
from trainyard.model.network import Egress
from trainyard.model.other_release import Releases
from trainyard.model.pool import Pool
from trainyard.model.priority import Priority
from trainyard.model.quantity import parse_seconds
from trainyard.model.release import Release
from trainyard.model.settings import Settings
from trainyard.model.storage import PullSecret, Storage, pull_secret
from trainyard.model.topology import Topology
from trainyard.resolve.adoption import resolve_adoption
from trainyard.resolve.dns import resolve_dns
from trainyard.resolve.fabric import resolve_fabrics
from trainyard.resolve.findings import Resolving
from trainyard.resolve.monitoring import resolve_monitoring
from trainyard.resolve.references import NOWHERE, find, find_release, network
from trainyard.resolve.topology import resolve_topologies
from trainyard.rules.shape.ambiguous_storage import RULE as AMBIGUOUS_STORAGE
from trainyard.yaml_io.source import Source

_REMOTE_ARGOCD = "kube-system:argocd-manager"
"""Account by which the Argo CD of another cluster comes
(argoproj/argo-cd:util/clusterauth/clusterauth.go@v3.5.7)."""

T = TypeVar("T")


def resolve_cluster(
    name: str,
    source: Source,
    settings: Settings,
    hardware: Mapping[str, Hardware | None],
    releases: Releases,
) -> Resolving[Cluster | None]:
    """Return a cluster, or None when its release is not known."""
    at = Pointer(source.file)
    fields = source.value
    release = yield from find_release(fields["release"], releases, at / "release")
    fabrics = yield from resolve_fabrics(fields, at / "fabrics")
    topologies = yield from resolve_topologies(fields, at)
    networks = yield from _networks(fields, at / "networks")
    if release is None:
        return None
    pull_secrets = _pull_secrets(fields, at / "pullSecrets")
    known = _Known(hardware, fabrics, by_name(topologies), release.resource_prefix)
    pools = yield from _pools(fields, at / "pools", known)
    return Cluster(
        name=name,
        at=at,
        settings=settings,
        release=release,
        pools=pools,
        fabrics=tuple(fabric for fabric in fabrics.values() if fabric),
        topologies=topologies,
        cohorts=(yield from _cohorts(fields, at / "cohorts")),
        priorities=_priorities(fields, at / "priorities"),
        storage=(yield from _storage(fields, at / "storage")),
        pull_secrets=tuple(pull_secrets.values()),
        dns=(yield from resolve_dns(fields, at / "dns", release)),
        egress=(yield from _egress(fields, at / "egress")),
        networks=networks,
        finished_jobs=(yield from _finished_jobs(fields, at, release, pull_secrets, pools)),
        monitoring=(yield from resolve_monitoring(fields, at / "monitoring")),
        adoption=resolve_adoption(fields.get("adopt", {}), at / "adopt"),
        **_values(fields, release),
    )


def _values(fields: Mapping[str, Any], release: Release) -> dict[str, Any]:
    """Return the fields of a cluster that name nothing else, by their names in the model."""
    roles, argocd = fields.get("roles", {}), fields.get("argocd", {})
    namespace = argocd.get("namespace", release.argocd_namespace)
    is_remote = fields["server"] != OWN_SERVER
    applies = _REMOTE_ARGOCD if is_remote else f"{namespace}:{release.argocd_account}"
    return {
        "server": fields["server"],
        "argocd_namespace": namespace,
        "argocd_account": argocd.get("account", applies),
        "versions": {**release.versions, **fields.get("installed", {})},
        "operators": tuple(sorted(roles.get("operator", ()))),
        "auditors": tuple(sorted(roles.get("auditor", ()))),
        "system_namespaces": tuple(sorted(fields.get("systemNamespaces", ()))),
        "member_kinds": tuple(sorted(fields.get("memberKinds", ()))),
        "frameworks": tuple(sorted(fields["frameworks"])),
        "sharing": fields["sharing"],
        "node_sync": fields["nodes"]["sync"],
        "sets_rdma_mode": fields["nodes"]["rdmaMode"] == "exclusive",
        "unavailable": tuple(sorted(fields.get("unavailable", ()))),
        "fips": fields["fips"],
        "encrypts_pods": fields["networks"]["encrypted"],
        "external": {**release.external, **fields.get("external", {})},
    }


def _pull_secrets(fields: Mapping[str, Any], at: Pointer) -> dict[str, PullSecret]:
    secrets = {}
    for name, secret in sorted(fields.get("pullSecrets", {}).items()):
        secrets[name] = PullSecret(name, at / name, secret["secretStore"], secret["path"])
    return secrets


def _finished_jobs(
    fields: Mapping[str, Any],
    at: Pointer,
    release: Release,
    known: Mapping[str, PullSecret],
    pools: Sequence[Pool],
) -> Resolving[FinishedJobs | None]:
    """Return what deletes finished jobs; None where the profile leaves them."""
    if "finishedJobs" not in fields:
        return None
    cleanup, at = fields["finishedJobs"], at / "finishedJobs"
    stored = None
    if "pullSecret" in cleanup:
        secret = yield from find("pull secret", cleanup["pullSecret"], known, at / "pullSecret")
        stored = pull_secret(names.SYSTEM_NAMESPACE, secret) if secret else None
    keep, image = parse_seconds(cleanup["keep"]), cleanup["image"]
    architecture = cleanup.get("arch", _default_architecture(pools))
    return FinishedJobs(at, release, keep, image, stored, architecture)


def _default_architecture(pools: Sequence[Pool]) -> str:
    """Return what an image is for that states nothing; empty where all nodes are the same."""
    return "" if all(pool.hardware.architecture == AMD64 for pool in pools) else AMD64


def _priorities(fields: Mapping[str, Any], at: Pointer) -> tuple[Priority, ...]:
    """Return the priorities, lowest value first; a number is a value without a deadline."""
    priorities = []
    for name, priority in fields.get("priorities", {}).items():
        value, deadline = priority, 0
        if not isinstance(priority, int):
            value, deadline = priority["value"], parse_seconds(priority["deadline"])
        priorities.append(Priority(name, at / name, value, deadline))
    return tuple(sorted(priorities, key=attrgetter("value", "name")))


@dataclass(frozen=True, slots=True)
class _Known:
    """What a pool may name, and the prefix of the release's SR-IOV resources."""

    hardware: Mapping[str, Hardware | None]
    fabrics: Mapping[str, Fabric | None]
    topologies: Mapping[str, Topology]
    prefix: str


def _pools(fields: Mapping[str, Any], at: Pointer, known: _Known) -> Resolving[tuple[Pool, ...]]:
    pools = []
    for name, stated in sorted(fields["pools"].items()):
        pool = yield from _pool(name, stated, at / name, known)
        if pool is not None:
            pools.append(pool)
    return tuple(pools)


def _pool(
    name: str, stated: Mapping[str, Any], at: Pointer, known: _Known
) -> Resolving[Pool | None]:
    """Return a pool; None where it names something unknown: it would look like one without."""
    where = at / "hardware" if "hardware" in stated else at.key()
    kind = yield from find("hardware profile", stated.get("hardware", name), known.hardware, where)
    fabric = yield from _named("fabric", stated, known.fabrics, at)
    topology = yield from _named("topology", stated, known.topologies, at)
    named = {"fabric": fabric, "topology": topology}
    if kind is None or any(named[key] is None for key in named.keys() & stated.keys()):
        return None
    if fabric and not topology:
        topology = known.topologies[fabric.name]
    return Pool(
        name=name,
        at=at,
        hardware=kind,
        fabric=fabric,
        topology=topology,
        nodes=stated["nodes"],
        reserve=stated["reserve"],
        preference=stated["preference"],
        prefix=known.prefix,
        price=parse_price(stated["nodeHour"]) if "nodeHour" in stated else None,
        maintenance=tuple(_maintenance(stated, at / "maintenance")),
        own_labels=_labels(stated),
        has_nvlink=stated["nvlink"],
        state=stated["state"],
    )


def _labels(stated: Mapping[str, Any]) -> dict[str, str]:
    return dict(sorted(stated["labels"].items())) if "labels" in stated else {}


def _named(
    key: str, stated: Mapping[str, Any], known: Mapping[str, T | None], at: Pointer
) -> Resolving[T | None]:
    """Return what a pool names under a key; None where it names nothing, or nothing known."""
    if key not in stated:
        return None
    return (yield from find(key, stated[key], known, at / key))


def _maintenance(fields: Mapping[str, Any], at: Pointer) -> Iterator[Maintenance]:
    for i, stated in enumerate(fields.get("maintenance", ())):
        yield Maintenance(
            at=at / i,
            nodes=tuple(stated["nodes"]),
            until=stated["until"],
            reason=stated["reason"],
            taken=dict(sorted(stated.get("from", {}).items())),
        )


def _cohorts(fields: Mapping[str, Any], at: Pointer) -> Resolving[tuple[Cohort, ...]]:
    resolved = []
    cohorts = fields.get("cohorts", {})
    for name, cohort in sorted(cohorts.items()):
        parent = cohort.get("parent", "")
        if parent and (yield from find("cohort", parent, cohorts, at / name / "parent")) is None:
            parent = ""
        resolved.append(Cohort(name, at / name, parent, cohort["weight"]))
    return tuple(resolved)


def _storage(fields: Mapping[str, Any], at: Pointer) -> Resolving[tuple[Storage, ...]]:
    storage = []
    for name, stated in sorted(fields.get("storage", {}).items()):
        kinds = sorted(stated.keys() - {"encrypted"})
        if len(kinds) != 1:
            has = " and ".join(f"`{kind}`" for kind in kinds) or "only `encrypted`"
            yield AMBIGUOUS_STORAGE.at(at / name, f"storage `{name}` has {has}")
        # What teams ask of ambiguous storage is checked as if it were of the first kind.
        kind = kinds[0] if kinds else "class"
        plain = Storage(name, at / name, kind, encrypted=stated["encrypted"])
        storage.append(_of_kind(plain, stated.get(kind, "")))
    return tuple(storage)


def _of_kind(storage: Storage, stated: Any) -> Storage:
    """Return storage with the fields of its kind."""
    if storage.kind == "nfs":
        return replace(
            storage,
            server=stated["server"],
            path=stated["path"],
            connections=stated["connections"],
        )
    if storage.kind == "s3":
        return replace(
            storage,
            path=stated["path"],
            endpoint=stated["endpoint"],
            secret_store=stated["secretStore"],
        )
    return replace(storage, storage_class=stated["class"] if storage.kind == "adopted" else stated)


def _networks(fields: Mapping[str, Any], at: Pointer) -> Resolving[dict[str, IPv4Network]]:
    networks = {}
    for name, text in sorted(fields["networks"].items()):
        if name != "encrypted":
            networks[name] = (yield from network(text, at / name)) or NOWHERE
    return networks


def _egress(fields: Mapping[str, Any], at: Pointer) -> Resolving[tuple[Egress, ...]]:
    resolved = []
    for name, egress in sorted(fields.get("egress", {}).items()):
        cidrs = []
        for i, text in enumerate(egress.get("to", ())):
            cidrs.append(str((yield from network(text, at / name / "to" / i)) or NOWHERE))
        resolved.append(
            Egress(
                name=name,
                at=at / name,
                cidrs=tuple(cidrs),
                namespaces=tuple(egress.get("namespaces", ())),
                ports=tuple(egress["ports"]),
                source=egress["from"],
            )
        )
    return tuple(resolved)
