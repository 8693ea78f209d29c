"""Describe what differs between the pods of two runtimes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.model.differences import differences, few
from trainyard.model.lookup import mapping, mappings, text
from trainyard.model.manifest import Manifest


def described(old: Manifest, new: Manifest) -> tuple[str, ...]:
    """Return the differences of two ClusterTrainingRuntimes.

    Args:
        old: the runtime before.
        new: the runtime after.

    Returns:
        One line for each image and each variable, however many containers have it; the last line
        has the other fields.
    """
    before, after = old.body.get("spec", {}), new.body.get("spec", {})
    images: set[tuple[str, str]] = set()
    variables: set[str] = set()
    for one, other in _pairs(before, after):
        images.add((text(one, "image"), text(other, "image")))
        changed = differences(_environment(one), _environment(other))
        variables.update(f"environment {each.path} {each.display}" for each in changed)
    lines = sorted(f"image {one} -> {other}" for one, other in images if one != other)
    return (*lines, *sorted(variables), *_others(before, after))


def _others(before: Any, after: Any) -> Iterator[str]:
    """Yield the first fields that differ, in one line."""
    fields = set()
    for field in differences(before, after):
        if not _IMAGE_OR_ENV.search(field.path):
            fields.add(f"{_tail(field.path)} {field.display}")
    if fields:
        yield few(sorted(fields))


_IMAGE_OR_ENV = re.compile(r"ontainers\[[^]]+]\.(?:image|env|env\[.*)\Z", re.DOTALL)


def _pairs(before: Any, after: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each container of both sides; one that is new or gone is among the other fields."""
    old, new = dict(_containers(before)), dict(_containers(after))
    for place in sorted(old.keys() & new.keys()):
        yield old[place], new[place]


def _containers(spec: Any) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """Yield each container of each replicated job, by the names of both."""
    for job in mappings(spec, "template", "spec", "replicatedJobs"):
        pod = mapping(job, "template", "spec", "template", "spec")
        for kind in ("initContainers", "containers"):
            for container in mappings(pod, kind):
                yield (text(job, "name"), text(container, "name")), container


def _environment(container: Any) -> dict[str, str]:
    variables = {}
    for variable in mappings(container, "env"):
        value = variable.get("value", variable.get("valueFrom"))
        variables[text(variable, "name")] = str(value)
    return variables


def _tail(path: str) -> str:
    """Return the field without the replicated job and container that it is in."""
    return path.rpartition("].")[2].removeprefix("template.spec.")
