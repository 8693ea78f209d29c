"""Check that every name in a manifest is defined in the tree, or declared with its owner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainyard.diagnostics import Diagnostic, Note
from trainyard.model.adoption import adopted_name
from trainyard.model.manifest import UNLISTED, Kind, Manifest
from trainyard.model.nearest import nearest
from trainyard.model.platform import Site
from trainyard.references.coverage import check_coverage
from trainyard.references.extract import uses
from trainyard.references.index import Index, make_index, secret_of
from trainyard.references.limits import find_limits, listing_namespaces
from trainyard.references.names import LISTING, Use
from trainyard.references.project import check_unit, find_delivered
from trainyard.rules.references.defined_twice import RULE as DEFINED_TWICE
from trainyard.rules.references.undefined_name import RULE as UNDEFINED_NAME
from trainyard.rules.references.unknown_adopted import RULE as UNKNOWN_ADOPTED

MADE_BY_OTHERS = {"kube-root-ca.crt": "Kubernetes", "openshift-service-ca.crt": "OpenShift"}
"""ConfigMaps in every namespace, and their owners."""

_NAME = ("metadata", "name")


def check_references(site: Site, manifests: Sequence[Manifest]) -> Iterator[Diagnostic]:
    """Check every name in a site's manifests.

    Args:
        site: whose profiles declare what is external.
        manifests: all of its objects, samples and those of hand-written components included.
    """
    index = make_index(site, manifests)
    limits = tuple(find_limits(index))
    listing = listing_namespaces(limits)
    yield from _twice(manifests)
    yield from _unadopted(site, manifests)
    for manifest in manifests:
        yield from _undefined(index, manifest, uses(manifest.body, index.scope(manifest)), listing)
    for limit in limits:
        yield from _undefined(index, limit.manifest, limit.uses(), listing)
    yield from check_coverage(index, listing)
    yield from _delivery(index, manifests)


def _unadopted(site: Site, manifests: Sequence[Manifest]) -> Iterator[Diagnostic]:
    """Yield the objects to adopt that Argo CD does not apply."""
    adoption = site.cluster.adoption
    known = {adopted_name(each.body) for each in manifests if each.unit not in UNLISTED}
    for i, name in enumerate(adoption.objects):
        if name not in known:
            near = nearest(name, sorted(known))
            hint = f"did you mean `{near}`?" if near else ""
            message = f"the tree of cluster `{site.name}` has no object `{name}`"
            yield UNKNOWN_ADOPTED.at(adoption.at / "objects" / i, message, hint=hint)


def _twice(manifests: Iterable[Manifest]) -> Iterator[Diagnostic]:
    first: dict[tuple[Kind, str], Manifest] = {}
    for manifest in manifests:
        for kind, name in _objects(manifest):
            other = first.setdefault((kind, f"{manifest.namespace}/{name}"), manifest)
            if other is not manifest:
                message = (
                    f"{manifest.display}: {_named(kind.name, manifest.namespace, name)} is "
                    f"defined in {other.path} too"
                )
                notes = [Note("the other one comes from here", other.at)]
                yield DEFINED_TWICE.at(manifest.place(_NAME), message, notes=notes)
        if manifest.kind.name == "ConfigMap" and manifest.name in MADE_BY_OTHERS:
            message = (
                f"{manifest.display}: {MADE_BY_OTHERS[manifest.name]} makes a ConfigMap "
                f"`{manifest.name}` itself"
            )
            yield DEFINED_TWICE.at(manifest.place(_NAME), message)


def _objects(manifest: Manifest) -> Iterator[tuple[Kind, str]]:
    """Yield the object that a manifest is, and the one that its controller makes of it."""
    yield manifest.kind, manifest.name
    if manifest.kind.name == "ExternalSecret":
        yield Kind("", "Secret", namespaced=True), secret_of(manifest)


def _undefined(
    index: Index, manifest: Manifest, found: Iterable[Use], listing: Mapping[str, list[str]]
) -> Iterator[Diagnostic]:
    for use in found:
        for namespace in (
            listing.get(manifest.name, ()) if use.namespace == LISTING else (use.namespace,)
        ):
            if not index.knows((use.kind, namespace, use.name)):
                named = _named(use.kind, namespace, use.name)
                message = f"{manifest.display}: {use.where} names {named}, which nothing defines"
                near = nearest(use.name, sorted(index.siblings(use.kind, namespace)))
                hint = f"did you mean `{near}`?" if near else ""
                yield UNDEFINED_NAME.at(manifest.place(use.path), message, hint=hint)


def _named(kind: str, namespace: str, name: str) -> str:
    return f"{kind} `{name}` in namespace `{namespace}`" if namespace else f"{kind} `{name}`"


def _delivery(index: Index, manifests: Iterable[Manifest]) -> Iterator[Diagnostic]:
    units: dict[str, list[Manifest]] = {}
    for manifest in manifests:
        units.setdefault(manifest.unit, []).append(manifest)
    for delivered in find_delivered(index, units):
        use = delivered.use
        project = index.manifests.get((use.kind, use.namespace, use.name))
        if project is None:
            yield from _undefined(index, delivered.application, (use,), {})
        else:
            yield from check_unit(delivered, project.body, units[delivered.unit])
