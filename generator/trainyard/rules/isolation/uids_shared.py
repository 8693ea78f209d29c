"""Compare the lines of each cluster, those of namespaces that are gone included."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.ids import UIDS
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/uids-shared",
    severity=Severity.ERROR,
    summary="Each namespace of a cluster has a range of user ids and an SELinux level of its own.",
    why="""
        To a file server and to SELinux the pods of both namespaces are one user. Where one can
        reach the other's folder or a file that it left on a node, nothing keeps it from reading it.
    """,
    fix="""
        Write what each namespace has on the cluster; for a new one, the next range as `trainyard
        add team` gives it.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for cluster, every in sorted(platform.ids.items()):
        owners: dict[object, str] = {}
        for ids in every:
            at = platform.allocations_at / cluster / UIDS
            for field, mark in ids.marks.items():
                owner = owners.setdefault(mark, ids.namespace)
                if owner != ids.namespace:
                    both = f"namespaces `{owner}` and `{ids.namespace}` of cluster `{cluster}`"
                    message = f"{both} both have {field} {getattr(ids, field)}"
                    note = Note("the first is given here", at / owner / field)
                    yield RULE.at(at / ids.namespace / field, message, notes=[note])


CHECK = Check(RULE, find)
