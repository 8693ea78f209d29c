"""Find Applications with names of the tree that read another Git repository."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.facts import Body, digest, named, place_of
from trainyard.model.live import Live
from trainyard.model.lookup import mapping, mappings, text
from trainyard.model.readable import APPLICATION_SETS, APPLICATIONS
from trainyard.rules._check import LiveCheck
from trainyard.rules.preflight.excluded_kind import is_here

RULE = Rule(
    id="preflight/application-of-another-repository",
    severity=Severity.ERROR,
    summary="No Application of another Git repository has the name of one of the tree.",
    why="""
        Two repositories have a cluster of this name in one Argo CD. Each takes the other's
        Applications over, and deletes what it does not have: queues and policies of the other.
    """,
    fix="""
        Give the cluster of one repository another name, before its first sync. If the repository
        has moved, waive this until Argo CD has the new address.
    """,
    waivable=True,
)


def find(live: Live) -> Iterator[Diagnostic]:
    places = _places(live)
    for resource in (APPLICATIONS, APPLICATION_SETS):
        for name, body in sorted(named(live.of(resource)).items()):
            if name in places and _is_of_another(live, body):
                message = f"{resource.kind} `{name}` reads another Git repository"
                yield RULE.at(places[name], message)


def _places(live: Live) -> dict[str, Pointer]:
    """Return the place of each Application of the tree, and of each set of them."""
    of_teams = {tenant.application: tenant.team.at for tenant in live.site.tenants}
    made = (*live.made(APPLICATION_SETS), *live.made(APPLICATIONS))
    return of_teams | {each.name: each.at for each in made}


def _is_of_another(live: Live, body: Body) -> bool:
    """Return whether an Application in Argo CD's namespace, made as ours are, reads another."""
    own = digest(live.site.cluster.settings.repository)
    is_its = place_of(body)[0] == live.site.cluster.argocd_namespace
    others = {each for each in _repositories(body) if each and each != own}
    return is_its and bool(others) and not live.owner(body)


def _repositories(body: Body) -> Iterator[str]:
    """Yield the digest of each repository that an Application reads, or those of a set will."""
    spec = mapping(dict(body), "spec")
    for source in (mapping(spec, "source"), mapping(spec, "template", "spec", "source")):
        yield text(source, "repoURL")
    yield from (text(source, "repoURL") for source in mappings(spec, "sources"))


LIVE = LiveCheck(RULE, find, (APPLICATIONS, APPLICATION_SETS), concerns=is_here)
