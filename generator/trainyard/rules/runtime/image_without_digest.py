"""Find images of runtimes and their steps that have no digest."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.runtime import Runtime
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/image-without-digest",
    severity=Severity.ERROR,
    summary="Every image of a runtime has a digest.",
    why="""
        Two nodes of one job may run two builds, because a tag can be moved. What was tested is then
        not what runs.
    """,
    fix="Append the digest that `skopeo inspect` shows: `@sha256:` and 64 hex digits.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        for at, image in _images(runtime):
            if "@sha256:" not in image:
                yield RULE.at(at, f"image `{image}` has no digest")


def _images(runtime: Runtime) -> Iterator[tuple[Pointer, str]]:
    """Yield the image of the ranks and the one that all steps share, each with its place."""
    yield runtime.at / "image", runtime.image
    if runtime.initializers:
        yield runtime.at / "initialize" / "image", runtime.initializers[0].image


CHECK = Check(RULE, find)
