"""Whether the API server takes the tree as it is, and takes it again without a change."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence

from trainyard.model.manifest import Manifest
from trainyard_rehearsal.control_plane.api import Body, Refused
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_MEANT = (
    r"\"resources-finalizer.argocd.argoproj.io\": prefer a domain-qualified finalizer name",
    "is deprecated and will be removed in a future release of Kubeflow Trainer",
)
"""Warnings that are no fault: Argo CD knows no other finalizer for an AppProject, and of a
deprecated runtime Trainer shall warn."""

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


def in_order(manifests: Iterable[Manifest]) -> list[Manifest]:
    """Return objects in the order in which Argo CD applies those of one unit, the units one after the other."""
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
    """Apply every object strictly, with warnings as errors, then once more; then ask for the difference."""
    ordered = in_order(manifests)
    yield counted("kinds known", *_kinds(lab, ordered), remark=_made(lab))
    yield counted(
        "objects accepted",
        len(ordered),
        [each for manifest in ordered for each in _apply(lab, manifest)],
    )
    volumes = settle(lab)
    yield counted(
        "second apply changes nothing",
        len(ordered),
        list(_apply_again(lab, ordered)),
        _stand_ins(volumes),
    )
    yield counted("no difference left", len(ordered), list(_difference(lab, ordered)))


def _stand_ins(volumes: int) -> str:
    return f"{volumes} volumes stand in for those of provisioners" if volumes else ""


def _made(lab: Lab) -> str:
    return f"of our own schema: {', '.join(lab.own_crds)}" if lab.own_crds else ""


def _kinds(lab: Lab, manifests: Sequence[Manifest]) -> tuple[int, list[Failure]]:
    first = {(each.body["apiVersion"], each.body["kind"]): each for each in manifests}
    failures = []
    for (version, kind), manifest in sorted(first.items()):
        try:
            lab.api.resource(version, kind)
        except Refused as refused:
            failures.append(Failure(f"{version} {kind}", str(refused), manifest.at))
    return len(first), failures


def _apply(lab: Lab, manifest: Manifest) -> Iterator[Failure]:
    """Apply an object as the bytes that are committed."""
    content = (lab.plan.tree / manifest.path).read_bytes() if _is_ours(lab, manifest) else b""
    try:
        answer = lab.api.apply(manifest.body, content)
    except Refused as refused:
        yield Failure(manifest.path, str(refused), manifest.at)
        return
    told = (warning for warning in answer.warnings if not any(text in warning for text in _MEANT))
    yield from (Failure(manifest.path, warning, manifest.at) for warning in told)


def _is_ours(lab: Lab, manifest: Manifest) -> bool:
    """Tell a file of the tree from an object of a hand-written component."""
    return (lab.plan.tree / manifest.path).is_file()


def _apply_again(lab: Lab, manifests: Sequence[Manifest]) -> Iterator[Failure]:
    before = _meanings(lab, manifests)
    yield from (failure for manifest in manifests for failure in _apply(lab, manifest))
    after = _meanings(lab, manifests)
    for manifest in manifests:
        old, new = before.get(_name(manifest.body), {}), after.get(_name(manifest.body), {})
        for field in sorted(old.keys() | new.keys()):
            if old.get(field) != new.get(field):
                yield Failure(
                    manifest.path,
                    f"{field} changed: {old.get(field)} -> {new.get(field)}",
                    manifest.at,
                )


_Name = tuple[str, str, str, str]


def _name(body: Body) -> _Name:
    metadata = body["metadata"]
    return body["apiVersion"], body["kind"], metadata.get("namespace", ""), metadata["name"]


def _meanings(lab: Lab, manifests: Sequence[Manifest]) -> dict[_Name, Body]:
    """Return all objects of the kinds of some, without what their controllers write at any time."""
    found: dict[_Name, Body] = {}
    for version, kind in sorted(
        {(each.body["apiVersion"], each.body["kind"]) for each in manifests}
    ):
        try:
            listed = lab.api.list(version, kind)
        except Refused:  # The kind is not known, which was told when it was looked up.
            continue
        for body in listed:
            own = {key: each for key, each in body["metadata"].items() if key not in _CHANGING}
            whole = {**body, "apiVersion": version, "kind": kind, "metadata": own}
            found[_name(whole)] = {key: value for key, value in whole.items() if key != "status"}
    return found


def _difference(lab: Lab, manifests: Sequence[Manifest]) -> Iterator[Failure]:
    """Ask kubectl what applying would still change."""
    files = [
        str(lab.plan.tree / manifest.path) for manifest in manifests if _is_ours(lab, manifest)
    ]
    command = [str(lab.built.programs["kubectl"]), "diff", "--server-side", "--force-conflicts"]
    command += [
        "--field-manager",
        "argocd-controller",
        *(part for file in files for part in ("-f", file)),
    ]
    # kubectl keeps a cache at home, and what it compares among temporary files.
    home = str(lab.kubeconfig.parent)
    own = {
        "HOME": home,
        "TMPDIR": home,
        "KUBECONFIG": str(lab.kubeconfig),
        "KUBECTL_EXTERNAL_DIFF": "diff -N -u",
    }
    done = subprocess.run(
        command,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        at = manifests[0].at
        yield Failure("kubectl diff", (done.stdout or done.stderr).strip()[:4000], at)
