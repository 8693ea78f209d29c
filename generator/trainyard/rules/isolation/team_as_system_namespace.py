"""Find system namespaces with a name that a team has, or may get."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model import names
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/team-as-system-namespace",
    severity=Severity.ERROR,
    summary="Neither a namespace of a team nor `default` is a system namespace.",
    why="""
        Pods of the namespace, such as a workbench of the team, run on the training nodes and take
        their GPUs without a queue and a quota (seen with Kubernetes 1.36.3). Admission skips the
        pods of a system namespace. `default` has the pods of everyone who names no
        namespace.
    """,
    fix="Remove it from `systemNamespaces`, and run the daemon in a namespace of its own.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for name in site.cluster.system_namespaces:
            if owner := names.owner_of_namespace(name):
                message = (
                    f"`{name}` is in `systemNamespaces` of cluster `{site.name}`, but belongs to "
                    f"{owner}"
                )
                yield RULE.at(site.cluster.at / "systemNamespaces", message)


CHECK = Check(RULE, find)
