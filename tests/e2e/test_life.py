"""The life cycle, typed from its how-to's and synced by Argo CD while jobs of all teams run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.life import DRAINED, Life, living
from tests.e2e.life_repository import command, commands
from tests.pages import done
from trainyard_rehearsal.checks.git_delivery import Commit
from trainyard_rehearsal.checks.jobs import KUEUE, with_name, with_trainer
from trainyard_rehearsal.checks.watched_jobs import WatchedJobs, watch_jobs

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.usefixtures("cache")]

_ARGO = "argoproj.io/v1alpha1"
_COMPONENT = "components/vision-defaults"
_ADDED = {
    "teams/vision.yaml": "components: [vision-defaults]\n",
    f"{_COMPONENT}/kustomization.yaml": """\
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources: [vision-defaults.yaml]
""",
    f"{_COMPONENT}/vision-defaults.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: vision-defaults, namespace: team-vision}
data: {images: team-vision}
""",
}
"""A hand-written component of team vision."""


def _drained(life: Life, *teams: str) -> None:
    """Merge the first step of a page: the jobs of some teams end, and nothing is deleted."""
    life.synced(life.type(0), DRAINED)
    life.drained(*teams)
    life.kept(life.before)


def _left(life: Life, team: str) -> Commit:
    """Merge the second step of a page: a team is gone from Git, and what it has stays."""
    commit = life.type(1)
    life.orphaned(f"{life.cluster}-team-{team}")
    assert not life.delivery.wait_until_compared(commit)
    life.kept(life.unit(f"teams/{team}"))
    return commit


def test_team_leaves_one_of_two_clusters(tmp_path: Path) -> None:
    """Nothing of it goes before an administrator deletes it; then it comes back."""
    with living("lab", "leave-a-cluster", tmp_path) as life:
        _drained(life, "nlp")
        commit = _left(life, "nlp")
        life.delete_team("nlp", commit)
        life.ended(commit)

        life.synced(life.type(2))
        assert life.uids().keys() == life.former.keys()
        life.undisturbed()


def test_pool_is_removed(tmp_path: Path) -> None:
    """Its flavor goes with the queue of its team, whose objects stay until they are deleted."""
    with living("lab", "remove-a-pool", tmp_path) as life:
        _drained(life, "science")
        commit = _left(life, "science")
        flavor = [each for each in life.before if each.body["kind"] == "ResourceFlavor"]
        flavor = [each for each in flavor if each.name == "cpu"]
        assert len(flavor) == 1
        assert life.delivery.wait(lambda: not life.uids(flavor))
        life.delete_team("science", commit)
        life.ended(commit)


def _on_borrowed_nodes(life: Life) -> WatchedJobs:
    """Run a job of team nlp that wants all nodes of its quota, beside the one that it has."""
    sample, manifest = next(
        each for each in life.delivery.tree.samples if each[0].space.team.name == "nlp"
    )
    (nodes,) = (
        int(each.nodes) for each in sample.space.team.quotas if each.cluster == life.cluster
    )
    body = with_trainer(with_name(manifest.body, "wide"), numNodes=nodes)
    wide = (replace(sample, size=nodes), replace(manifest, body=body))
    watched, failures = watch_jobs(life.lab, [wide], may_borrow=True)
    assert not failures, failures
    assert _borrowed(life) > 0
    return watched


def _borrowed(life: Life) -> int:
    """Return how many GPUs of others the jobs of team nlp have."""
    queue = life.lab.api.get(KUEUE, "ClusterQueue", "nlp-gpu")
    (flavor,) = queue["status"]["flavorsUsage"]
    (gpus,) = (each for each in flavor["resources"] if each["name"] == "nvidia.com/gpu")
    return int(gpus["borrowed"])


def test_cohort_is_renamed_under_running_jobs(tmp_path: Path) -> None:
    """Nobody is evicted, nor when it is renamed back; teams borrow as before."""
    with living("prod-east", "rename-a-cohort", tmp_path) as life:
        wide = _on_borrowed_nodes(life)
        borrowed = _borrowed(life)
        commit = life.type(0)
        life.ended(commit)
        assert (_borrowed(life), [*wide.disturbed()]) == (borrowed, [])
        (queue,) = (each for each in life.delivery.tree.manifests if each.name == "nlp-gpu")
        assert queue.body["spec"]["cohortName"] == "science-fund"

        wide.delete()
        life.remember()
        wide = _on_borrowed_nodes(life)
        life.ended(life.revert("HEAD"))
        assert (_borrowed(life), [*wide.disturbed()]) == (borrowed, [])


def _binds(life: Life) -> bool:
    claim = ("v1", "PersistentVolumeClaim", "imagenet", "team-perception")
    return bool(life.lab.api.get(*claim)["status"].get("phase") == "Bound")


def test_team_with_a_component_is_renamed(tmp_path: Path) -> None:
    """The component follows it; the old namespace stays until it is deleted by hand."""
    with living("prod-east", "rename-a-team", tmp_path, _ADDED) as life:
        assert "imagenet" in life.run(command(life.page, "get persistentvolumeclaims"))
        _drained(life, "vision")
        component = f"profiles/{_COMPONENT}/vision-defaults.yaml"
        done(life.folder, "sed", "-i", "s/team-vision/team-perception/", component)
        commit = _left(life, "vision")
        own = [each for each in life.delivery.tree.manifests if each.namespace == "team-perception"]
        assert "vision-defaults" in {each.name for each in own}
        assert life.delivery.wait(lambda: life.lists() and len(life.uids(own)) == len(own))

        life.run(command(life.page, "persistentVolumeReclaimPolicy"))
        life.delete_team("vision", commit)
        assert not _binds(life)
        life.run(command(life.page, "/spec/claimRef"))
        assert life.delivery.wait(lambda: _binds(life))
        life.ended(commit)
        samples = life.delivery.tree.samples
        news = [each for each in samples if each[0].space.team.name == "perception"]
        watched, failures = watch_jobs(life.lab, news)
        assert (failures, watched.tried) == ([], 1)
        life.undisturbed()


def test_cluster_is_given_up_and_comes_back(tmp_path: Path) -> None:
    """Argo CD deletes nothing but what is approved, and forgets the rest; then it adopts it."""
    with living("lab", "give-up-a-cluster", tmp_path) as life:
        deleted = [
            each
            for each in life.before
            if each.unit == "teams/nlp" or each.name in {"lab-team-nlp", "lab-nlp-home"}
        ]
        rest = [each for each in life.before if each not in deleted and each.unit != "argocd"]
        _drained(life, *life.watched.jobs)
        life.type(1)
        life.orphaned(*life.delivery.units)
        life.kept(life.before)
        branch = life.delivery.repository.branch
        assert life.by_hand("nlp", "get application") == f"refs/heads/{branch}"
        life.delete_team("nlp", None)
        _forgotten(life)

        life.type(2)
        life.kept(rest)
        assert life.uids(deleted) == {}
        assert not life.terminating()

        for revision in done(life.folder, "git", "rev-list", "-3", "HEAD").split():
            life.revert(revision)
        life.bootstrap()
        life.adopted()
        life.kept(rest)
        assert life.uids().keys() == life.former.keys()


def _forgotten(life: Life) -> None:
    """Take a cluster out of Argo CD by the page's commands; only rights and the objects stay."""
    for text in commands(life.page):
        life.run(text)
    for kind in ("Application", "ApplicationSet", "AppProject"):
        assert life.lab.api.list(_ARGO, kind, life.delivery.argocd.namespace) == [], kind
    left = life.uids(life.unit("argocd"))
    assert {each.kind for each in left} == {"ClusterRole", "ClusterRoleBinding"}
