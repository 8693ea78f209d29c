"""Look at everything in the metadata of every object that a component may hold."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.lookup import mapping
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._components import Brought, brought, once

KEYS = frozenset(
    {
        *(f"app.kubernetes.io/{name}" for name in ("component", "name", "part-of", "version")),
        "opendatahub.io/dashboard",
        "openshift.io/description",
        "openshift.io/display-name",
    }
)
"""Labels and annotations that tell people something and steer no controller of ours."""


_OF_SECRET = ("spec", "target", "template", "metadata")


RULE = Rule(
    id="delivery/foreign-metadata-key",
    severity=Severity.ERROR,
    summary="""
        A component's objects carry no label, annotation or finalizer that steers a controller, or
        pretends to.
    """,
    why="""
        One `argocd.argoproj.io/sync-options: Prune=confirm` freezes the team's whole unit once the
        object goes: `waiting for pruning confirmation of /ConfigMap/<name>`, and nothing newer is
        applied (seen with Argo CD 3.5.7). A made-up key does nothing and looks like a promise.
    """,
    fix="""
        Leave it out, or take a key below the settings' `domain`; say placement, storage and
        regulation in profiles.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    domain = platform.settings.domain
    yield from once(
        RULE.at(each.at.below(path).key(), f"{each.display} has {what}")
        for each in brought(platform)
        if each.served
        for path, what in _foreign(each, domain)
    )


def _foreign(each: Brought, domain: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the path of each key that does not belong there, and what it is.

    An ExternalSecret also says what metadata its Secret gets.
    """
    for path in (("metadata",), _OF_SECRET):
        metadata = mapping(each.body, *path)
        for field in sorted(metadata.keys() - {"annotations", "labels", "name", "namespace"}):
            yield (*path, field), f"`{field}`"
        for field in ("annotation", "label"):
            for key in mapping(metadata, f"{field}s"):
                prefix = key.rpartition("/")[0]
                if key not in KEYS and prefix != domain and not prefix.endswith(f".{domain}"):
                    yield (*path, f"{field}s", key), f"the {field} `{key}`"


CHECK = Check(RULE, find, every=("trainyard.yaml",))
