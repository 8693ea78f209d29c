"""Compare the name of every ConfigMap with those that controllers make."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._components import brought, once

_OWNERS = {
    "*-mpi-hostfile": "Trainer",
    "*-runtime-snapshot": "Trainer",
    "kube-root-ca.crt": "Kubernetes",
    "openshift-service-ca.crt": "OpenShift",
}
"""Who makes a ConfigMap, by a pattern of its name."""


RULE = Rule(
    id="delivery/name-of-a-controller",
    severity=Severity.ERROR,
    summary="A component's ConfigMap has no name that a controller uses for its own.",
    why="""
        Trainer builds pods from `<job>-runtime-snapshot`, so admission refuses it, and the unit is
        not synced: `are Trainer's alone` (seen with Argo CD 3.5.7). The other ConfigMaps are
        written by a controller too: Argo CD and the controller overwrite each other's data.
    """,
    fix="Give the ConfigMap another name.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    yield from once(
        RULE.at(
            each.at / "metadata" / "name", f"{each.display} has a name that only {owner} may use"
        )
        for each in brought(platform, "ConfigMap")
        for pattern, owner in _OWNERS.items()
        if each.served and fnmatchcase(each.body["metadata"]["name"], pattern)
    )


CHECK = Check(RULE, find)
