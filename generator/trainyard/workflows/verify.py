"""Verify the committed tree offline: fresh, valid, built as Argo CD builds it, and counted.

A count that differs from the others is an error: otherwise an object that a tool silently skips
would look checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import Path

from trainyard.diagnostics import Diagnostic, ToolError, has_errors
from trainyard.generation.generate import ALONE, Generation, Run, Target, generate
from trainyard.generation.objects import check_object
from trainyard.model.platform import Site
from trainyard.schema.manifests import schema_folder
from trainyard.side_by_side import Early
from trainyard.tree.memory import check_memory_since
from trainyard.verify.kubeconform import LAYOUT, validate
from trainyard.verify.kustomize import Refusal, build
from trainyard.verify.tools import Tool, find_kubeconform, find_kustomize
from trainyard.workflows.committed import (
    Committed,
    Count,
    check_count,
    count_objects,
    read_committed,
)
from trainyard.workflows.generate import check_tree
from trainyard.workflows.known import Part, Unchanged, parts_of, unchanged_since, with_proven
from trainyard.workflows.placement import rejected_objects, unbuilt_units

_HEADS = (re.compile(r"^apiVersion: \S", re.MULTILINE), re.compile(r"^kind: \S", re.MULTILINE))
"""Lines that each object has."""

Outputs = Mapping[str, str | Refusal]
"""What kustomize makes of sync units, by their folders."""


@dataclass(frozen=True, slots=True)
class Verification:
    """A verified tree; without counts when an error stopped it before its objects were read.

    Args:
        base: the commit whose units were left out; empty for none.
        proven: number of sync units, and of other folders, that this machine verified before.
    """

    generation: Generation
    diagnostics: tuple[Diagnostic, ...]
    counts: tuple[Count, ...] = ()
    base: str = ""
    proven: int = 0


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of a tree that is verified.

    Args:
        clusters: names of the only ones wanted; all when empty.
        since: branch, tag or id of a commit: units and files that it has already are left out.
            Everything is verified when empty.
    """

    clusters: tuple[str, ...] = ()
    since: str = ""


EVERYTHING = Scope()


def verify(
    place: Target, today: str = "", scope: Scope = EVERYTHING, run: Run = ALONE
) -> Verification:
    """Verify the tree that is committed for the profiles below a folder.

    The whole tree must be what is generated, and is checked as `generate` checks it, whatever the
    scope. It limits what is built and validated.

    Args:
        place: the profiles and the tree.
        today: ISO date that waivers are measured against.
        scope: the part that is verified.
        run: counts the sync units that are built; what earlier commands proved is not done again.

    Raises:
        TreeError: a file or the commit can't be read.
        ToolError: a tool or schema is missing or broken.
    """
    tools = find_kustomize(), find_kubeconform()
    with Early(partial(build, tools[0])) as builders:
        generation, diagnostics = check_tree(place, today, scope.clusters, Run(proofs=run.proofs))
        diagnostics += tuple(check_memory_since(place.tree, scope.since, generation.manifests))
        if has_errors(diagnostics):
            return Verification(generation, diagnostics)
        base = unchanged_since(place, generation, scope.since)
        sites = tuple(_sites(generation))
        parts = {site.name: list(_parts(site, generation, tools, base)) for site in sites}
        outputs = _build(place.target, parts, builders, run)
    counts, proven = [], 0
    for site in sites:
        known = _known(parts[site.name], run)
        committed = read_committed(site, place.tree, generation, known.keys())
        committed = committed.without(base.of(site.name))
        numbers, found = _verify_site(committed, outputs.pop(site.name), tools[1])
        if not found:
            run.proofs.keep(map(attrgetter("proof"), parts[site.name]))
        counts.append(with_proven(_with_base(numbers, base), known.values()))
        diagnostics += found
        proven += len(known)
    return Verification(generation, diagnostics, tuple(counts), base.commit, proven)


def _sites(generation: Generation) -> Iterator[Site]:
    """Yield the clusters that were generated."""
    platform = generation.checked.platform
    for site in platform.sites if platform else ():
        if site.name in generation.manifests:
            yield site


def _known(parts: Iterable[Part], run: Run) -> dict[str, Part]:
    """Return the parts that were verified before, by folder."""
    return {part.folder: part for part in parts if part.proof in run.proofs}


def _parts(
    site: Site, generation: Generation, tools: tuple[Tool, Tool], base: Unchanged
) -> Iterator[Part]:
    """Yield the parts of a cluster that are looked at as a whole, since no commit has any of it."""
    for part in parts_of(site, generation, tools):
        if part.folder not in base.units.get(site.name, ()) and (part.is_unit or not base.ref):
            yield part


def _with_base(count: Count, base: Unchanged) -> Count:
    """Return the numbers of a cluster with what a commit has."""
    units, files = base.units.get(count.cluster, ()), base.files.get(count.cluster, ())
    return replace(count, left_out=units, files_left_out=len(files))


def _build(
    tree: Path,
    parts: Mapping[str, Iterable[Part]],
    builders: Early[Path, str | Refusal],
    run: Run,
) -> dict[str, dict[str, str | Refusal]]:
    """Return what kustomize makes of the units that were not verified before, by cluster.

    Raises:
        ToolError: kustomize crashed, hung or printed something unreadable.
    """
    units = [
        (cluster, part.folder)
        for cluster, each in parts.items()
        for part in each
        if part.is_unit and part.proof not in run.proofs
    ]
    built = builders.each([tree / cluster / unit for cluster, unit in units], run.progress)
    outputs: dict[str, dict[str, str | Refusal]] = {cluster: {} for cluster in parts}
    for (cluster, unit), output in zip(units, built, strict=True):
        outputs[cluster][unit] = output
    return outputs


def _verify_site(
    committed: Committed, outputs: Outputs, kubeconform: Tool
) -> tuple[Count, tuple[Diagnostic, ...]]:
    """Check a cluster's objects three times and compare the numbers.

    Against the release's schemas, in what kustomize builds of them, and in kubeconform.
    """
    site = committed.site
    valid, faults = _check_schemas(site, committed)
    streams: dict[str, str] = {}
    built: dict[str, int] = {}
    for unit, output in outputs.items():
        if isinstance(output, str):
            streams[unit], built[unit] = output, _objects_in(unit, output)
    report = validate(kubeconform, {**streams, **committed.unlisted}, *_schemas(site))
    found = (
        *faults,
        *unbuilt_units(site, outputs),
        *rejected_objects(site, report.rejected, committed.objects),
    )
    numbers = count_objects(committed, valid, built, report)
    return numbers, found or tuple(check_count(site, numbers))


def _check_schemas(site: Site, committed: Committed) -> tuple[list[str], list[Diagnostic]]:
    """Return the path of each object that fits its schema, and the faults of the others."""
    valid: list[str] = []
    found: list[Diagnostic] = []
    for manifest in committed.objects:
        faults = tuple(check_object(site, manifest))
        found += faults
        if not faults:
            valid.append(manifest.path)
    return valid, found


def _schemas(site: Site) -> tuple[str, dict[str, bytes]]:
    """Return the path of shipped schemas, as a template that kubeconform fills in, and own ones."""
    schemas = site.cluster.release.schemas
    own = {path.removeprefix("schemas/"): content for path, content in schemas.own.items()}
    return f"{schema_folder(schemas.base).resolve()}/{LAYOUT}", own


def _objects_in(unit: str, text: str) -> int:
    """Return how many objects kustomize built of a unit.

    A line ``---`` ends a document wherever it is (YAML 1.2.2, 9.1.2), so that counting needs no
    parser. Kubeconform parses each object, and its count is compared with this one.

    Raises:
        ToolError: it printed something else.
    """
    documents = text.split("\n---\n") if text else []
    for document in documents:
        if not all(head.search(document) for head in _HEADS):
            raise ToolError(f"kustomize printed something else than Kubernetes objects for {unit}")
    return len(documents)


@dataclass(frozen=True, slots=True)
class Examined:
    """A platform and its tree.

    Args:
        counts: of the committed tree, by cluster; empty when an error stopped the verification.
        unverified: why the tree was not verified; empty when it was.
    """

    generation: Generation
    diagnostics: tuple[Diagnostic, ...]
    counts: dict[str, Count]
    unverified: str


def examine(
    place: Target, clusters: tuple[str, ...] = (), today: str = "", run: Run = ALONE
) -> Examined:
    """Verify the committed tree, or check what is generated where a tool for that is missing.

    Args:
        place: the profiles and the tree.
        clusters: names of the only ones wanted; all when empty.
        today: ISO date that waivers are measured against.
        run: as `verify` takes it.

    Raises:
        TreeError: a file can't be read.
        ToolError: a schema is missing, or a tool breaks while it works.
    """
    missing = _missing()
    if missing:
        generation = generate(place.root, place.components_root, clusters, today, place.tree)
        return Examined(generation, generation.diagnostics, {}, missing)
    verified = verify(place, today, Scope(clusters), run)
    counts = {count.cluster: count for count in verified.counts}
    return Examined(verified.generation, verified.diagnostics, counts, "")


def _missing() -> str:
    """Return why a tool of `verify` can't be used; empty when all can."""
    try:
        find_kustomize()
        find_kubeconform()
    except ToolError as problem:
        return str(problem)
    return ""
