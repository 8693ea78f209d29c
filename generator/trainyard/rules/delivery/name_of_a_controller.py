"""Find objects of a team's namespace with a name that a controller gives to objects of its own."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model import names
from trainyard.model.lookup import mapping
from trainyard.model.platform import Platform, Site
from trainyard.model.space import Space
from trainyard.rules._check import Check
from trainyard.rules._components import ComponentObject, component_objects, distinct

RULE = Rule(
    id="delivery/name-of-a-controller",
    severity=Severity.ERROR,
    summary="No object of a team has a name that a controller gives to objects of its own.",
    why="""
        The sync unit is not synced, where admission refuses a name such as
        `<job>-runtime-snapshot`, from which Trainer builds pods: `are Trainer's alone` (seen with
        Argo CD 3.5.7). Under the other names the controller and Argo CD overwrite each other's
        changes, or the controller takes our object for its own. The reference lists these names for
        each release.
    """,
    fix="Give the object another name.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    yield from distinct(_findings(platform))


def _findings(platform: Platform) -> Iterator[Diagnostic]:
    for handwritten in component_objects(platform):
        if handwritten.served:
            kind, name, at = _made(handwritten)
            yield from _taken(handwritten.site, kind, name, at, handwritten.display)
    for site in platform.sites:
        for egress in site.cluster.egress:
            name = names.egress_policy(egress.name)
            yield from _taken(site, "NetworkPolicy", name, egress.at, f"egress `{egress.name}`")
        for tenant in site.tenants:
            for space in tenant.spaces:
                yield from _of_space(site, space)


def _made(each: ComponentObject) -> tuple[str, str, Pointer]:
    """Return kind and name of what a component's object makes, and the place of the name."""
    name, at = str(each.body["metadata"]["name"]), each.at / "metadata" / "name"
    if each.kind != "ExternalSecret":
        return each.kind, name, at
    target = mapping(each.body, "spec", "target")
    if "name" in target:
        return "Secret", str(target["name"]), each.at / "spec" / "target" / "name"
    return "Secret", name, at


def _of_space(site: Site, space: Space) -> Iterator[Diagnostic]:
    """Yield findings about the storage of a namespace, and about its own accounts."""
    for claim in space.claims:
        at = claim.storage.at
        yield from _taken(site, "PersistentVolumeClaim", claim.name, at, f"claim `{claim.name}`")
    for secret in space.secrets:
        at = site.cluster.at / ("storage" if secret.kind == "s3" else "pullSecrets") / secret.name
        yield from _taken(site, "Secret", secret.name, at, f"Secret `{secret.name}`")


def _taken(site: Site, kind: str, name: str, at: Pointer, display: str) -> Iterator[Diagnostic]:
    """Yield each controller that gives a name to an object of a kind, and changes what has it."""
    for derived_name in site.cluster.release.derived_names:
        if (
            derived_name.kind == kind
            and derived_name.taken != "kept"
            and not derived_name.is_bare
            and derived_name.fits(name)
        ):
            yield RULE.at(at, f"{display} has a name that only {derived_name.by} may use")


CHECK = Check(RULE, find)
