"""Find object stores that teams use and that no egress rule lets their jobs reach."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.network import Egress
from trainyard.model.platform import Platform, Site
from trainyard.model.storage import Storage
from trainyard.rules._check import Check

_SERVICE = re.compile(r"[^.]+[.]([^.]+)[.]svc([.]cluster[.]local)?")


RULE = Rule(
    id="isolation/bucket-without-egress",
    severity=Severity.WARNING,
    summary="If teams request buckets, an egress rule lets their jobs reach the object store.",
    why="""
        The job starts, and its first access to the bucket times out: only destinations of `egress`
        are open. Trainyard cannot check whether the addresses are those of the store.
    """,
    fix="""
        Add an entry to `egress` with the store's addresses and port, or with its namespace; set
        `from: jobs`, or leave `from` out.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for storage in _stores(site):
            host, port = _target(storage)
            if not any(_permits(egress, host, port) for egress in site.cluster.egress):
                message = (
                    f"no egress rule lets jobs reach port {port} of {host}, the address of "
                    f"storage `{storage.name}`"
                )
                notes = [Note("the egress rules", site.cluster.at / "egress")]
                yield RULE.at(storage.at / "s3" / "endpoint", message, notes=notes)


def _stores(site: Site) -> Iterator[Storage]:
    """Yield each storage in which some team has a bucket."""
    spaces = [space for tenant in site.tenants for space in tenant.spaces]
    requested = {secret.name for space in spaces for secret in space.buckets}
    return (storage for storage in site.cluster.storage if storage.name in requested)


def _target(storage: Storage) -> tuple[str, int]:
    """Return host and port of a store's address."""
    scheme, _, rest = storage.endpoint.partition("://")
    host, _, port = rest.partition("/")[0].partition(":")
    return host, int(port or (80 if scheme == "http" else 443))


def _permits(egress: Egress, host: str, port: int) -> bool:
    """Return whether an egress rule lets jobs reach a host.

    For a service in the cluster only its namespace is compared: the port that counts is that of the
    pods, which is not known.
    """
    if egress.source == "workspaces":
        return False
    service = _SERVICE.fullmatch(host)
    if service:
        return service[1] in egress.namespaces
    return bool(egress.cidrs) and port in egress.ports


CHECK = Check(RULE, find)
