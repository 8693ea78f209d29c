"""Compare the version at the end of a runtime's file name with its `version`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

_SUFFIX = re.compile(r"-v([0-9]+)\Z")


RULE = Rule(
    id="runtime/version-differs-from-file",
    severity=Severity.ERROR,
    summary="A runtime whose file is named after a version has that version.",
    why="""
        The file becomes a runtime of its own instead of a version: `openmpi-cuda-v2` with version 3
        becomes the object `openmpi-cuda-v2-v3-...`, beside the versions of `openmpi-cuda` (seen
        with Trainer 2.3.0).
    """,
    fix="Rename the file, or correct its `version`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    families = {runtime.family: runtime for runtime in platform.runtimes}
    for runtime in platform.runtimes:
        named = _SUFFIX.search(runtime.name)
        if named is None or named[1] == str(runtime.version):
            continue
        # Without other versions, `llama-v2` is a name like any other.
        other = families.get(runtime.name[: named.start()])
        if other:
            message = f"the file's name ends with v{named[1]}, but `version` is {runtime.version}"
            notes = [Note(f"another version of `{other.family}`", other.at)]
            yield RULE.at(runtime.at / "version", message, notes=notes)


CHECK = Check(RULE, find)
