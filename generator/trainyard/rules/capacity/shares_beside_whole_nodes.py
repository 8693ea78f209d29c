"""Find pools with quotas in nodes and in GPUs; the finding stands at the pool and names the shares."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._shares import owns, pools

RULE = Rule(
    id="capacity/shares-beside-whole-nodes",
    severity=Severity.ERROR,
    summary="A pool is promised in nodes or, as shares of nodes, in GPUs; not in both.",
    why="""
        One share keeps whole-node jobs off its node, and shares may lie on as many nodes as they
        have pods. So a team keeps others from their own nodes within its quota, and nothing is
        reclaimed. The owners' jobs wait: `allows to fit only <n> out of <n> pod(s). ...; excluded:
        resource "cpu": <n>` (seen with Kueue 0.19.2, where a share had taken the node).
    """,
    fix="""
        Give the shares nodes of their own: a hardware profile that `extends` this one, the label of
        its name on those nodes, a pool of it, and `gpus` of that pool in the teams' quota.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for pool, owners in pools(platform):
        parts = [(tenant, quota) for tenant, quota in owners if quota.is_share]
        if parts and len(parts) < len(owners):
            whole = [tenant.name for tenant, quota in owners if not quota.is_share]
            message = (
                f"teams own GPUs of pool `{pool.name}`, of which {', '.join(whole)} "
                f"{_has(whole)} whole nodes"
            )
            yield RULE.at(pool.at.key(), message, notes=owns(parts))


def _has(teams: list[str]) -> str:
    return "has" if len(teams) == 1 else "have"


CHECK = Check(RULE, find)
