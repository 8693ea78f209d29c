"""Versions of a runtime beside each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.runtime import Runtime
from trainyard.rules._check import Check

_SUFFIX = re.compile(r"-v([0-9]+)\Z")

VERSION_DIFFERS_FROM_FILE = Rule(
    id="runtime/version-differs-from-file",
    severity=Severity.ERROR,
    summary="A runtime whose file is named after a version has that version.",
    why=(
        "Versions of a runtime have the file's name without its version in common: `openmpi-cuda-v2` with version 3"
        " becomes the object `openmpi-cuda-v2-v3-...`, a runtime of its own beside the versions of `openmpi-cuda` (seen"
        " with Trainer 2.3.0)."
    ),
    fix="Rename the file, or correct its `version`.",
)
VERSION_GIVEN_TWICE = Rule(
    id="runtime/version-given-twice",
    severity=Severity.ERROR,
    summary="Each version of a runtime is in one file.",
    why=(
        "Both become one object on the cluster, with the image of one of them (seen with Trainer 2.3.0): jobs go on"
        " with the old image, or run with the new one that their teams never chose."
    ),
    fix="Raise the `version` of the one that is new.",
)
OLDER_VERSION_WITHOUT_END = Rule(
    id="runtime/older-version-without-end",
    severity=Severity.WARNING,
    summary="Every version of a runtime but the newest is deprecated and has an end.",
    why=(
        "Nobody is told to move: Trainer warns at each submission of a deprecated runtime only (seen with Trainer"
        " 2.3.0), and an image that nobody patches any more stays in use for ever."
    ),
    fix='Set `deprecated: {end: "2027-03-31"}` in the older version\'s file.',
)

NEWER_VERSION_DEPRECATED = Rule(
    id="runtime/newer-version-deprecated",
    severity=Severity.WARNING,
    summary="No version of a runtime ends before an older one.",
    why=(
        "Who moved to the newer version as he was told is told to move again (seen with Trainer 2.3.0), and earlier"
        " than who stayed: when it ends the older one is all that is left."
    ),
    fix="Take `deprecated` out of the newer version, or give it a later `end` than the older one's.",
)


def version_differs_from_file(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the version that ends a file's name with the one inside; `llama-v2` alone is a name like any other."""
    families = {runtime.family: runtime for runtime in platform.runtimes}
    for runtime in platform.runtimes:
        named = _SUFFIX.search(runtime.name)
        if named and named[1] != str(runtime.version) and (other := families.get(runtime.name[: named.start()])):
            message = f"the file's name ends with v{named[1]}, but `version` is {runtime.version}"
            notes = [Note(f"another version of `{other.family}`", other.at)]
            yield VERSION_DIFFERS_FROM_FILE.at(runtime.at / "version", message, notes=notes)


def version_given_twice(platform: Platform) -> Iterator[Diagnostic]:
    """Find runtimes of one family with one version: the file that is named after the version is the older one."""
    known: dict[tuple[str, int], Runtime] = {}
    for runtime in sorted(platform.runtimes, key=lambda each: each.name, reverse=True):
        other = known.setdefault((runtime.family, runtime.version), runtime)
        if other is not runtime:
            message = f"`{runtime.name}` and `{other.name}` are both version {runtime.version} of `{runtime.family}`"
            notes = [Note("the other", other.at / "version")]
            yield VERSION_GIVEN_TWICE.at(runtime.at / "version", message, notes=notes)


def older_version_without_end(platform: Platform) -> Iterator[Diagnostic]:
    """Look at every version that has a newer one beside it."""
    newest: dict[str, Runtime] = {}
    for runtime in sorted(platform.runtimes, key=lambda each: each.version):
        newest[runtime.family] = runtime
    for runtime in platform.runtimes:
        newer = newest[runtime.family]
        if newer.version > runtime.version and not runtime.end:
            than = f"version {newer.version}{', which is deprecated itself' if newer.end else ''}"
            message = f"version {runtime.version} of runtime `{runtime.family}` has no end beside {than}"
            yield OLDER_VERSION_WITHOUT_END.at(runtime.at / "version", message, notes=[Note("the newest", newer.at)])


def newer_version_deprecated(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the ends of every two versions that stand beside each other."""
    families: dict[str, list[Runtime]] = {}
    for runtime in sorted(platform.runtimes, key=lambda each: each.version):
        families.setdefault(runtime.family, []).append(runtime)
    for older, newer in (pair for versions in families.values() for pair in pairwise(versions)):
        if newer.end and newer.end < older.end:
            message = f"version {newer.version} of runtime `{newer.family}` ends on {newer.end}, before {older.version}"
            notes = [Note(f"version {older.version} ends on {older.end}", older.at / "deprecated" / "end")]
            yield NEWER_VERSION_DEPRECATED.at(newer.at / "deprecated" / "end", message, notes=notes)


CHECKS = (
    Check(VERSION_DIFFERS_FROM_FILE, version_differs_from_file),
    Check(VERSION_GIVEN_TWICE, version_given_twice),
    Check(OLDER_VERSION_WITHOUT_END, older_version_without_end),
    Check(NEWER_VERSION_DEPRECATED, newer_version_deprecated, every=("runtimes/",)),
)
