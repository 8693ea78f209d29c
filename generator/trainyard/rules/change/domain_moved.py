"""Text of `change/domain-moved`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/domain-moved",
    severity=Severity.ERROR,
    summary="The domain of a delivered tree stays.",
    why="""
        Every label of Trainyard gets another name. Kueue and the admission policies select the
        namespaces of teams by such a label, and Argo CD changes labels and selectors in no order:
        in between, jobs start without a queue, and nobody enforces the teams' limits. Nodes keep
        the label of the old domain, so that no pool has a node.
    """,
    fix="""
        Restore the domain. A cluster that comes from another repository states its own, as
        `domain`.
    """,
)
