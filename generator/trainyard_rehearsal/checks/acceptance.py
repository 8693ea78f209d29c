"""Check that the API server accepts the tree, and that a second apply changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from trainyard import programs
from trainyard.model.manifest import Manifest
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.refusal import Refused
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_EXPECTED_WARNINGS = (
    r"\"resources-finalizer.argocd.argoproj.io\": prefer a domain-qualified finalizer name",
    "is deprecated and will be removed in a future release of Kubeflow Trainer",
)
"""Warnings that are not failures.

Argo CD has no other finalizer for an AppProject, and Trainer has to warn of a deprecated runtime.
"""

_WAVE = "argocd.argoproj.io/sync-wave"

_CHANGING = frozenset({"managedFields", "resourceVersion"})

_KINDS_IN_ORDER = (
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
)
"""Argo CD's order of kinds within a wave
(argoproj/argo-cd:gitops-engine/pkg/sync/sync_tasks.go@v3.5.7)."""


def in_sync_order(manifests: Iterable[Manifest]) -> list[Manifest]:
    """Return objects unit by unit, each in the order in which Argo CD applies it."""
    return sorted(manifests, key=_order)


def _order(manifest: Manifest) -> tuple[bool, str, int, int, str, str, str]:
    kind = manifest.kind.name
    rank = _KINDS_IN_ORDER.index(kind) if kind in _KINDS_IN_ORDER else len(_KINDS_IN_ORDER)
    wave = int(manifest.body["metadata"].get("annotations", {}).get(_WAVE, 0))
    return (
        manifest.unit.startswith("teams/"),
        manifest.unit,
        wave,
        rank,
        kind,
        manifest.namespace,
        manifest.name,
    )


def check_acceptance(lab: Lab, manifests: Sequence[Manifest]) -> Iterator[Outcome]:
    """Apply every object strictly, a warning being a failure, then again; run ``kubectl diff``."""
    ordered = in_sync_order(manifests)
    own = f"of our own schema: {', '.join(lab.own_crds)}" if lab.own_crds else ""
    yield counted("kinds known", *_kinds(lab, ordered), remark=own)
    yield apply_tree(lab, ordered)
    volumes = settle(lab)
    changed = list(_apply_again(lab, ordered))
    made = f"{volumes} volumes stand in for those of provisioners" if volumes else ""
    yield counted("second apply changes nothing", len(ordered), changed, made)
    yield counted("server-side diff is empty", len(ordered), list(_difference(lab, ordered)))


def apply_tree(lab: Lab, ordered: Sequence[Manifest], remark: str = "") -> Outcome:
    """Apply every object strictly; a warning is a failure.

    Args:
        lab: with a plan of the tree.
        ordered: its objects, in the order in which Argo CD applies them.
        remark: which tree it is.
    """
    refused = [failure for manifest in ordered for failure in _apply(lab, manifest)]
    return counted("objects accepted", len(ordered), refused, remark)


def _kinds(lab: Lab, manifests: Sequence[Manifest]) -> tuple[int, list[Failure]]:
    """Return the number of kinds, and those that the API server does not have."""
    first = {(each.body["apiVersion"], each.body["kind"]): each for each in manifests}
    failures = []
    for (version, kind), manifest in sorted(first.items()):
        try:
            lab.api.resource(version, kind)
        except Refused as refused:
            failures.append(Failure(f"{version} {kind}", str(refused), manifest.at))
    return len(first), failures


def _apply(lab: Lab, manifest: Manifest) -> Iterator[Failure]:
    """Apply an object as the bytes of its file."""
    content = (lab.plan.tree / manifest.path).read_bytes() if _is_ours(lab, manifest) else b""
    try:
        answer = lab.api.apply(manifest.body, content)
    except Refused as refused:
        yield Failure(manifest.path, str(refused), manifest.at)
        return
    for warning in answer.warnings:
        if not any(text in warning for text in _EXPECTED_WARNINGS):
            yield Failure(manifest.path, warning, manifest.at)


def _is_ours(lab: Lab, manifest: Manifest) -> bool:
    """Return whether an object is a file of the tree, not part of a hand-written component."""
    return (lab.plan.tree / manifest.path).is_file()


def _apply_again(lab: Lab, manifests: Sequence[Manifest]) -> Iterator[Failure]:
    before = _contents(lab, manifests)
    for manifest in manifests:
        yield from _apply(lab, manifest)
    after = _contents(lab, manifests)
    for manifest in manifests:
        old, new = before.get(_name(manifest.body), {}), after.get(_name(manifest.body), {})
        for field in sorted(old.keys() | new.keys()):
            if old.get(field) != new.get(field):
                words = f"{field} changed: {old.get(field)} -> {new.get(field)}"
                yield Failure(manifest.path, words, manifest.at)


_Name = tuple[str, str, str, str]
"""API version, kind, namespace and name."""


def _name(body: Body) -> _Name:
    metadata = body["metadata"]
    return body["apiVersion"], body["kind"], metadata.get("namespace", ""), metadata["name"]


def _contents(lab: Lab, manifests: Sequence[Manifest]) -> dict[_Name, Body]:
    """Return all objects of the manifests' kinds, without the fields that change at any time."""
    found: dict[_Name, Body] = {}
    kinds = {(manifest.body["apiVersion"], manifest.body["kind"]) for manifest in manifests}
    for version, kind in sorted(kinds):
        try:
            listed = lab.api.list(version, kind)
        except Refused:  # An unknown kind was reported when it was looked up.
            continue
        for body in listed:
            whole = {**body, "apiVersion": version, "kind": kind}
            found[_name(whole)] = _content(whole)
    return found


def _content(body: Body) -> Body:
    """Return an object without its status, its revision and its managers."""
    metadata = {key: each for key, each in body["metadata"].items() if key not in _CHANGING}
    content = {**body, "metadata": metadata}
    content.pop("status", None)
    return content


def _difference(lab: Lab, manifests: Sequence[Manifest]) -> Iterator[Failure]:
    """Yield what ``kubectl diff`` reports that another apply would change."""
    command = [str(lab.built.programs["kubectl"]), "diff", "--server-side", "--force-conflicts"]
    command += ["--field-manager", "argocd-controller"]
    for manifest in manifests:
        if _is_ours(lab, manifest):
            command += ["-f", str(lab.plan.tree / manifest.path)]
    # kubectl writes a cache to the home folder, and what it compares to the temporary folder.
    home = str(lab.kubeconfig.parent)
    own = {
        "HOME": home,
        "TMPDIR": home,
        "KUBECONFIG": str(lab.kubeconfig),
        "KUBECTL_EXTERNAL_DIFF": "diff -N -u",
    }
    done = programs.run(
        command,
        environment={**os.environ, **own},
        timeout=programs.AN_HOUR,
        accept=programs.ANY_CODE,
    )
    if done.code:
        output = (done.stdout or done.stderr).strip()[:4000]
        yield Failure("kubectl diff", output, manifests[0].at)
