"""What follows for a release from its schemas and its versions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.derivation.derive import gvk_of, path_of
from trainyard.derivation.source import Gvk, Source
from trainyard.model.version import numbers

GROUPS = "groupsPodsets"
"""Of what no schema shows, the one that is a field of a release and no feature."""

_QUEUES: Mapping[Gvk, Sequence[tuple[str, str]]] = {
    ("kueue.x-k8s.io", "v1beta2", "ClusterQueue"): (
        ("flavors", "spec.resourceGroups.[].flavors"),
        ("resources", "spec.resourceGroups.[].flavors.[].resources"),
        ("resources", "spec.resourceGroups.[].coveredResources"),
    ),
    ("kueue.x-k8s.io", "v1beta2", "LocalQueue"): (
        ("flavors", "status.flavorsReservation"),
        ("flavors", "status.flavorsUsage"),
        ("resources", "status.flavorsReservation.[].resources"),
        ("resources", "status.flavorsUsage.[].resources"),
    ),
}
"""Lists of a queue whose length its CRD limits, and what they are lists of."""

_NEWEST = 1 << 20
"""The last number of a version that names no patch: the newest one."""


@dataclass(frozen=True, slots=True)
class Followed:
    """What follows from schemas and versions.

    Args:
        fields: of the release.
        remarks: what is not known, as sentences.
    """

    fields: dict[str, Any]
    remarks: tuple[str, ...]


def derivable(table: Mapping[str, Any]) -> frozenset[str]:
    """Return the features that `follow` decides."""
    rows = (*table["fields"], *table["behaviour"])
    return frozenset(row["feature"] for row in rows if "feature" in row) - {GROUPS}


def follow(
    table: Mapping[str, Any], fields: Mapping[str, Any], schemas: Mapping[str, bytes]
) -> Followed:
    """Return the fields of a release that follow from its schemas and versions.

    Args:
        table: `releases/behaviour.yaml`.
        fields: of the release that is extended, with the new versions.
        schemas: of the new release by path below ``schemas/``, all of them.
    """
    kept = set(fields["features"]) - derivable(table)
    newest = {name: each["last"] for name, each in fields["changes"].items()}
    behaves = {
        row["feature"]
        for row in table["behaviour"]
        if row.get("with", "") in {"", *kept} and _behaves(row, fields["versions"], newest)
    }
    features = sorted({*kept, *_shown(table, schemas), *behaves} - {GROUPS})
    followed = {"features": features, GROUPS: GROUPS in behaves}
    if sdk := _sdk(table["sdk"], fields["versions"].get("trainer", "0")):
        followed["sdk"] = sdk
    return Followed(followed, tuple(_unknown(fields["versions"], newest)))


def _shown(table: Mapping[str, Any], schemas: Mapping[str, bytes]) -> set[str]:
    """Return the features that schemas show."""
    rows = (row for row in table["fields"] if "feature" in row)
    return {row["feature"] for row in rows if _has(schemas, row)}


def _behaves(
    row: Mapping[str, Any], versions: Mapping[str, str], newest: Mapping[str, str]
) -> bool:
    """Return whether each component has a version of which a row's behaviour is known."""
    return all(
        component in versions
        and _latest(start) <= _latest(versions[component])
        and numbers(versions[component])[:2] <= numbers(newest[component])[:2]
        for component, start in row["versions"].items()
    )


def _latest(version: str) -> tuple[int, ...]:
    """Return the numbers of a version; of a minor version those of its newest patch."""
    found = numbers(version)
    return found if len(found) > 2 else (*found, _NEWEST)


def _sdk(table: Mapping[str, str], trainer: str) -> str:
    """Return the SDK of a Trainer, the newest that is known for a newer one; empty for none."""
    fitting = [start for start in table if numbers(start) <= numbers(trainer)]
    return table[max(fitting, key=numbers)] if fitting else ""


def _unknown(versions: Mapping[str, str], newest: Mapping[str, str]) -> Iterator[str]:
    for component, last in sorted(newest.items()):
        version = versions.get(component, "")
        if numbers(version)[:2] > numbers(last)[:2]:
            yield (
                f"{component} {version} is newer than {last}, the last version whose behaviour is "
                "known: what no schema shows has its safe value"
            )


def contradictions(
    table: Mapping[str, Any], versions: Mapping[str, str], schemas: Mapping[str, bytes]
) -> Iterator[str]:
    """Yield the versions that the schemas contradict, each as a sentence without its point.

    Args:
        table: `releases/behaviour.yaml`.
        versions: of the release.
        schemas: by path below ``schemas/``, those that are not inherited.
    """
    for row in table["fields"]:
        version = versions.get(row["component"])
        if version is not None and _path(row) in schemas:
            stated = _is_within(version, row)
            if _has(schemas, row) != stated:
                yield _contradiction(row, version, stated=stated)


def _is_within(version: str, row: Mapping[str, Any]) -> bool:
    return numbers(row["from"]) <= numbers(version) and (
        "below" not in row or numbers(version) < numbers(row["below"])
    )


def _contradiction(row: Mapping[str, Any], version: str, *, stated: bool) -> str:
    has = "has no" if stated else "has"
    field = row["field"].replace(".[]", "[]")
    until = f" to before {row['below']}" if "below" in row else " on"
    return (
        f"the CRD of {row['kind']} {has} `{field}`, which {row['component']} has from "
        f"{row['from']}{until}; the release says {row['component']} {version}"
    )


def _path(row: Mapping[str, Any]) -> str:
    return path_of(gvk_of(row["apiVersion"], row["kind"]))


def _has(schemas: Mapping[str, bytes], row: Mapping[str, Any]) -> bool:
    """Return whether the schema of a kind has a field."""
    if _path(row) not in schemas:
        return False
    document = json.loads(schemas[_path(row)])
    node = document
    for step in row["field"].split("."):
        while "$ref" in node:
            node = document["definitions"][node["$ref"].rpartition("/")[2]]
        node = node.get("items") if step == "[]" else node.get("properties", {}).get(step)
        if node is None:
            return False
    return True


def queue_limits(sources: Mapping[Gvk, Source]) -> dict[str, int]:
    """Return the most flavors and resources of a queue, by what both CRDs say, status included.

    Args:
        sources: of some kinds; without both of a queue, nothing is known.
    """
    if not _QUEUES.keys() <= sources.keys():
        return {}
    limits: dict[str, int] = {}
    for gvk, lists in _QUEUES.items():
        for what, path in lists:
            most = _raw(sources[gvk].openapi, path).get("maxItems")
            if isinstance(most, int):
                limits[what] = min(most, limits.get(what, most))
    return limits


def _raw(openapi: Any, path: str) -> Mapping[str, Any]:
    """Return a node of a CRD's schema; an empty one where there is none."""
    node = openapi
    for step in path.split("."):
        node = node.get("items", {}) if step == "[]" else node.get("properties", {}).get(step, {})
    return node if isinstance(node, dict) else {}
