"""Compare a cluster that runs with the tree that is committed for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from trainyard.change.drift.compare import adopted
from trainyard.derivation.derive import encoded, gvk_of, path_of, schema_of
from trainyard.derivation.source import served
from trainyard.diagnostics import Diagnostic, ToolError
from trainyard.model.adoption import adopted_name
from trainyard.model.live import Live
from trainyard.model.manifest import Manifest
from trainyard.model.readable import CRDS
from trainyard.model.release import Schemas
from trainyard.rules.live import check_live
from trainyard.rules.preflight.adopted_differs import RULE as ADOPTED_DIFFERS
from trainyard.rules.preflight.field_not_served import RULE as FIELD_NOT_SERVED
from trainyard.rules.preflight.unchecked import RULE as UNCHECKED
from trainyard.schema.manifests import check_manifest

_MANAGERS = "Dump with `--show-managed-fields`: it says which of them `kubectl apply` wrote."
_HINT = "Compare the operator's version with the release's, and waive this."


def compare(live: Live) -> Iterator[Diagnostic]:
    """Yield what a cluster contradicts of its tree, and what could not be checked."""
    yield from check_live(live)
    yield from _fields(live)
    yield from _adopted(live)


def _adopted(live: Live) -> Iterator[Diagnostic]:
    """Yield what a sync would change in objects of others."""
    for found in adopted(live):
        changes = [f"{field.path} {field.excerpt}" for field in found.fields]
        changes += [f"{each} is deleted" for each in found.lost]
        name, manifest = adopted_name(found.manifest.body), found.manifest
        if changes:
            message = f"{name} is there, and the sync changes it: {', '.join(changes)}"
            yield ADOPTED_DIFFERS.at(manifest.at, message)
        if found.doubtful:
            labels = ", ".join(found.doubtful)
            message = f"{name}: nobody knows whether the sync deletes these labels: {labels}"
            yield ADOPTED_DIFFERS.at(manifest.at, message, hint=_MANAGERS)


def _fields(live: Live) -> Iterator[Diagnostic]:
    """Yield the fields of the tree's objects that the cluster's CRDs refuse, or would drop."""
    ordered = sorted(live.delivered, key=_kind)
    for (api_version, kind), members in groupby(ordered, key=_kind):
        try:
            schemas = _schemas(live, api_version, kind)
            yield from _faults(schemas, members) if schemas else ()
        except (ToolError, ValueError) as problem:
            message = f"the CRD of {kind} in {api_version}: {str(problem)[:300]}"
            yield UNCHECKED.at(live.at, message, hint=_HINT)


def _faults(schemas: Schemas, members: Iterable[Manifest]) -> Iterator[Diagnostic]:
    for manifest in members:
        for path, message in check_manifest(schemas, manifest.body):
            yield FIELD_NOT_SERVED.at(manifest.place(path), f"{manifest.display}: {message}")


def _kind(manifest: Manifest) -> tuple[str, str]:
    return manifest.body["apiVersion"], manifest.body["kind"]


def _schemas(live: Live, api_version: str, kind: str) -> Schemas | None:
    """Return the schema of a kind by the cluster's own CRD; None where it has none.

    Raises:
        ToolError: the CRD has a keyword or form that is not known.
    """
    gvk = gvk_of(api_version, kind)
    try:
        found = [source for crd in live.of(CRDS) for source in served(crd, gvk)]
    except (AttributeError, KeyError, TypeError) as error:
        raise ToolError("it has another form than a CRD's") from error
    if not found:
        return None
    own = encoded({f"schemas/{path_of(gvk)}": schema_of(gvk, found[0])})
    return replace(live.site.cluster.release.schemas, own=own)
