"""The site that this repository generates, and mutations of its manifests."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from trainyard.diagnostics import Step
from trainyard.generation.generate import generate
from trainyard.generation.objects import component_manifests
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.references.graph import check_references

ROOT = Path(__file__).resolve().parents[2]


@cache
def flagship() -> tuple[Site, tuple[Manifest, ...]]:
    """Return the flagship's site and all its manifests, those of components included."""
    generation = generate(ROOT / "profiles", "../profiles/components", ["prod-east"])
    assert generation.checked.platform is not None, generation.diagnostics
    site = next(site for site in generation.checked.platform.sites if site.name == "prod-east")
    return site, (*generation.manifests[site.name], *component_manifests(site))


def position(path: str) -> int:
    """Return the index of the one manifest whose path has an ending."""
    (found,) = (i for i, manifest in enumerate(flagship()[1]) if manifest.path.endswith(path))
    return found


def changed(at: int, change: Callable[[dict[str, Any]], object]) -> list[Manifest]:
    """Return the flagship's manifests with one of them changed."""
    manifests = list(flagship()[1])
    body = deepcopy(manifests[at].body)
    change(body)
    manifests[at] = replace(manifests[at], body=body)
    return manifests


def put(body: dict[str, Any], path: tuple[Step, ...], change: Callable[[Any], object]) -> None:
    """Replace the value at a path."""
    inner: Any = body
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = change(inner[path[-1]])


def rules(manifests: list[Manifest]) -> set[str]:
    """Return the rules that the flagship breaks with these manifests."""
    return {each.rule for each in check_references(flagship()[0], manifests)}


def messages(manifests: list[Manifest]) -> list[str]:
    """Return the messages about the flagship with these manifests."""
    return [each.message for each in check_references(flagship()[0], manifests)]
