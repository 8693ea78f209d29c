"""Report what kustomize and kubeconform reject at the profiles that it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.diagnostics import Diagnostic, Pointer, Step
from trainyard.generation.objects import invalid
from trainyard.model.manifest import UNLISTED, Manifest
from trainyard.model.platform import Site
from trainyard.rules.delivery.unit_does_not_build import RULE as UNIT_DOES_NOT_BUILD
from trainyard.rules.release.invalid_manifest import RULE as INVALID_MANIFEST
from trainyard.verify.kubeconform import Finding
from trainyard.verify.kustomize import Refusal


def unbuilt_units(site: Site, outputs: Mapping[str, str | Refusal]) -> Iterator[Diagnostic]:
    """Yield a finding for each sync unit that kustomize does not build.

    Args:
        site: the cluster.
        outputs: what kustomize made of each unit.
    """
    for unit, output in outputs.items():
        if isinstance(output, Refusal):
            at = _named(site, unit, output.message)
            yield UNIT_DOES_NOT_BUILD.at(at, f"{unit}: {output.message}")


def rejected_objects(
    site: Site, findings: Iterable[Finding], manifests: Iterable[Manifest]
) -> Iterator[Diagnostic]:
    """Yield kubeconform's findings at the profiles that the objects were made from.

    Args:
        site: the cluster.
        findings: of kubeconform.
        manifests: the objects that it read.
    """
    known: dict[tuple[str, str, str], Manifest] = {}
    for manifest in manifests:
        stream = manifest.path if manifest.unit in UNLISTED else manifest.unit
        known[stream, manifest.kind.name, manifest.name] = manifest
    for finding in findings:
        place = finding.path.removeprefix("/").replace("/", ".")
        message = f"{place}: {finding.message}" if place else finding.message
        found = known.get((finding.stream, finding.kind, finding.name))
        if found:
            yield invalid(found, _steps(found.body, finding.path), message)
        else:
            text = f"{finding.stream}: {finding.kind} {finding.name}: {message}"
            yield INVALID_MANIFEST.at(_origin(site, finding.stream), text)


def _named(site: Site, unit: str, message: str) -> Pointer:
    """Return the object, file or component that kustomize names, else the unit's profile."""
    for words, at in _places(site, unit):
        if words in message:
            return at
    return _origin(site, unit)


def _places(site: Site, unit: str) -> Iterator[tuple[str, Pointer]]:
    """Yield how kustomize names what hand-written components add to a unit, and where that is.

    Objects come first, then their files, then whole components.
    """
    components = site.units[unit].components if unit in site.units else ()
    for component in components:
        for at, _, body in component.each():
            metadata = body["metadata"]
            yield f"/{metadata['name']}.{metadata.get('namespace')}'", at
    for component in components:
        for at, file, _ in component.each():
            yield f"/{component.name}/{file}'", Pointer(at.file)
    for component in components:
        yield f"/{component.name}'", component.at


def _steps(body: Any, pointer: str) -> Iterator[Step]:
    """Yield the steps of a JSON pointer into a body, as far as they lead."""
    for part in pointer.split("/")[1:]:
        step = _step(body, part.replace("~1", "/").replace("~0", "~"))
        if step is None:
            return
        yield step
        body = body[step]


def _step(body: Any, name: str) -> Step | None:
    """Return a step of a JSON pointer as a key or index of a body; None when there is none."""
    if isinstance(body, list) and name.isdecimal() and int(name) < len(body):
        return int(name)
    return name if isinstance(body, dict) and name in body else None


def _origin(site: Site, unit: str) -> Pointer:
    """Return the profile that a whole unit is made from."""
    return site.units[unit].team.at if unit in site.units else site.cluster.at
