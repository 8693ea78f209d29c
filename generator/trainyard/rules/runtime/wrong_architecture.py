"""Compare the architectures of a runtime's images with those of its hardware."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware_of

RULE = Rule(
    id="runtime/wrong-architecture",
    severity=Severity.ERROR,
    summary="The images of a runtime are for the processors of all its hardware.",
    why="""
        Each pod of the runtime ends on these nodes with `exec format error`, or its node finds no
        image to pull: `no match for platform in manifest`.
    """,
    fix="""
        Build the images for this architecture too, name the digest of the index with all of them,
        and add the architecture to `arch`; or make a runtime for each architecture.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        for each in hardware_of(platform, runtime):
            if each.architecture not in runtime.architectures:
                images = " and ".join(runtime.architectures)
                message = (
                    f"the images of runtime `{runtime.name}` are for {images}, but the processors "
                    f"of a `{each.name}` are {each.architecture}"
                )
                notes = [Note("the hardware", each.at)]
                yield RULE.at(runtime.at / "arch", message, notes=notes)


CHECK = Check(RULE, find)
