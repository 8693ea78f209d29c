"""The committed tree, verified offline: fresh, schema by schema, built as Argo CD builds it, and counted.

A number that does not agree with the others is an error: an object that a tool passed over in
silence would otherwise look checked.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from trainyard.diagnostics import (
    Diagnostic,
    Pointer,
    Rule,
    Severity,
    Step,
    ToolError,
    TreeError,
    has_errors,
)
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.output.compare import reading
from trainyard.render.unit import UNLISTED, units
from trainyard.schema.manifests import schema_folder
from trainyard.verify.kubeconform import Finding, validate
from trainyard.verify.kustomize import Refusal, build
from trainyard.verify.run import end_all
from trainyard.verify.tools import Tool, find_kubeconform, find_kustomize
from trainyard.workflows.freshness import check_fresh, check_replaced
from trainyard.workflows.generate import (
    INVALID_MANIFEST,
    Generation,
    check_object,
    component_manifests,
    generate,
    invalid,
)
from trainyard.workflows.worktree import check_tree_path
from trainyard.yaml_io.manifests import parse_manifests

UNIT_DOES_NOT_BUILD = Rule(
    id="delivery/unit-does-not-build",
    severity=Severity.ERROR,
    summary="Kustomize builds each sync unit.",
    why="""
        Argo CD can't render the unit: its Application stays in `ComparisonError` and nothing of it
        is delivered, until a commit puts it right (seen with Argo CD 3.5.7: `may not add resource
        with an already registered id`).
    """,
    fix="""
        Correct the hand-written component that kustomize names; for anything else, report a bug of
        Trainyard.
    """,
)
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
RULES = (UNIT_DOES_NOT_BUILD, OBJECTS_LOST)

_PAUSE = 0.05
"""Seconds between two attempts to end programs: one may be just about to start."""


@dataclass(frozen=True, slots=True)
class Count:
    """What was verified of one cluster.

    Args:
        objects: listed by kustomizations, those of hand-written components included.
        valid: of them, against the release's strict schemas, read back from the tree.
        built: objects in what kustomize builds.
        conform: of them, valid in kubeconform.
        skipped: objects that kubeconform passed over.
        units, units_built: sync units there, and those that build.
        samples: jobs to copy; checked, never synced.
        artifacts: files for other hands than Argo CD's, of a kind with a schema; checked too.
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
    """A verified tree; without counts when an error stopped it before its objects were looked at."""

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
    kustomize, kubeconform = tools
    manifests = generation.manifests[site.name]
    texts = {path: _text(folder / path, content) for path, content in _files(site, generation)}
    committed = [
        *(_read_back(texts, manifest) for manifest in manifests),
        *component_manifests(site),
    ]
    checked = [(manifest, tuple(check_object(site, manifest))) for manifest in committed]
    outputs = _build(kustomize, folder, tuple(units(manifests)))
    built = {unit: output for unit, output in outputs.items() if isinstance(output, str)}
    objects = sum(_count(unit, text) for unit, text in built.items())
    unlisted = {
        manifest.path: texts[manifest.path] for manifest in manifests if manifest.unit in UNLISTED
    }
    samples = sum(manifest.unit == "samples" for manifest in manifests)
    report = validate(kubeconform, {**built, **unlisted}, _schemas(site))
    refused = sorted({*report.invalid, *report.errors})
    added = Counter(manifest.unit for manifest in component_manifests(site))
    by_unit = {unit: _listed(texts, unit) + added[unit] for unit in outputs}
    count = Count(
        cluster=site.name,
        objects=sum(by_unit.values()),
        valid=sum(not faults for manifest, faults in checked if manifest.path not in unlisted),
        built=objects,
        conform=report.valid - len(unlisted.keys() - {finding.stream for finding in refused}),
        skipped=report.skipped,
        units=len(outputs),
        units_built=len(built),
        samples=samples,
        artifacts=len(unlisted) - samples,
        others=len(texts) - len(manifests),
        by_unit=by_unit,
    )
    found = (
        *(fault for _, faults in checked for fault in faults),
        *_refusals(site, outputs),
        *_refused(site, refused, committed),
    )
    return count, found or tuple(_check_count(site, count))


def _files(site: Site, generation: Generation) -> Iterator[tuple[str, bytes]]:
    """Yield the generated files of a site by path below its folder."""
    for path, content in generation.files.items():
        cluster, _, inside = path.partition("/")
        if cluster == site.name:
            yield inside, content


def _text(path: Path, content: bytes) -> str:
    """Return the text of a committed file, which was found to be what is generated a moment ago.

    Raises:
        TreeError: it can't be read, or is something else by now.
    """
    with reading(path):
        if path.read_bytes() != content:
            raise TreeError(f"{path} was changed while it was verified; verify again")
    return content.decode()


def _read_back(texts: Mapping[str, str], manifest: Manifest) -> Manifest:
    (body,) = parse_manifests(texts[manifest.path])
    return replace(manifest, body=body)


def _build(kustomize: Tool, folder: Path, names: tuple[str, ...]) -> dict[str, str | Refusal]:
    """Build units side by side. The first failure, or Ctrl-C, ends those that still run.

    Raises:
        ToolError: kustomize crashed, hung or printed rubbish.
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


def _count(unit: str, text: str) -> int:
    """Return how many objects kustomize built of a unit.

    Raises:
        ToolError: it printed something else.
    """
    try:
        bodies = parse_manifests(text)
    except ValueError as error:
        raise ToolError(f"kustomize printed no YAML for {unit}: {error}") from error
    if not all(isinstance(body, dict) and {"apiVersion", "kind"} <= body.keys() for body in bodies):
        raise ToolError(f"kustomize printed something that is no Kubernetes object for {unit}")
    return len(bodies)


def _schemas(site: Site) -> str:
    folder = schema_folder(site.cluster.release.name).resolve()
    return f"{folder}/{{{{.Group}}}}/{{{{.ResourceKind}}}}_{{{{.ResourceAPIVersion}}}}.json"


def _listed(texts: Mapping[str, str], unit: str) -> int:
    """Return how many objects a committed kustomization lists."""
    (body,) = parse_manifests(texts[f"{unit}/kustomization.yaml"])
    return len(body["resources"])


def _refusals(site: Site, outputs: Mapping[str, str | Refusal]) -> Iterator[Diagnostic]:
    for unit, output in outputs.items():
        if isinstance(output, Refusal):
            yield UNIT_DOES_NOT_BUILD.at(
                _named(site, unit, output.message), f"{unit}: {output.message}"
            )


def _named(site: Site, unit: str, message: str) -> Pointer:
    """Return the object, file or component that kustomize names, or else the profile that the unit comes from."""
    components = [
        each
        for tenant in site.tenants
        for each in tenant.components
        if f"teams/{tenant.name}" == unit
    ]
    objects = [(component.name, *each) for component in components for each in component.each()]
    places = (
        *(
            (f"/{body['metadata']['name']}.{body['metadata'].get('namespace')}'", at)
            for _, at, _, body in objects
        ),
        *((f"/{name}/{file}'", Pointer(at.file)) for name, at, file, _ in objects),
        *((f"/{component.name}'", component.at) for component in components),
    )
    return next((at for words, at in places if words in message), _home(site, unit))


def _refused(
    site: Site, findings: Iterable[Finding], manifests: Iterable[Manifest]
) -> Iterator[Diagnostic]:
    """Yield kubeconform's findings at the profile places that the objects were made from."""
    known: dict[tuple[str, str, str], Manifest] = {}
    for manifest in manifests:
        stream = manifest.path if manifest.unit in UNLISTED else manifest.unit
        known[stream, manifest.kind.name, manifest.name] = manifest
    for finding in findings:
        found = known.get((finding.stream, finding.kind, finding.name))
        where = f"{finding.path.removeprefix('/').replace('/', '.')}: " if finding.path else ""
        if found:
            yield invalid(found, _steps(found.body, finding.path), f"{where}{finding.message}")
        else:
            message = f"{finding.stream}: {finding.kind} {finding.name}: {where}{finding.message}"
            yield INVALID_MANIFEST.at(_home(site, finding.stream), message)


def _steps(body: Any, pointer: str) -> Iterator[Step]:
    """Yield the steps of a JSON pointer into a body, as far as they lead."""
    for part in pointer.split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        if isinstance(body, list) and step.isdecimal() and int(step) < len(body):
            yield int(step)
            body = body[int(step)]
        elif isinstance(body, dict) and step in body:
            yield step
            body = body[step]
        else:
            return


def _home(site: Site, unit: str) -> Pointer:
    """Return the profile that a whole unit comes from."""
    teams = {f"teams/{tenant.name}": tenant.team.at for tenant in site.tenants}
    return teams.get(unit, site.cluster.at)


def _check_count(site: Site, count: Count) -> Iterator[Diagnostic]:
    if count.skipped or len({count.objects, count.valid, count.built, count.conform}) > 1:
        message = (
            f"the kustomizations list {count.objects} objects, kustomize builds {count.built}; "
            f"{count.valid} are valid against the schemas, {count.conform} in kubeconform, which "
            f"skipped {count.skipped}"
        )
        yield OBJECTS_LOST.at(site.cluster.at, message)
