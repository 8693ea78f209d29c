"""Find teams with the name of a part of the platform."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model import names
from trainyard.model.platform import Platform
from trainyard.model.reserved import fits, job_names
from trainyard.rules._check import Check

RULE = Rule(
    id="names/reserved-team",
    severity=Severity.ERROR,
    summary="No team has the name of a part of the platform.",
    why="""
        Reviewers and selectors would take the team's folders, applications and queues for the
        platform's, because these are named after the team. So are its sample jobs, and admission
        refuses a job with a name of the platform's or of another controller's.
    """,
    fix="Choose another name; the name is that of the team's file.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team in platform.teams:
        if team.name in names.RESERVED_TEAMS or team.name.startswith(("kube-", "openshift-")):
            yield RULE.at(team.at, f"a team cannot be named `{team.name}`: the name is reserved")
        elif team.folder in names.RESERVED_TEAMS:
            message = f"a team cannot have the folder `{team.folder}`: the name is reserved"
            yield RULE.at(team.at / "folder", message)
    yield from dict.fromkeys(_refused_samples(platform))


def _refused_samples(platform: Platform) -> Iterator[Diagnostic]:
    """Yield teams whose sample jobs have names that no job may have."""
    for site in platform.sites:
        refused = job_names(site)
        for tenant in site.tenants:
            samples = (
                sample for space in tenant.spaces for sample in (*space.samples, *space.tests)
            )
            if any(fits(sample.name, refused) for sample in samples):
                message = f"a team cannot be named `{tenant.name}`: its jobs would be refused"
                yield RULE.at(tenant.team.at, message)


CHECK = Check(RULE, find)
