"""Find names that would make GPUs of virtual functions."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/gpu-in-resource-name",
    severity=Severity.ERROR,
    summary="A fabric has no `gpu` in its name, nor in its `resources`.",
    why="""
        The name becomes that of its virtual functions' resources, and Trainer takes every resource
        with `gpu` in its name for GPUs: on processors a torchrun job that leaves its number of
        ranks open is told `auto`, and not how many cores its pod has (seen with Trainer 2.3.0).
    """,
    fix="Rename the fabric, e.g. after its link: ib; or give it other `resources`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for fabric in site.cluster.fabrics:
            if "gpu" in fabric.resources:
                message = (
                    f"the virtual functions of fabric `{fabric.name}` have `gpu` in their name"
                )
                own = fabric.resources == fabric.name
                yield RULE.at(fabric.at.key() if own else fabric.at / "resources", message)


CHECK = Check(RULE, find)
