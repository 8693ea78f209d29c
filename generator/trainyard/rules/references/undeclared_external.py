"""Look up everything that a cluster's profile names of others."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model import names
from trainyard.model.cluster import Cluster
from trainyard.model.fabric import HOSTNAME
from trainyard.model.ipam import IPAMS
from trainyard.model.platform import Platform, Site
from trainyard.rules._check import Check

RULE = Rule(
    id="references/undeclared-external",
    severity=Severity.ERROR,
    summary="""
        What a cluster needs and Trainyard does not make is declared in `external`, with its owner.
    """,
    why="""
        Nobody is known to provide it: claims stay Pending and Argo CD's unit with them (`waiting
        for healthy state of /PersistentVolumeClaim/<claim>`, seen with Argo CD 3.5.7), secrets stay
        empty, jobs wait for labels that no node has (`no topology domains at level: <label>`, seen
        with Kueue 0.19.2), ways out lead nowhere, and partitions or VLANs are never set in the
        subnet manager or switches, so ranks find no path. Without a lossless queue, switches drop
        RDMA packets under load. Without its reconciler, whereabouts keeps the addresses of pods
        that a node lost, until a team's range is empty and its pods do not start.
    """,
    fix="Add it to `external` with the team that owns it.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    unknown = {
        *platform.lost.teams,
        *(team for team, key in platform.lost.of_teams if key == "quota"),
    }
    for site in platform.sites:
        places: dict[str, list[Pointer]] = {}
        for needed, at in _needed(site, unknown):
            places.setdefault(needed, []).append(at)
        for needed, (first, *others) in places.items():
            if needed not in site.cluster.external:
                hint = f"Add `{needed}: <its owner>` to `external`."
                notes = [Note("needed here too", at) for at in others]
                yield RULE.at(
                    first, f"`{needed}` is not declared in `external`", hint=hint, notes=notes
                )


def _needed(site: Site, unknown: set[str]) -> Iterator[tuple[str, Pointer]]:
    yield from _fabric(site.cluster)
    yield from _storage(site.cluster)
    own = {space.namespace for tenant in site.tenants for space in tenant.spaces}
    # The namespaces begin like this of a team that may be here: its profile, or a pool of its, is
    # left out.
    may_be = tuple(names.namespace(team) for team in sorted(unknown))
    for egress in site.cluster.egress:
        for i, namespace in enumerate(egress.namespaces):
            if namespace not in own and not namespace.startswith(may_be):
                yield f"Namespace/{namespace}", egress.at / "namespaces" / i


def _fabric(cluster: Cluster) -> Iterator[tuple[str, Pointer]]:
    for fabric in cluster.fabrics:
        for kind in (fabric.link.enforced, *fabric.link.prepared):
            yield f"{kind}/{fabric.name}", fabric.at.key()
        if reconciler := IPAMS[cluster.release.ipam].external:
            yield reconciler, fabric.at / "addresses"
        for i, level in enumerate(fabric.levels):
            if level != HOSTNAME:
                yield f"NodeLabel/{level}", fabric.at / "levels" / i


def _storage(cluster: Cluster) -> Iterator[tuple[str, Pointer]]:
    for secret in cluster.pull_secrets:
        yield f"ClusterSecretStore/{secret.secret_store}", secret.at / "secretStore"
    for storage in cluster.storage:
        if storage.storage_class:
            inside = ("class",) if storage.kind == "class" else ("adopted", "class")
            yield (
                f"StorageClass/{storage.storage_class}",
                Pointer(storage.at.file, (*storage.at.path, *inside)),
            )
        if storage.secret_store:
            yield f"ClusterSecretStore/{storage.secret_store}", storage.at / "s3" / "secretStore"


CHECK = Check(RULE, find)
