"""Find accounts that controllers create, and accounts that pods use by default."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model import names
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import active

PLATFORM_ACCOUNTS = frozenset({"builder", "default", "deployer", "pipeline"})
"""Accounts that Kubernetes, OpenShift and OpenShift Pipelines create in every namespace."""


RULE = Rule(
    id="access/shadowed-account",
    severity=Severity.ERROR,
    summary="A team's own service accounts have names that the platform does not use.",
    why=f"""
        Each job gets the role (seen with Kubernetes 1.36.3): every pod that names no account runs
        as `default`, and every rank runs as `{names.JOB_ACCOUNT}`. OpenShift creates `default`,
        `builder`, `deployer` and `pipeline` itself, so it and Argo CD overwrite each other's
        changes.
    """,
    fix="Rename the account under `serviceAccounts`, e.g. to `ci-runner`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team in active(platform):
        for account in team.accounts:
            overwritten = account.name in PLATFORM_ACCOUNTS and not account.owner
            if overwritten or account.name in {"default", names.JOB_ACCOUNT}:
                message = (
                    f"service account `{account.name}` of team {team.name} has the role "
                    f"{account.role}, but the platform uses this name"
                )
                yield RULE.at(account.at.key(), message)


CHECK = Check(RULE, find)
