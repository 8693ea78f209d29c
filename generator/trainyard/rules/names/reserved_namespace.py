"""Find namespaces of teams with a name that is another's."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model import names
from trainyard.model.platform import Platform, Site
from trainyard.model.reserved import fits, shadowing_namespaces
from trainyard.model.trusted import trusted_namespaces
from trainyard.rules._check import Check

RULE = Rule(
    id="names/reserved-namespace",
    severity=Severity.ERROR,
    summary="No team's namespace has a name that belongs to the platform or to another team.",
    why="""
        The team would get roles, quotas and a default-deny policy where others run: daemons that
        policies trust, Argo CD, or the pods of everybody. The default name of another team is
        taken as soon as that team states none.
    """,
    fix="State the name of a namespace that only this team uses, or leave the key out.",
)
_SYSTEM = ("default", "kube-*", "openshift", "openshift-*")


def find(platform: Platform) -> Iterator[Diagnostic]:
    usual = {
        names.namespace(team.name, space.name): (team.name, space.namespace)
        for team in platform.teams
        for space in team.spaces
    }
    found = []
    for site in platform.sites:
        for space in site.spaces:
            team, namespace = space.team.name, space.namespace
            owner, held = usual.get(namespace, (team, ""))
            reason = _owner(site, namespace)
            # Where the other one has the name, `names/clashing-names` finds both.
            if owner != team and held != namespace:
                reason = f"is the default of team {owner}"
            if reason:
                message = f"namespace `{namespace}` of team {team} {reason}"
                found.append(RULE.at(space.profile.namespace_at, message))
    yield from dict.fromkeys(found)


def _owner(site: Site, name: str) -> str:
    """Return to whom a namespace belongs, as the end of a sentence; empty for nobody."""
    cluster = site.cluster
    if name not in cluster.named_namespaces:
        return ""
    if fits(name, (*_SYSTEM, cluster.system_namespace)):
        return "belongs to the system"
    delivers, _, _ = cluster.argocd_account.partition(":")
    if fits(name, (cluster.argocd_namespace, delivers, *trusted_namespaces(cluster))):
        return f"belongs to the platform on cluster `{cluster.name}`"
    if f"Namespace/{name}" in cluster.external:
        return f"is one of others in `external` of cluster `{cluster.name}`"
    if name in shadowing_namespaces(site):
        return "would answer for a host of that domain"
    return ""


CHECK = Check(RULE, find)
