"""Verify the committed tree offline: fresh, valid, built as Argo CD builds it, and counted.

A count that differs from the others is an error: otherwise an object that a tool silently skips
would look checked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trainyard.diagnostics import Diagnostic, Rule, Severity, ToolError, has_errors
from trainyard.model.platform import Site
from trainyard.programs import end_all
from trainyard.schema.manifests import schema_folder
from trainyard.verify.kubeconform import Report, validate
from trainyard.verify.kustomize import Refusal, build
from trainyard.verify.tools import Tool, find_kubeconform, find_kustomize
from trainyard.workflows.committed import Committed, read_committed
from trainyard.workflows.freshness import check_fresh
from trainyard.workflows.generate import Generation, generate
from trainyard.workflows.objects import check_object
from trainyard.workflows.placement import rejected_objects, unbuilt_units
from trainyard.workflows.transition import check_replaced
from trainyard.workflows.worktree import check_tree_path
from trainyard.yaml_io.manifests import parse_manifests

OBJECTS_LOST = Rule(
    id="delivery/objects-lost",
    severity=Severity.ERROR,
    summary="""
        Kustomizations list, kustomize builds and both validators accept the same number of objects.
    """,
    why="An object that no tool looked at may be refused by the cluster, or never reach it.",
    fix="""
        A hand-written component must only add objects; for anything else, report a bug of
        Trainyard.
    """,
)
RULES = (OBJECTS_LOST,)

_PAUSE = 0.05
"""Seconds between two attempts to end programs: one may be just about to start."""


@dataclass(frozen=True, slots=True)
class Count:
    """Numbers of what was verified of one cluster.

    Args:
        objects: listed by kustomizations, those of hand-written components included.
        valid: of them, against the release's strict schemas, read back from the tree.
        built: objects in what kustomize builds.
        conform: of them, valid in kubeconform.
        skipped: objects that kubeconform passed over.
        units, units_built: sync units there, and those that build.
        samples: jobs to copy; checked, never synced.
        artifacts: files that Argo CD does not apply, of a kind with a schema; checked too.
        others: all other files: kustomizations, lockfile, README, fragments.
        by_unit: objects of each sync unit.
    """

    cluster: str
    objects: int
    valid: int
    built: int
    conform: int
    skipped: int
    units: int
    units_built: int
    samples: int
    artifacts: int
    others: int
    by_unit: dict[str, int]


@dataclass(frozen=True, slots=True)
class Verification:
    """A verified tree; without counts when an error stopped it before its objects were read."""

    generation: Generation
    diagnostics: tuple[Diagnostic, ...]
    counts: tuple[Count, ...] = ()


def verify(
    root: Path, target: Path, components_root: str, clusters: Iterable[str] = (), today: str = ""
) -> Verification:
    """Verify the tree that is committed for the profiles below a folder.

    Args:
        root: the profiles.
        target: the tree.
        components_root: path of the hand-written components relative to the tree.
        clusters: names of the only ones wanted; all when empty.
        today: ISO date that waivers are measured against.

    Raises:
        TreeError: a file can't be read.
        ToolError: a tool or schema is missing or broken.
    """
    tools = find_kustomize(), find_kubeconform()
    wanted = tuple(clusters)
    generation = generate(root, components_root, wanted, today, target)
    diagnostics = (*generation.diagnostics, *check_tree_path(root, target, generation.checked))
    for check in (partial(check_replaced, clusters=wanted), check_fresh):
        if not has_errors(diagnostics):
            diagnostics += tuple(check(target, generation))
    if has_errors(diagnostics) or generation.checked.platform is None:
        return Verification(generation, diagnostics)
    counts = []
    for site in generation.checked.platform.sites:
        if site.name in generation.manifests:
            count, found = _verify_site(site, target / site.name, generation, tools)
            counts.append(count)
            diagnostics += found
    return Verification(generation, diagnostics, tuple(counts))


def _verify_site(
    site: Site, folder: Path, generation: Generation, tools: tuple[Tool, Tool]
) -> tuple[Count, tuple[Diagnostic, ...]]:
    """Check a cluster's objects three times and compare the numbers.

    Against the release's schemas, in what kustomize builds of them, and in kubeconform.
    """
    kustomize, kubeconform = tools
    committed = read_committed(site, folder, generation)
    valid, faults = _check_schemas(site, committed)
    outputs = _build(kustomize, folder, committed.units)
    streams = {unit: output for unit, output in outputs.items() if isinstance(output, str)}
    built = {unit: _count_objects(unit, text) for unit, text in streams.items()}
    report = validate(kubeconform, {**streams, **committed.unlisted}, _schemas(site))
    found = (
        *faults,
        *unbuilt_units(site, outputs),
        *rejected_objects(site, report.rejected, committed.objects),
    )
    count = _count(committed, valid, built, report)
    return count, found or tuple(_check_count(site, count))


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


def _build(kustomize: Tool, folder: Path, names: tuple[str, ...]) -> dict[str, str | Refusal]:
    """Build units side by side. The first failure, or Ctrl-C, ends those that still run.

    Raises:
        ToolError: kustomize crashed, hung or printed something unreadable.
    """
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        futures = {unit: pool.submit(build, kustomize, folder / unit) for unit in names}
        try:
            for future in as_completed(futures.values()):
                future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            while not all(future.done() for future in futures.values()):
                end_all()
                time.sleep(_PAUSE)
            raise
    return {unit: future.result() for unit, future in futures.items()}


def _schemas(site: Site) -> str:
    """Return the path of a cluster's schemas, as a template that kubeconform fills in."""
    folder = schema_folder(site.cluster.release.name).resolve()
    return f"{folder}/{{{{.Group}}}}/{{{{.ResourceKind}}}}_{{{{.ResourceAPIVersion}}}}.json"


def _count(
    committed: Committed, valid: Sequence[str], built: Mapping[str, int], report: Report
) -> Count:
    """Count what was verified.

    Args:
        committed: the files.
        valid: path of each object that fits the release's schemas.
        built: how many objects kustomize built of each unit that it builds.
        report: of kubeconform.
    """
    unlisted = committed.unlisted.keys()
    by_unit = {unit: committed.listed(unit) for unit in committed.units}
    rejected = {finding.stream for finding in report.rejected}
    return Count(
        cluster=committed.site.name,
        objects=sum(by_unit.values()),
        valid=sum(path not in unlisted for path in valid),
        built=sum(built.values()),
        conform=report.valid - len(unlisted - rejected),
        skipped=report.skipped,
        units=len(by_unit),
        units_built=len(built),
        samples=committed.samples,
        artifacts=len(unlisted) - committed.samples,
        others=len(committed.texts) - len(committed.manifests),
        by_unit=by_unit,
    )


def _count_objects(unit: str, text: str) -> int:
    """Return how many objects kustomize built of a unit.

    Raises:
        ToolError: it printed something else.
    """
    try:
        bodies = parse_manifests(text)
    except ValueError as error:
        raise ToolError(f"kustomize printed no YAML for {unit}: {error}") from error
    for body in bodies:
        if not isinstance(body, dict) or not {"apiVersion", "kind"} <= body.keys():
            raise ToolError(f"kustomize printed something that is no Kubernetes object for {unit}")
    return len(bodies)


def _check_count(site: Site, count: Count) -> Iterator[Diagnostic]:
    if count.skipped or len({count.objects, count.valid, count.built, count.conform}) > 1:
        message = (
            f"the kustomizations list {count.objects} objects, kustomize builds {count.built}; "
            f"{count.valid} are valid against the schemas, {count.conform} in kubeconform, which "
            f"skipped {count.skipped}"
        )
        yield OBJECTS_LOST.at(site.cluster.at, message)
