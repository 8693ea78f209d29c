"""Find pools whose own labels can't stand beside those of their hardware."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.rules._check import Check

_MOST = 8
"""Labels of a ResourceFlavor (kubernetes-sigs/kueue:apis/kueue/v1beta2/resourceflavor_types.go)."""

RULE = Rule(
    id="node/impossible-labels",
    severity=Severity.ERROR,
    summary=f"""
        Labels of a pool add to those of its hardware: no key has two values, and there are at most
        {_MOST} in all.
    """,
    why="""
        With two values no node fits: pods select that of the hardware, and Kueue adds that of the
        pool. With more labels, the API server refuses the pool's ResourceFlavor, and no job of its
        queues starts.
    """,
    fix="Tell the pools of one hardware apart by a key that the hardware profile lacks.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for pool in site.cluster.pools:
            if pool.own_labels:
                yield from _check(pool)


def _check(pool: Pool) -> Iterator[Diagnostic]:
    hardware = pool.hardware
    notes = [Note(f"labels of a `{hardware.name}`", hardware.stated("labels"))]
    for key, value in pool.own_labels.items():
        if hardware.labels.get(key, value) != value:
            message = (
                f"pool `{pool.name}` has label {key}={value}, and its hardware "
                f"{key}={hardware.labels[key]}"
            )
            yield RULE.at(pool.at / "labels" / key, message, notes=notes)
    if len(pool.labels) > _MOST:
        message = f"{len(pool.labels)} labels select the nodes of pool `{pool.name}`"
        yield RULE.at((pool.at / "labels").key(), message, notes=notes)


CHECK = Check(RULE, find)
