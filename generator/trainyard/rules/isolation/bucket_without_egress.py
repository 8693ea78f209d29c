"""Look for a way of jobs to each store that some team has a bucket in."""

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
    summary="Where teams ask for buckets, a way out leads jobs to the object store.",
    why="""
        Only what `egress` names is open: the job starts, and its first access to the bucket ends
        with a time-out. Whether the addresses are those of the store can't be told here.
    """,
    fix="""
        Add an `egress` to the store's addresses and port, or to its namespace, with `from: jobs` or
        without `from`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for storage in _stores(site):
            host, port = _target(storage)
            if not any(_leads_to(egress, host, port) for egress in site.cluster.egress):
                message = (
                    f"no way out leads jobs to port {port} of {host}, where storage "
                    f"`{storage.name}` is"
                )
                notes = [Note("ways out", site.cluster.at / "egress")]
                yield RULE.at(storage.at / "s3" / "endpoint", message, notes=notes)


def _stores(site: Site) -> Iterator[Storage]:
    asked = {
        secret.name
        for tenant in site.tenants
        for space in tenant.spaces
        for secret in space.buckets
    }
    return (storage for storage in site.cluster.storage if storage.name in asked)


def _target(storage: Storage) -> tuple[str, int]:
    """Return host and port of a store's address."""
    scheme, _, rest = storage.endpoint.partition("://")
    host, _, port = rest.partition("/")[0].partition(":")
    return host, int(port or (80 if scheme == "http" else 443))


def _leads_to(egress: Egress, host: str, port: int) -> bool:
    """Tell whether jobs may go to a host by a way out.

    Of a service in the cluster only the namespace is known: the port that counts is that of its
    pods.
    """
    service = _SERVICE.fullmatch(host)
    there = (
        service[1] in egress.namespaces if service else bool(egress.cidrs) and port in egress.ports
    )
    return there and egress.source != "workspaces"


CHECK = Check(RULE, find)
