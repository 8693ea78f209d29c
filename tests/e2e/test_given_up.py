"""A cluster that is given up keeps what it has, and comes back."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.e2e.git import Git, delivered, synced
from tests.e2e.setup import CLUSTER, GITOPS
from tests.e2e.stage import Stage
from tests.pages import ROOT
from trainyard.model.identity import Identity, identity
from trainyard.tree.lockfile import LOCKFILE
from trainyard_rehearsal.checks.acceptance import in_sync_order
from trainyard_rehearsal.checks.applications import describe

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [GITOPS], indirect=True, ids=[GITOPS.name], scope="session"),
]

_PAGE = ROOT / "docs" / "how-to" / "give-up-a-cluster.md"


@pytest.mark.slow
def test_cluster_that_is_given_up_keeps_every_object(stage: Stage, tmp_path: Path) -> None:
    """Argo CD deletes nothing when the tree goes, nor when it is told to forget the cluster."""
    with delivered(stage) as git:
        there = _uids(git)
        applications = set(git.delivery.applications())
        lockfile = git.site.folder(LOCKFILE)
        git.publish({lockfile: git.files[lockfile]})
        for name in sorted(applications):
            assert not git.delivery.wait_until_orphaned(name)
        assert _uids(git) == there

        _take_out(git, tmp_path)
        assert git.delivery.wait(lambda: not any(git.delivery.applications().values()))
        assert not any(git.delivery.has_project(name) for name in applications)
        assert _uids(git) == there

        git.publish(git.delivery.tree.files)
        for manifest in in_sync_order(each for each in synced(git.site) if each.unit == "argocd"):
            stage.api.apply(manifest.body, manager="kubectl")
        assert git.delivery.wait(lambda: _is_back(git)), git.delivery.applications()
        assert _uids(git) == there
        _sync(git)


def _uids(git: Git) -> dict[Identity, str]:
    """Return the uid of each object of the good tree but what Argo CD itself has."""
    found = {}
    for manifest in synced(git.site):
        if manifest.unit != "argocd":
            kind, body = manifest.kind.name, manifest.body
            it = git.stage.api.find(body["apiVersion"], kind, manifest.name, manifest.namespace)
            assert "deletionTimestamp" not in it.get("metadata", {}), manifest.path
            found[identity(manifest)] = str(it["metadata"]["uid"])
    return found


def _is_back(git: Git) -> bool:
    """Return whether every Application has found its objects as Git has them."""
    applications = git.delivery.applications()
    git.delivery.refresh_again(applications)
    return {describe(body) for body in applications.values()} == {"Synced; Healthy"}


def _sync(git: Git) -> None:
    """Start a sync of each Application: nothing was out of sync, and the next scenario waits for
    the end of one."""
    for body in git.delivery.applications().values():
        git.stage.api.patch(body, {"operation": {"sync": {}}})
    assert not (failures := git.delivery.wait_until_synced(git.published)), failures


def _take_out(git: Git, folder: Path) -> None:
    """Type what the page says, with the names of this cluster."""
    assert git.stage.argocd
    (block,) = re.findall(r"```console\n(\$ kubectl.*?)```", _PAGE.read_text("utf-8"), re.DOTALL)
    script = re.sub(r"(?m)^\$ ", "", block).replace("lab-", f"{CLUSTER}-")
    script = script.replace("-n argocd", f"-n {git.stage.argocd.namespace}")
    (folder / "kubectl").symlink_to(git.stage.lab.built.programs["kubectl"])
    subprocess.run(
        ["bash", "-euc", script],
        env={
            "KUBECONFIG": str(git.stage.lab.kubeconfig),
            "HOME": "/nonexistent",
            "PATH": f"{folder}:/usr/bin:/bin",
        },
        check=True,
        capture_output=True,
        timeout=600,
    )
