"""Find clusters whose admission spares what others run on the nodes of pools."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/adopting",
    severity=Severity.WARNING,
    summary="No cluster spares pods of others on the nodes of its pools.",
    why="""
        Whoever may make a pod anywhere takes GPUs and rails of the teams outside of every queue
        (seen with Kubernetes 1.36.3).
        Whoever may make a namespace gives it the name or the label of a team, with its networks.
        The audit log has it, and nothing stops it.
    """,
    fix="""
        Read the audit log's annotation `validation.policy.admission.k8s.io/validation_failure`,
        move what it names, then remove `adopt.pods`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        adoption = site.cluster.adoption
        if not adoption.refuses:
            message = (
                f"until {adoption.until} cluster {site.name} refuses no pod of others on the nodes "
                "of its pools"
            )
            note = Note(f"the reason is: {adoption.reason}", adoption.at / "reason")
            yield RULE.at(adoption.at / "pods", message, notes=[note])


CHECK = Check(RULE, find)
