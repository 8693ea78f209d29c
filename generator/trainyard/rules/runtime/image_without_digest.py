"""Find images that only a tag names, those of the steps before the ranks too."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/image-without-digest",
    severity=Severity.ERROR,
    summary="Every image of a runtime is named by its digest.",
    why="""
        A tag can be moved: two nodes of one job may run two builds, and what was tested is not what
        runs.
    """,
    fix="Append the digest that `skopeo inspect` shows: @sha256:... and 64 hex digits.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        images = [(runtime.at / "image", runtime.image)]
        images += [
            (runtime.at / "initialize" / "image", step.image) for step in runtime.initializers[:1]
        ]
        for at, image in images:
            if "@sha256:" not in image:
                yield RULE.at(at, f"image `{image}` has no digest")


CHECK = Check(RULE, find)
