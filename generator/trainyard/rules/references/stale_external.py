"""Find entries of `external` that nothing of a cluster needs any more."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.fabric import ATTACHMENT
from trainyard.model.nearest import nearest
from trainyard.model.nvlink import DRIVER
from trainyard.model.platform import Platform, Site
from trainyard.rules._check import Check
from trainyard.rules.references._needed import needed

KINDS = (
    ATTACHMENT,
    DRIVER,
    "DevicePlugin",
    "LosslessQueue",
    "Namespace",
    "NodeLabel",
    "Partitions",
    "PoolNetworks",
    "StorageClass",
    "Vlans",
)
"""Kinds that only a cluster's profile needs. Objects and components need others too."""

RULE = Rule(
    id="references/stale-external",
    severity=Severity.WARNING,
    summary="What `external` declares of fabrics, storage and namespaces is still needed.",
    why="""
        The README asks its owner for what nobody uses, and keeps it under the things that must be
        there. Behind a misspelt name it hides that the intended one has no owner.
    """,
    fix="Remove the entry.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        yield from _stale(site)


def _stale(site: Site) -> Iterator[Diagnostic]:
    cluster = site.cluster
    wanted = {name for name, _ in needed(site, ())}
    open_ones = sorted(wanted - {*cluster.external})
    for entry in sorted({*cluster.external} - wanted - {*cluster.release.external}):
        if entry.partition("/")[0] in KINDS:
            near = nearest(entry, open_ones)
            hint = f"did you mean `{near}`?" if near else ""
            at = (cluster.at / "external" / entry).key()
            yield RULE.at(at, f"nothing on cluster {cluster.name} needs `{entry}`", hint=hint)


CHECK = Check(RULE, find, every=("pools", "fabrics", "storage", "egress"))
