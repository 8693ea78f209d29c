"""An upgrade moves SR-IOV policies from `platform/` to `nodes/` without deleting them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.e2e.git import Git, delivered, files_of, synced
from tests.e2e.setup import CLUSTER, GITOPS
from tests.e2e.stage import Stage
from trainyard.model.platform import Site
from trainyard.yaml_io.emitter import emit
from trainyard_rehearsal.checks.git_delivery import Commit, GitDelivery, Tree

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [GITOPS], indirect=True, ids=[GITOPS.name], scope="session"),
]

_POLICY = (
    "sriovnetwork.openshift.io/v1",
    "SriovNetworkNodePolicy",
    "dgx-h100-rail-0",
    "nvidia-network-operator",
)
_PLATFORM = f"{CLUSTER}-platform"
_WITH_PLATFORM: dict[str, Any] = {f"clusters/{CLUSTER}.yaml": {"nodes": {"sync": "with-platform"}}}
_TRACKING = "argocd.argoproj.io/tracking-id"


@pytest.mark.slow
def test_object_that_changes_unit_is_deleted_without_prune_false_and_kept_with_it(
    stage: Stage,
) -> None:
    """Argo CD gets the new tree's folders before the project that forbids the deletion."""
    before, after = stage.moved(_WITH_PLATFORM), stage.moved({})
    with delivered(stage) as git:
        older = _older_tree(before)
        _brought(git, before, older)
        first = _identity(stage)
        _compared(git, _publish(git, before, _half(after, older)))
        assert git.until(lambda: _identity(stage) != first), git.delivery.describe(_PLATFORM)

        _brought(git, before, older)
        _brought(git, before, files_of(before))
        kept = _identity(stage)
        _compared(git, _publish(git, before, _half(after, files_of(before))))
        assert git.until(lambda: "ignored (no prune)" in str(git.delivery.application(_PLATFORM)))
        now = _publish(git, after, files_of(after))
        assert not (
            failures := now.wait_until_synced(Commit(git.published.revision, list(now.units)))
        ), failures
        assert _identity(stage) == kept
        assert stage.api.get(*_POLICY)["metadata"]["annotations"][_TRACKING].startswith(
            f"{CLUSTER}-nodes:"
        )


def _older_tree(site: Site) -> dict[str, bytes]:
    """Return the files of a tree whose SR-IOV policies have no annotations."""
    files = files_of(site)
    for manifest in synced(site):
        if manifest.kind.name == _POLICY[1]:
            metadata = dict(manifest.body["metadata"])
            metadata.pop("annotations", None)
            files[site.folder(manifest.path)] = emit({**manifest.body, "metadata": metadata})
    return files


def _half(site: Site, before: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the tree of a site with the `argocd/` folder of another tree."""
    argocd = site.folder("argocd/")
    files = {
        path: content for path, content in files_of(site).items() if not path.startswith(argocd)
    }
    return files | {path: content for path, content in before.items() if path.startswith(argocd)}


def _publish(git: Git, site: Site, files: Mapping[str, bytes]) -> GitDelivery:
    git.publish(files)
    lab = replace(git.delivery.lab, plan=replace(git.delivery.lab.plan, site=site))
    return replace(git.delivery, lab=lab, tree=Tree(site, files, synced(site), ()))


def _compared(git: Git, delivery: GitDelivery) -> None:
    assert not (
        failures := delivery.wait_until_compared(Commit(git.published.revision, [_PLATFORM]))
    ), failures


def _brought(git: Git, site: Site, files: Mapping[str, bytes]) -> None:
    """Publish a tree, and wait until the platform's unit is synced and tracks the policy."""
    _compared(git, _publish(git, site, files))

    def is_there() -> bool:
        annotations = git.stage.api.find(*_POLICY).get("metadata", {}).get("annotations", {})
        status = git.delivery.application(_PLATFORM)["status"]["sync"]
        tracked = annotations.get(_TRACKING, "").startswith(f"{_PLATFORM}:")
        git.delivery.refresh_again([f"{CLUSTER}-argocd", _PLATFORM])
        return tracked and (status["status"], status["revision"]) == (
            "Synced",
            git.published.revision,
        )

    assert git.until(is_there), git.delivery.describe(_PLATFORM)


def _identity(stage: Stage) -> str:
    """Return the uid of the policy; empty when it does not exist or is being deleted."""
    metadata = stage.api.find(*_POLICY).get("metadata", {})
    return "" if "deletionTimestamp" in metadata else str(metadata.get("uid", ""))
