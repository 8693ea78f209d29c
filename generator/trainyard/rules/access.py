"""Who gets a role."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model import names
from trainyard.model.platform import Platform
from trainyard.model.team import Team
from trainyard.rules._check import Check
from trainyard.rules._walk import active

CLUSTER_GROUPS = frozenset({"cluster-admin", "cluster-admins", "cluster-readers", "dedicated-admins", "kubeadmin"})
"""Groups that installers and managed OpenShift make for the cluster's administrators."""

OTHERS_ACCOUNTS = frozenset({"builder", "default", "deployer", "pipeline"})
"""Accounts that Kubernetes, OpenShift and OpenShift Pipelines make in every namespace."""

SYSTEM_SUBJECT = Rule(
    id="access/system-subject",
    severity=Severity.ERROR,
    summary="Roles go to groups of the identity provider, never to groups of the platform itself.",
    why=(
        "`system:authenticated` is everybody with an account and `system:serviceaccounts` every pod of the cluster: all"
        " of them have the role (seen with Kubernetes 1.36.3: another team's pods read this one's jobs). A group of"
        " cluster administrators makes who may do what impossible to review."
    ),
    fix="Name a group of people that the identity provider keeps.",
)
GROUP_IN_TWO_TEAMS = Rule(
    id="access/group-in-two-teams",
    severity=Severity.WARNING,
    summary="A group has roles in one team only.",
    why=(
        "Its people read and submit in both namespaces (seen with Kubernetes 1.36.3), and a job can carry one team's"
        " files into the other."
    ),
    fix="Make a group for each team, or waive this rule with the reason.",
)
GROUP_IN_TWO_ROLES = Rule(
    id="access/group-in-two-roles",
    severity=Severity.WARNING,
    summary="A group has one role in a team.",
    why=(
        "Roles add up: the group has the rights of the stronger one (seen with Kubernetes 1.36.3), whatever the weaker"
        " one suggests in review."
    ),
    fix="Take the weaker role away.",
)
NOBODY_MAY_SUBMIT = Rule(
    id="access/nobody-may-submit",
    severity=Severity.ERROR,
    summary="Somebody in a team has a role that may submit jobs.",
    why=(
        'Every TrainJob is refused, `... cannot create resource "trainjobs" in API group "trainer.kubeflow.org"` (seen'
        " with Kubernetes 1.36.3), and the team's nodes serve only those who borrow."
    ),
    fix="Give a group the role `user` or `admin`.",
)
SHADOWED_ACCOUNT = Rule(
    id="access/shadowed-account",
    severity=Severity.ERROR,
    summary="A team's own service accounts have names that nobody else uses.",
    why=(
        "OpenShift makes `default`, `builder`, `deployer` and `pipeline` itself and fights over them with Argo CD;"
        f" every pod that names no account runs as `default`, and every rank as `{names.JOB_ACCOUNT}`: each job has the"
        " role (seen with Kubernetes 1.36.3)."
    ),
    fix="Choose another name, e.g. ci-runner.",
)
TEAM_GROUP_RUNS_PLATFORM = Rule(
    id="access/team-group-runs-platform",
    severity=Severity.WARNING,
    summary="Groups that run or audit a cluster have no role in a team on it.",
    why=(
        "Everybody of that team reads what all teams do: an operator their logs too, and operators delete their jobs"
        " (seen with Kubernetes 1.36.3). What was meant for a few is given with each new member of the team."
    ),
    fix="Make a group of the few, beside the team's.",
)


def system_subject(platform: Platform) -> Iterator[Diagnostic]:
    """Look at the groups of every team and of the platform's own roles."""
    for group, role, at in _groups(platform):
        if group.startswith("system:") or group in CLUSTER_GROUPS:
            yield SYSTEM_SUBJECT.at(at, f"`{group}` has the role {role}, but is no group of the identity provider")


def _groups(platform: Platform) -> Iterator[tuple[str, str, Pointer]]:
    for team in active(platform):
        for role, groups in team.groups.items():
            yield from ((group, role, team.at / "groups" / role) for group in groups)
    for site in platform.sites:
        for role, groups in (("operator", site.cluster.operators), ("auditor", site.cluster.auditors)):
            yield from ((group, role, site.cluster.at / "roles" / role) for group in groups)


def group_in_two_teams(platform: Platform) -> Iterator[Diagnostic]:
    """Find groups of an earlier team among those of a later one; each pair once."""
    known: dict[str, tuple[Team, str]] = {}
    for team in active(platform):
        own = {group: role for role, groups in team.groups.items() for group in groups}
        for group, role in own.items():
            other, where = known.setdefault(group, (team, role))
            if other is not team:
                notes = [Note(f"{where} of team {other.name}", other.at / "groups" / where)]
                message = f"`{group}` is {role} of team {team.name} and {where} of team {other.name}"
                yield GROUP_IN_TWO_TEAMS.at(team.at / "groups" / role, message, notes=notes)


def group_in_two_roles(platform: Platform) -> Iterator[Diagnostic]:
    """Find groups with a second role in their team."""
    for team in active(platform):
        known: dict[str, str] = {}
        for role, groups in team.groups.items():
            for group in groups:
                first = known.setdefault(group, role)
                if first != role:
                    message = f"`{group}` is both {first} and {role} of team {team.name}"
                    notes = [Note(f"{first} here", team.at / "groups" / first)]
                    yield GROUP_IN_TWO_ROLES.at(team.at / "groups" / role, message, notes=notes)


def nobody_may_submit(platform: Platform) -> Iterator[Diagnostic]:
    """Find teams of viewers."""
    for team in active(platform):
        roles = {*team.groups, *(account.role for account in team.accounts)}
        if team.state == "active" and not roles & {"admin", "user"}:
            yield NOBODY_MAY_SUBMIT.at(team.at / "groups", f"nobody in team {team.name} may submit jobs")


def shadowed_account(platform: Platform) -> Iterator[Diagnostic]:
    """Find accounts that others make, and those that pods run as without anybody asking."""
    for team in active(platform):
        for account in team.accounts:
            ours = account.name in OTHERS_ACCOUNTS and not account.owner
            if ours or account.name in {"default", names.JOB_ACCOUNT}:
                message = (
                    f"`{account.name}` can't be a service account of team {team.name} with the role {account.role}"
                )
                yield SHADOWED_ACCOUNT.at(account.at.key(), message)


def team_group_runs_platform(platform: Platform) -> Iterator[Diagnostic]:
    """Find groups of teams among those with a role in the whole cluster."""
    for site in platform.sites:
        teams = {
            group: (tenant.team, role)
            for tenant in site.tenants
            for role, groups in tenant.team.groups.items()
            for group in groups
        }
        for role, groups in (("operator", site.cluster.operators), ("auditor", site.cluster.auditors)):
            for group in (each for each in groups if each in teams):
                team, own = teams[group]
                message = f"`{group}` is {role} of cluster {site.name} and {own} of team {team.name}"
                notes = [Note(f"{own} of team {team.name}", team.at / "groups" / own)]
                yield TEAM_GROUP_RUNS_PLATFORM.at(site.cluster.at / "roles" / role, message, notes=notes)


CHECKS = (
    Check(SYSTEM_SUBJECT, system_subject),
    Check(GROUP_IN_TWO_TEAMS, group_in_two_teams),
    Check(GROUP_IN_TWO_ROLES, group_in_two_roles),
    Check(NOBODY_MAY_SUBMIT, nobody_may_submit),
    Check(SHADOWED_ACCOUNT, shadowed_account),
    Check(TEAM_GROUP_RUNS_PLATFORM, team_group_runs_platform),
)
