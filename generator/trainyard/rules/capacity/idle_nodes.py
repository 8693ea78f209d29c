"""Find pools of which teams own fewer nodes than the pool promises."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.ownership import owned_nodes, owners_of
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.quantity import counted, format_nodes
from trainyard.rules._check import Check

RULE = Rule(
    id="capacity/idle-nodes",
    severity=Severity.WARNING,
    summary="Every promised node of a pool belongs to a team.",
    why="""
        Jobs wait while the nodes are idle, `insufficient unused quota for <resource> in flavor
        <pool>` (seen with Kueue 0.19.2): Kueue lends only what a team owns.
    """,
    fix="Add the nodes to `nodes` of a team that lends them, or to the pool's `reserve`.",
)

_GIVE_GPUS = "Give them to a team: raise its `gpus`, or add a team with a share."


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        owners = owners_of(site)
        for pool in site.cluster.pools:
            owned = owned_nodes(owners[pool.name])
            if owned < pool.promised:
                idle, at = pool.promised - owned, pool.at / "nodes"
                if owners[pool.name] and all(quota.is_share for _, quota in owners[pool.name]):
                    yield RULE.at(at, _gpus(pool, idle), hint=_GIVE_GPUS)
                else:
                    yield RULE.at(at, _nodes(pool, idle))


def _gpus(pool: Pool, idle: Fraction) -> str:
    number, every = idle * pool.hardware.gpus, pool.promised * pool.hardware.gpus
    return f"{number} of the {counted(every, 'GPU')} of pool `{pool.name}` belong to no team"


def _nodes(pool: Pool, idle: Fraction) -> str:
    nodes = format_nodes(idle, pool.hardware.gpus)
    return f"no team owns {nodes} of the {pool.promised} that pool `{pool.name}` promises"


CHECK = Check(RULE, find, every=("teams/", "quota"))
