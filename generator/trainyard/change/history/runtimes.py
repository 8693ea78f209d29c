"""The rule on runtimes: one that is delivered is never edited."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from trainyard import __version__
from trainyard.change.history.replacement import Replacement
from trainyard.diagnostics import Diagnostic, Note, Pointer
from trainyard.model.differences import Difference, differences, few
from trainyard.model.launch import Launch
from trainyard.rules.change.runtime_edited_in_place import RULE as RUNTIME_EDITED_IN_PLACE

_INSIDE = re.compile(
    r"(?:template\.spec\.)?(?:replicatedJobs\[(?P<job>[^]]+)]\.)?"
    r"(?:template\.)?(?:spec\.template\.)?(?:spec\.)?"
    r"(?:(?:initC|c)ontainers\[[^]]+]\.)?(?P<field>.+)",
    re.DOTALL,
)

_AMOUNT = re.compile(r"\Aresources\.(?:limits|requests)\.")
"""Requests equal limits in every runtime: both are reported as one change."""


def runtime_edited_in_place(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare each runtime with the committed one of its name.

    A change that several runtimes of one profile share is reported once.
    """
    launches = {launch.name: launch for launch in replacement.site.launches}
    found: dict[tuple[Pointer, str], list[Launch]] = defaultdict(list)
    notes: dict[Pointer, dict[Note, None]] = defaultdict(dict)
    for old, new in replacement.pairs("ClusterTrainingRuntime"):
        changed = tuple(differences(old.body["spec"], new.body["spec"]))
        if changed:
            found[new.at, _described(changed)].append(launches[new.name])
            notes[new.at].update(dict.fromkeys(_origins(launches[new.name], changed)))
    for (at, description), edited in found.items():
        named = few(f"`{launch.name}`" for launch in edited)
        changes = (
            f"ClusterTrainingRuntime {named} changes in place on cluster "
            f"`{replacement.site.name}`: {description}"
        )
        message = f"{changes}; namespaces that may run it: {_namespaces(replacement, edited)}"
        reasons = [*notes[at], *_upgrade(replacement)]
        yield RUNTIME_EDITED_IN_PLACE.at(at / "version", message, notes=reasons)


def _described(changed: tuple[Difference, ...]) -> str:
    """Return the first changes, each with the replicated jobs that have it."""
    jobs: dict[str, dict[str, None]] = defaultdict(dict)
    for difference in changed:
        job, field = _split(difference)
        jobs[f"{field} {difference.display}"] |= {job: None} if job else {}
    described = []
    for change, names in jobs.items():
        where = " and ".join(names)
        described.append(f"{change} in {where}" if where else change)
    return few(described)


def _split(difference: Difference) -> tuple[str, str]:
    """Return the replicated job that a change is in, empty for none, and the field in its pod."""
    match = _INSIDE.fullmatch(difference.path)
    assert match is not None, difference.path
    return match["job"] or "", _AMOUNT.sub("resources.", match["field"])


def _namespaces(replacement: Replacement, edited: list[Launch]) -> int:
    """Return how many namespaces the committed limits allow any of these runtimes."""
    names = {launch.name for launch in edited}
    count = 0
    for limits in replacement.old("ConfigMap"):
        allowed = limits.body.get("data", {}).get("runtimes", "")
        count += not names.isdisjoint(allowed.split())
    return count


def _origins(launch: Launch, changed: tuple[Difference, ...]) -> Iterator[Note]:
    fields = [_split(difference)[1] for difference in changed]
    if any(field.startswith(("resources", "nodeSelector")) for field in fields):
        yield Note("the nodes and a pod's share of them come from here", launch.hardware.at)
    if launch.fabric and any(field.startswith("metadata.annotations") for field in fields):
        yield Note("the networks of a pod come from here", launch.fabric.at)


def _upgrade(replacement: Replacement) -> Iterator[Note]:
    if replacement.tool != __version__:
        yield Note(
            f"the committed tree was written by Trainyard {replacement.tool}; this is {__version__}"
        )
