"""Find fabrics whose virtual functions Trainer would count as GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/gpu-in-resource-name",
    severity=Severity.ERROR,
    summary="Neither the name of a fabric on rails, nor `resources` or `devices`, contains `gpu`.",
    why="""
        On nodes without GPUs, a torchrun job that leaves its number of ranks open gets `auto`
        instead of the number of cores of its pod (seen with Trainer 2.3.0). Trainer counts every
        resource with `gpu` in its name as GPUs, and the name of a fabric on rails becomes part of
        the names of its virtual functions' resources.
    """,
    fix="Rename the fabric, e.g. `ib` after its link; or set other `resources`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for each in site.cluster.device_fabrics:
            if "gpu" in each.devices:
                message = f"`{each.devices}` of fabric `{each.name}` has `gpu` in its name"
                hint = "Have the plugin advertise the devices under another name, e.g. `rdma/ib`."
                yield RULE.at(each.at / "devices", message, hint=hint)
        for fabric in site.cluster.rail_fabrics:
            if "gpu" in fabric.resources:
                message = (
                    f"the virtual functions of fabric `{fabric.name}` have `gpu` in their "
                    "resource name"
                )
                own = fabric.resources == fabric.name
                yield RULE.at(fabric.at.key() if own else fabric.at / "resources", message)


CHECK = Check(RULE, find)
