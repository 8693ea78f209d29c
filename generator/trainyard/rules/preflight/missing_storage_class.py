"""Find storage classes of the profile that the cluster does not have."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model import names
from trainyard.model.facts import named
from trainyard.model.live import Live
from trainyard.model.readable import STORAGE_CLASSES
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/missing-storage-class",
    severity=Severity.ERROR,
    summary="Each storage class that the cluster's profile names exists.",
    why="Claims of the class stay Pending, and so does each pod that mounts one.",
    fix="Have the owner of the storage make the class, or name one that exists.",
)


def find(live: Live) -> Iterator[Diagnostic]:
    there = named(live.of(STORAGE_CLASSES))
    for storage in live.site.cluster.storage:
        wanted = storage.storage_class
        if wanted and wanted != names.ADOPTED_CLASS and wanted not in there:
            message = f"storage `{storage.name}` is of class {wanted}, which does not exist"
            yield RULE.at(storage.at, message)


LIVE = LiveCheck(RULE, find, (STORAGE_CLASSES,))
