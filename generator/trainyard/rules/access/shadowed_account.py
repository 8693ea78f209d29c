"""Find accounts that others make, and those that pods run as without anybody asking."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model import names
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import active

OTHERS_ACCOUNTS = frozenset({"builder", "default", "deployer", "pipeline"})
"""Accounts that Kubernetes, OpenShift and OpenShift Pipelines make in every namespace."""


RULE = Rule(
    id="access/shadowed-account",
    severity=Severity.ERROR,
    summary="A team's own service accounts have names that nobody else uses.",
    why=f"""
        OpenShift makes `default`, `builder`, `deployer` and `pipeline` itself and fights over them
        with Argo CD; every pod that names no account runs as `default`, and every rank as
        `{names.JOB_ACCOUNT}`: each job has the role (seen with Kubernetes 1.36.3).
    """,
    fix="Choose another name, e.g. ci-runner.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team in active(platform):
        for account in team.accounts:
            ours = account.name in OTHERS_ACCOUNTS and not account.owner
            if ours or account.name in {"default", names.JOB_ACCOUNT}:
                message = (
                    f"`{account.name}` can't be a service account of team {team.name} with "
                    f"the role {account.role}"
                )
                yield RULE.at(account.at.key(), message)


CHECK = Check(RULE, find)
