"""A cluster's profile, complete: pools with their hardware, fabrics, cohorts, storage, ways out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.cleanup import FinishedJobs
from trainyard.model.cluster import Cluster, Cohort, Priority, Settings
from trainyard.model.fabric import Fabric
from trainyard.model.hardware import Hardware
from trainyard.model.link import LINKS
from trainyard.model.network import Egress
from trainyard.model.pool import Pool
from trainyard.model.quantity import parse_seconds
from trainyard.model.release import Release
from trainyard.model.storage import PullSecret, Storage, pull_secret
from trainyard.resolve.references import (
    AMBIGUOUS_STORAGE,
    NOWHERE,
    SEGMENTS_OF_ANOTHER_LINK,
    Found,
    find,
    network,
)
from trainyard.yaml_io.source import Source

_FRAMEWORKS = ("BatchJob", "JobSet", "TrainJob")


def resolve_cluster(
    name: str,
    source: Source,
    settings: Settings,
    shipped: tuple[Mapping[str, Hardware | None], Mapping[str, Release]],
    found: Found,
) -> Cluster | None:
    """Return a cluster, or None when its release is not known."""
    at = Pointer(source.file)
    fields = source.value
    hardware, releases = shipped
    release = find("release", fields["release"], releases, at / "release", found)
    fabrics = tuple(_fabrics(fields, at / "fabrics", found))
    networks = {
        each: network(text, at / "networks" / each, found) or NOWHERE
        for each, text in sorted(_ranges(fields))
    }
    if release is None:
        return None
    roles = fields.get("roles", {})
    pull_secrets = {
        each: PullSecret(each, at / "pullSecrets" / each, secret["secretStore"], secret["path"])
        for each, secret in sorted(fields.get("pullSecrets", {}).items())
    }
    return Cluster(
        name=name,
        at=at,
        settings=settings,
        release=release,
        server=fields.get("server", "https://kubernetes.default.svc"),
        argocd_namespace=fields.get("argocd", {}).get("namespace", release.argocd_namespace),
        versions={**release.versions, **fields.get("installed", {})},
        pools=tuple(
            _pools(fields, at / "pools", (hardware, fabrics, release.resource_prefix), found)
        ),
        fabrics=fabrics,
        cohorts=tuple(_cohorts(fields, at / "cohorts", found)),
        priorities=tuple(
            sorted(_priorities(fields, at / "priorities"), key=lambda each: (each.value, each.name))
        ),
        storage=tuple(_storage(fields, at / "storage", found)),
        pull_secrets=tuple(pull_secrets.values()),
        egress=tuple(_egress(fields, at / "egress", found)),
        networks=networks,
        operators=tuple(sorted(roles.get("operator", ()))),
        auditors=tuple(sorted(roles.get("auditor", ()))),
        system_namespaces=tuple(sorted(fields.get("systemNamespaces", ()))),
        frameworks=tuple(sorted(fields.get("frameworks", _FRAMEWORKS))),
        sharing=fields.get("sharing", "fair"),
        node_sync=fields.get("nodes", {}).get("sync", "manual"),
        fips=fields.get("fips", False),
        encrypts_pods=fields["networks"].get("encrypted", False),
        external={**release.external, **fields.get("external", {})},
        finished_jobs=_finished_jobs(fields, at, release, pull_secrets, found),
    )


def _finished_jobs(
    fields: Mapping[str, Any],
    at: Pointer,
    release: Release,
    known: Mapping[str, PullSecret],
    found: Found,
) -> FinishedJobs | None:
    """Return what deletes finished jobs; None where the profile leaves them."""
    if "finishedJobs" not in fields:
        return None
    said, at = fields["finishedJobs"], at / "finishedJobs"
    named = said.get("pullSecret")
    secret = find("pull secret", named, known, at / "pullSecret", found) if named else None
    stored = pull_secret(names.SYSTEM_NAMESPACE, secret) if secret else None
    return FinishedJobs(at, release, parse_seconds(said["keep"]), said["image"], stored)


def _fabrics(fields: Mapping[str, Any], at: Pointer, found: Found) -> Iterator[Fabric]:
    for name, fabric in sorted(fields.get("fabrics", {}).items()):
        link = LINKS[fabric["link"]]
        others = [
            each.ranges for each in LINKS.values() if each is not link and each.ranges in fabric
        ]
        for ranges in others or [link.ranges] * (link.ranges not in fabric):
            message = (
                f"fabric `{name}` is {link.name}, whose teams hold {link.segment}s: it hands "
                f"out `{link.ranges}`"
            )
            found.report(SEGMENTS_OF_ANOTHER_LINK.at((at / name / ranges).key(), message))
        first, last = (
            _range(fabric[link.ranges]) if link.ranges in fabric else (link.first, link.last)
        )
        addresses = network(fabric["addresses"], at / name / "addresses", found)
        yield Fabric(
            name=name,
            at=at / name,
            link=link,
            first_segment=first,
            last_segment=last,
            addresses=addresses or NOWHERE,
            block=fabric.get("block", 20),
            levels=tuple(fabric.get("levels", ())),
            leaf_nodes=fabric.get("leafNodes", 0),
            mtu=fabric.get("mtu", 0),
            traffic_class=fabric.get("trafficClass", -1),
            resources=fabric.get("resources", name),
        )


def _range(text: str) -> tuple[int, int]:
    """Return both ends of a range: hex keys with their prefix, or decimal numbers."""
    first, last = (int(end, 0) for end in text.split("-"))
    return first, last


def _priorities(fields: Mapping[str, Any], at: Pointer) -> Iterator[Priority]:
    for name, said in fields.get("priorities", {}).items():
        value, deadline = (said, "") if isinstance(said, int) else (said["value"], said["deadline"])
        yield Priority(name, at / name, value, parse_seconds(deadline) if deadline else 0)


def _pools(
    fields: Mapping[str, Any],
    at: Pointer,
    known: tuple[Mapping[str, Hardware | None], tuple[Fabric, ...], str],
    found: Found,
) -> Iterator[Pool]:
    hardware, fabrics, prefix = known
    by_name = {fabric.name: fabric for fabric in fabrics}
    for name, pool in sorted(fields["pools"].items()):
        where = at / name / "hardware" if "hardware" in pool else (at / name).key()
        kind = find("hardware profile", pool.get("hardware", name), hardware, where, found)
        fabric = None
        if "fabric" in pool:
            fabric = find("fabric", pool["fabric"], by_name, at / name / "fabric", found)
        # Without its fabric a pool would look like one that has none.
        if kind is not None and (fabric is not None or "fabric" not in pool):
            yield Pool(
                name=name,
                at=at / name,
                hardware=kind,
                fabric=fabric,
                nodes=pool["nodes"],
                reserve=pool.get("reserve", 0),
                preference=pool.get("preference", 0),
                prefix=prefix,
            )


def _cohorts(fields: Mapping[str, Any], at: Pointer, found: Found) -> Iterator[Cohort]:
    cohorts = fields.get("cohorts", {})
    for name, cohort in sorted(cohorts.items()):
        parent = cohort.get("parent", "")
        if parent and find("cohort", parent, cohorts, at / name / "parent", found) is None:
            parent = ""
        yield Cohort(name, at / name, parent, cohort.get("weight", 1))


def _storage(fields: Mapping[str, Any], at: Pointer, found: Found) -> Iterator[Storage]:
    for name, said in sorted(fields.get("storage", {}).items()):
        kinds = sorted(said.keys() - {"encrypted"})
        if len(kinds) != 1:
            has = " and ".join(f"`{kind}`" for kind in kinds) or "only `encrypted`"
            found.report(AMBIGUOUS_STORAGE.at(at / name, f"storage `{name}` has {has}"))
        # After the report, the first kind is as good a guess as any: what teams ask of it is still
        # checked.
        kind = kinds[0] if kinds else "class"
        what = said.get(kind, "")
        storage = Storage(name, at / name, kind, encrypted=said.get("encrypted", False))
        if kind == "nfs":
            yield replace(storage, server=what["server"], path=what["path"])
        elif kind == "s3":
            store = what["secretStore"]
            yield replace(storage, path=what["path"], endpoint=what["endpoint"], secret_store=store)
        else:
            yield replace(storage, storage_class=what["class"] if kind == "adopted" else what)


def _ranges(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, text in fields["networks"].items() if name != "encrypted")


def _egress(fields: Mapping[str, Any], at: Pointer, found: Found) -> Iterator[Egress]:
    for name, egress in sorted(fields.get("egress", {}).items()):
        to = enumerate(egress.get("to", ()))
        networks = [network(text, at / name / "to" / i, found) or NOWHERE for i, text in to]
        yield Egress(
            name=name,
            at=at / name,
            cidrs=tuple(map(str, networks)),
            namespaces=tuple(egress.get("namespaces", ())),
            ports=tuple(egress["ports"]),
            source=egress.get("from", "all"),
        )
