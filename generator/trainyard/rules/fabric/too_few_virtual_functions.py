"""Compare the virtual functions of a share with the pods of each runtime's smallest job."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._shares import flavors_in_parts, runtimes

RULE = Rule(
    id="fabric/too-few-virtual-functions",
    severity=Severity.ERROR,
    summary="A share of a node includes a virtual function of each rail for every pod of a job.",
    why="""
        No job of the team is ever admitted, `insufficient quota for <resource> ... > maximum
        capacity`: each pod takes one virtual function of each rail, and Kueue counts them like any
        resource.
    """,
    fix="Set `virtualFunctions` of the port to the number of GPUs of the node.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for tenant, flavor in flavors_in_parts(platform):
        quota, functions = flavor.quota, flavor.pool.hardware.virtual_functions
        if not flavor.pool.rails:
            continue
        for runtime in runtimes(platform, tenant, flavor.pool):
            pods, allocatable = runtime.smallest_job, int(quota.nodes * functions)
            if runtime.uses_rdma and quota.own % pods == 0 and allocatable < pods:
                message = (
                    f"a share of {quota.display(quota.nodes)} includes {allocatable} of the "
                    f"{counted(functions, 'virtual function')} of a rail, but the smallest job "
                    f"with runtime `{runtime.name}` takes {pods}"
                )
                at = flavor.pool.hardware.at / "nic" / "virtualFunctions"
                notes = [Note(f"the share of team {tenant.name}", quota.place)]
                yield RULE.at(at, message, notes=notes)


CHECK = Check(RULE, find)
