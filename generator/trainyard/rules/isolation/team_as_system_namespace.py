"""Look for names that a team has, or may have one day."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model import names
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

_EVERYBODY = "default"


RULE = Rule(
    id="isolation/team-as-system-namespace",
    severity=Severity.ERROR,
    summary="No namespace of a team, nor `default`, is a system namespace.",
    why="""
        Admission passes over the pods of a system namespace. A workbench of the team, or whatever
        else makes pods there, runs on the training nodes and takes their GPUs, beside the queue and
        every quota (seen with Kubernetes 1.36.3). `default` is where people's pods are made who
        name no namespace.
    """,
    fix="Take it out of `systemNamespaces`; run the daemon in a namespace of its own.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for name in site.cluster.system_namespaces:
            if name == _EVERYBODY or name.startswith(names.TEAM_PREFIX):
                whose = "everybody's" if name == _EVERYBODY else "a team's"
                message = (
                    f"`{name}` is the name of {whose} namespace, and a system namespace of "
                    f"cluster `{site.name}`"
                )
                yield RULE.at(site.cluster.at / "systemNamespaces", message)


CHECK = Check(RULE, find)
