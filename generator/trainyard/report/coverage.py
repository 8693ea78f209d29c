"""The section with what was checked of each object, and what nobody checked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from htpy import Element, Node, code, details, h3, p, pre, summary

from trainyard.model.manifest import UNLISTED
from trainyard.model.quantity import counted
from trainyard.references.extract import uses
from trainyard.references.names import Scope
from trainyard.report.content import Cluster, Content
from trainyard.report.elements import grid, items, note, part

_UNREAD = {
    "ConfigMap": "scripts and settings inside of it are not run",
    "CronJob": "its script is not run",
    "ClusterTrainingRuntime": "its image and script are not run",
    "TrainJob": "not submitted",
    "ValidatingAdmissionPolicy": "its CEL expressions are not evaluated",
    "ExternalSecret": "the entry of the secret store is not looked up",
    "PersistentVolume": "the export is not mounted",
}
"""Kind -> what no check here looks at. The other kinds have nothing beside their fields."""

_OPEN = 50  # objects of a cluster whose table is not folded
_NOWHERE = (
    "whether the control planes accept the objects, which `trainyard rehearse` tries",
    "whether images exist and start",
    "the nodes: their labels, number, firmware and switches",
    "what jobs use now, and what is on the clusters besides this tree",
)


@dataclass(frozen=True, slots=True)
class _Checked:
    """Objects of one kind that the same checks looked at.

    Args:
        looked_up: names in them that were looked up in the tree or the declarations.
    """

    kind: str
    synced: bool
    paths: tuple[str, ...]
    looked_up: int


def coverage(content: Content) -> Element:
    """Return the section."""
    return part(
        "coverage",
        "What was checked, and what was not",
        note(
            "A strict schema knows every field of a kind. Names are looked up in the tree and in "
            "what the profiles declare. Each kind unfolds to its files."
        ),
        (_cluster(cluster, content.unverified) for cluster in content.clusters),
        h3["Not checked for any cluster"],
        items(_NOWHERE),
    )


def _cluster(cluster: Cluster, unverified: str) -> Iterator[Node]:
    yield h3[cluster.name]
    yield _summary(cluster, unverified)
    built = cluster.count is not None
    head = (
        "kind",
        "#objects",
        "strict schema",
        "#names looked up",
        "kustomize",
        "kubeconform",
        "not checked",
    )
    groups = _groups(cluster)
    objects, kinds = len(cluster.manifests), len({group.kind for group in groups})
    rows = ([_files(group), *_row(group, built=built)] for group in groups)
    yield details(open=objects <= _OPEN)[
        summary[f"{objects:,} objects of {kinds} kinds"],
        grid(f"Checks of the objects of {cluster.name}", head, rows),
    ]
    yield _external(cluster)


def _summary(cluster: Cluster, unverified: str) -> Node:
    if cluster.count is None:
        reason = unverified or "an error stopped it"
        return note(f"kustomize and kubeconform did not look at these objects: {reason}.")
    count = cluster.count
    return note(
        f"kustomize built {count.units_built} of {counted(count.units, 'sync unit')} with "
        f"{count.built:,} objects; kubeconform accepted {count.conform:,} and skipped "
        f"{count.skipped}; {count.samples} samples and {count.artifacts} artifacts are in no sync "
        "unit."
    )


def _groups(cluster: Cluster) -> list[_Checked]:
    prefix = cluster.site.cluster.release.resource_prefix
    paths: dict[tuple[str, bool], list[str]] = defaultdict(list)
    names: Counter[tuple[str, bool]] = Counter()
    for manifest in cluster.manifests:
        key = (manifest.body["kind"], manifest.unit not in UNLISTED)
        paths[key].append(manifest.path)
        names[key] += len(list(uses(manifest.body, Scope(manifest.namespace, prefix))))
    return [_Checked(*key, tuple(sorted(some)), names[key]) for key, some in sorted(paths.items())]


def _files(each: _Checked) -> Element:
    folder = "" if each.synced else " (not synced)"
    return details[summary(".whole")[f"{each.kind}{folder}"], pre["\n".join(each.paths)]]


def _row(each: _Checked, *, built: bool) -> Sequence[Node]:
    kustomize = "yes" if each.synced else "in no sync unit"
    return (
        len(each.paths),
        "yes",
        each.looked_up,
        kustomize if built else "no",
        "yes" if built else "no",
        _UNREAD.get(each.kind, ""),
    )


def _external(cluster: Cluster) -> Node:
    declared = sorted(cluster.site.cluster.external.items())
    if not declared:
        return p["The profiles declare nothing that others own."]
    return details[
        summary[f"Declared as there, with an owner, and not looked up ({len(declared)})"],
        items([code[name], f": {owner}"] for name, owner in declared),
    ]
