"""Find pools of which teams own fewer nodes than the pool promises."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.ownership import owned_nodes, owners_of
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
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

_GIVE_PARTS = "Give them to a team: raise its `{unit}`, or add a team with a share."


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        owners = owners_of(site)
        for pool in site.cluster.pools:
            owned = owned_nodes(owners[pool.name])
            if owned < pool.promised:
                idle, at = pool.promised - owned, pool.at / "nodes"
                if owners[pool.name] and all(quota.is_share for _, quota in owners[pool.name]):
                    hint = _GIVE_PARTS.format(unit=pool.hardware.parts)
                    yield RULE.at(at, _parts(pool, idle), hint=hint)
                else:
                    yield RULE.at(at, _nodes(pool, idle))


def _parts(pool: Pool, idle: Fraction) -> str:
    unit = pool.hardware.parts
    number, every = (nodes * pool.hardware.units(unit) for nodes in (idle, pool.promised))
    return f"{number} of the {unit.counted(int(every))} of pool `{pool.name}` belong to no team"


def _nodes(pool: Pool, idle: Fraction) -> str:
    every = f"the {pool.promised} that pool `{pool.name}` promises"
    return f"no team owns {pool.display(idle)} of {every}"


CHECK = Check(RULE, find, every=("teams/", "quota"))
