"""Find pools that have quotas both in nodes and in parts of a node."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._shares import owner_notes, pools

RULE = Rule(
    id="capacity/shares-beside-whole-nodes",
    severity=Severity.ERROR,
    summary="All quotas of a pool are in nodes, or all are shares of nodes.",
    why="""
        Jobs of teams with whole nodes wait: `allows to fit only <n> out of <n> pod(s). ...;
        excluded: resource "cpu": <n>` (seen with Kueue 0.19.2, where a share had taken the node).
        One share keeps whole-node jobs off its node, and shares may be on as many nodes as they
        have pods. Nothing is reclaimed, because the shares stay within their quota.
    """,
    fix="""
        Give the shares nodes of their own: add a hardware profile that `extends` this one, label
        those nodes with its name, add a pool of it, and set `gpus` or `cores` of
        that pool in the quotas.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for pool, owners in pools(platform):
        notes = owner_notes(owners)
        whole = [tenant.name for tenant, quota in owners if not quota.is_share]
        if notes and whole:
            verb = "owns" if len(whole) == 1 else "own"
            message = (
                f"teams own {pool.hardware.parts.plural} of pool `{pool.name}`, in which "
                f"{', '.join(whole)} {verb} whole nodes"
            )
            yield RULE.at(pool.at.key(), message, notes=notes)


CHECK = Check(RULE, find)
