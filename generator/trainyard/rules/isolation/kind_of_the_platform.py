"""Find kinds that would let accounts of teams choose what the platform gives."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.member_kinds import is_of_the_platform
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/kind-of-the-platform",
    severity=Severity.ERROR,
    summary="Accounts of teams write no kind that chooses networks, queues, nodes or deliveries.",
    why="""
        An account of a team's namespace makes one, for example a pipeline's. The operator of the
        kind then acts on it with rights of its own: it gives the team another team's partition,
        quota or nodes, or an Argo CD every right in the namespace.
    """,
    fix="Remove it from `memberKinds`; what teams need of it, a hand-written component delivers.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for kind in filter(is_of_the_platform, site.cluster.member_kinds):
            message = f"`{kind}` is in `memberKinds` of cluster `{site.name}`"
            yield RULE.at(site.cluster.at / "memberKinds", message)


CHECK = Check(RULE, find)
