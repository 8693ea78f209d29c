"""Find user ids and SELinux levels that two namespaces have, removed namespaces included."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.ids import UIDS
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/uids-shared",
    severity=Severity.ERROR,
    summary="Each namespace of a cluster has its own range of user ids and its own SELinux level.",
    why="""
        Pods of one namespace can read the other's files wherever they reach them, in a folder or
        left on a node: for a file server and for SELinux the pods of both namespaces are one user.
    """,
    fix="""
        Write the range that each namespace has on the cluster; for a new one, the next range, as
        `trainyard add team` does.
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
                    note = Note("the first of them", at / owner / field)
                    yield RULE.at(at / ids.namespace / field, message, notes=[note])


CHECK = Check(RULE, find)
