"""Find metadata of components' objects that may influence a controller."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.lookup import mapping
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._components import ComponentObject, component_objects, distinct
from trainyard.rules._iterate import all_settings

KEYS = frozenset(
    {
        *(f"app.kubernetes.io/{name}" for name in ("component", "name", "part-of", "version")),
        "opendatahub.io/dashboard",
        "openshift.io/description",
        "openshift.io/display-name",
    }
)
"""Labels and annotations that inform people and influence no controller of the platform."""


_OF_SECRET = ("spec", "target", "template", "metadata")


RULE = Rule(
    id="delivery/foreign-metadata-key",
    severity=Severity.ERROR,
    summary="""
        A component's objects have no label, annotation or finalizer that influences a controller,
        or looks as if it did.
    """,
    why="""
        One `argocd.argoproj.io/sync-options: Prune=confirm` freezes the team's whole sync unit once
        the object is removed: `waiting for pruning confirmation of /ConfigMap/<name>`, and nothing
        newer is applied (seen with Argo CD 3.5.7). A made-up key has no effect, but looks as if it
        had one.
    """,
    fix="""
        Remove it, or use a key below the `domain` of trainyard.yaml; express placement, storage and
        regulation in profiles.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    yield from distinct(_findings(platform))


def _findings(platform: Platform) -> Iterator[Diagnostic]:
    domains = tuple({f".{each.domain}" for each in all_settings(platform)})
    for handwritten in component_objects(platform):
        if handwritten.served:
            for path, description in _foreign(handwritten, domains):
                yield RULE.at(
                    handwritten.at.below(path).key(),
                    f"{handwritten.display} has {description}",
                )


def _foreign(
    each: ComponentObject, domains: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the path of each key that may influence a controller, and its description.

    An ExternalSecret also contains the metadata that its Secret gets.
    """
    for path in (("metadata",), _OF_SECRET):
        metadata = mapping(each.body, *path)
        for field in sorted(metadata.keys() - {"annotations", "labels", "name", "namespace"}):
            yield (*path, field), f"`{field}`"
        for field in ("annotation", "label"):
            for key in mapping(metadata, f"{field}s"):
                prefix = key.rpartition("/")[0]
                if key not in KEYS and not f".{prefix}".endswith(domains):
                    yield (*path, f"{field}s", key), f"the {field} `{key}`"


CHECK = Check(RULE, find, every=("trainyard.yaml",))
