"""Scenarios of rules that Argo CD shows: it has delivered the good tree, and gets a bad one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from tests.e2e.access import may
from tests.e2e.git import APPLICATION, Git, component_file, delivered, files_of
from tests.e2e.setup import bad
from tests.e2e.stage import Stage
from trainyard.model.manifest import Manifest
from trainyard.render.site import render_site
from trainyard.yaml_io.emitter import emit
from trainyard_rehearsal.checks.jobs import as_user
from trainyard_rehearsal.control_plane.api import Body

_JOBS = "trainjobs.trainer.kubeflow.org"


def _config_map(name: str, namespace: str = "team-nlp") -> Body:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
    }


def _brings(*bodies: Body) -> dict[str, Any]:
    """Return the changes that give team nlp a component with some objects."""
    files = {f"{i}.yaml": body for i, body in enumerate(bodies)}
    changes: dict[str, Any] = {"components/solver/kustomization.yaml": component_file(*files)}
    changes |= {f"components/solver/{name}": body for name, body in files.items()}
    return {**changes, "teams/nlp.yaml": {"components": ["solver"]}}


def open_egress(stage: Stage) -> None:
    """The API server drops an empty list of peers, which allows all; Argo CD shows no drift."""
    changes = bad("isolation/open-egress")
    name = next(
        each.name
        for each in render_site(stage.moved(changes))
        if (each.body["kind"], each.namespace) == ("NetworkPolicy", "team-nlp")
        and "unfinished" in each.name
    )
    with delivered(stage) as git:
        assert not git.delivery.wait_until_synced(git.commit(changes))
        policy = stage.api.get("networking.k8s.io/v1", "NetworkPolicy", name, "team-nlp")
        (rule,) = policy["spec"]["egress"]
        assert rule["ports"]
        assert "to" not in rule


def secret_in_git(stage: Stage) -> None:
    """Every viewer of the team reads the ConfigMap of a component."""
    held = {**_config_map("held"), "data": {"password": "never-a-real-one"}}
    with delivered(stage) as git:
        assert not git.delivery.wait_until_synced(git.commit(_brings(held)))
        (space,) = next(each for each in git.site.tenants if each.name == "nlp").spaces
        viewer = as_user(stage.api, space, "viewer")
        assert viewer.get("v1", "ConfigMap", "held", "team-nlp")["data"] == held["data"]


@cache
def component_in_foreign_namespace(stage: Stage) -> None:
    """Argo CD refuses the unit, and what is right in it is not applied either."""
    with delivered(stage) as git:
        git.commit(_brings(_config_map("right"), _config_map("solver", "team-vision")))
        assert git.shows(f"namespace team-vision is not permitted in project '{APPLICATION}'")
        assert not git.is_there("ConfigMap", "right")


namespace_not_permitted = component_in_foreign_namespace


def kind_not_permitted(stage: Stage) -> None:
    """Argo CD refuses the unit, and what is right in it is not applied either."""
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "roleRef": role,
    }
    with delivered(stage) as git:
        git.commit(_brings(_config_map("right"), {**binding, "metadata": {"name": "everywhere"}}))
        assert git.shows(
            "resource rbac.authorization.k8s.io:ClusterRoleBinding is not permitted in project "
            f"{APPLICATION}"
        )
        assert not git.is_there("ConfigMap", "right")


def component_of_forbidden_kind(stage: Stage) -> None:
    """A further role binding opens the team's namespace; a cluster-wide object stops the unit."""
    with delivered(stage) as git:
        manifest = next(
            each
            for each in git.delivery.tree.manifests
            if each.path == "teams/nlp/rolebinding-user.yaml"
        )
        subjects = [{"kind": "Group", "name": "strangers", "apiGroup": "rbac.authorization.k8s.io"}]
        more = {
            **manifest.body,
            "metadata": {"name": "more", "namespace": "team-nlp"},
            "subjects": subjects,
        }
        assert not may(stage, ["strangers"], f"create {_JOBS}", "team-nlp")
        git.commit(_brings(more))
        assert git.until(lambda: may(stage, ["strangers"], f"create {_JOBS}", "team-nlp")), (
            git.status
        )
        git.commit(
            _brings({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "another"}})
        )
        assert git.shows(f"resource :Namespace is not permitted in project {APPLICATION}")


def foreign_metadata_key(stage: Stage) -> None:
    """A deletion that waits for confirmation blocks the unit: no newer object is applied."""
    kept, newer = _config_map("kept"), _config_map("newer")
    held = bad("delivery/foreign-metadata-key")["components/solver/solver.yaml"]
    held["metadata"].pop("finalizers")  # A finalizer would keep the object itself.
    with delivered(stage) as git:
        assert not git.delivery.wait_until_synced(git.commit(_brings(kept, held)))
        git.commit(_brings(kept))
        assert git.shows("waiting for pruning confirmation of /ConfigMap/solver")
        commit = git.commit(_brings(kept, newer))
        assert git.until(lambda: _compared(git) == (commit.revision, "OutOfSync", "Running")), (
            git.status
        )
        assert not git.is_there("ConfigMap", "newer")
        _approve(git)


def component_object_refused(stage: Stage) -> None:
    """The API server refuses the object, and nothing that is withdrawn is deleted."""
    with delivered(stage) as git:
        assert not git.delivery.wait_until_synced(git.commit(_brings(_config_map("kept"))))
        git.commit(_brings(_config_map("Cc")))
        assert git.shows("a lowercase RFC 1123 subdomain must consist of")
        assert git.is_there("ConfigMap", "kept")


def name_of_a_controller(stage: Stage) -> None:
    """Admission refuses the object, and the unit stays unchanged."""
    with delivered(stage) as git:
        git.commit(_brings(_config_map("nightly-runtime-snapshot")))
        assert git.shows("nightly-runtime-snapshot", "are Trainer's alone")
        assert not git.is_there("ConfigMap", "nightly-runtime-snapshot")


def _compared(git: Git) -> tuple[str, str, str]:
    """Return the compared revision, the sync status and the phase of the operation."""
    status = git.delivery.application(APPLICATION)["status"]
    return (
        status["sync"].get("revision", ""),
        status["sync"]["status"],
        status["operationState"]["phase"],
    )


def _approve(git: Git) -> None:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = git.delivery.application(APPLICATION)
    git.stage.api.patch(
        body, {"metadata": {"annotations": {"argocd.argoproj.io/deletion-approved": now}}}
    )


def broken_component(stage: Stage) -> None:
    """Argo CD can't build the unit."""
    with delivered(stage) as git:
        files = files_of(stage.moved(_brings(_config_map("right"))))
        del files[f"{git.folder('solver')}/0.yaml"]
        _mended(git, files, "no such file or directory")


def unit_does_not_build(stage: Stage) -> None:
    """Argo CD can't build the unit."""
    with delivered(stage) as git:
        files = files_of(stage.moved(_brings(_limit_range(git).body)))
        _mended(git, files, "may not add resource with an already registered id")


def _limit_range(git: Git) -> Manifest:
    return next(
        each for each in git.delivery.tree.manifests if each.path.startswith("teams/nlp/limitrange")
    )


def _mended(git: Git, files: Mapping[str, bytes], words: str) -> None:
    """Publish a unit that does not build: its error is shown, and is gone after the fix."""
    git.publish(files)
    assert git.shows("ComparisonError", words)

    def looked_again() -> bool:
        if git.delivery.is_refreshed():
            git.look()
        return "Manifest generation error (cached)" in git.status

    assert git.until(looked_again), git.status
    assert not git.delivery.wait_until_synced(git.commit({}))


def unserved_version(stage: Stage) -> None:
    """Argo CD stops the unit."""
    changes = bad("release/unserved-version")
    with delivered(stage) as git:
        git.commit(changes)
        assert git.shows(
            "failed to discover server resources for group version external-secrets.io/v1beta1"
        )


def unlisted_component(stage: Stage) -> None:
    """Argo CD reports success, and no object of the component exists."""
    changes = _brings(_config_map("unlisted"))
    with delivered(stage) as git:
        brought = files_of(stage.moved(changes))
        component = {
            path: content
            for path, content in brought.items()
            if path.startswith(git.folder("solver"))
        }
        assert component
        assert not git.delivery.wait_until_synced(
            git.publish({**git.delivery.tree.files, **component})
        )
        assert not git.is_there("ConfigMap", "unlisted")


def tree_is_stale(stage: Stage) -> None:
    """An edit of the tree by hand reaches the cluster, whatever the profiles state."""
    with delivered(stage) as git:
        manifest = _limit_range(git)
        metadata = {
            **manifest.body["metadata"],
            "annotations": {"ml.example.com/written": "by-hand"},
        }
        written = {git.delivery.path(manifest): emit({**manifest.body, "metadata": metadata})}
        assert not git.delivery.wait_until_synced(
            git.publish({**git.delivery.tree.files, **written})
        )
        limits = stage.api.get("v1", "LimitRange", manifest.name, "team-nlp")
        assert limits["metadata"]["annotations"]["ml.example.com/written"] == "by-hand"


def foreign_file(stage: Stage) -> None:
    """Argo CD reports success, and no object of the file exists."""
    with delivered(stage) as git:
        manifest = _limit_range(git)
        folder, _, _ = git.delivery.path(manifest).rpartition("/")
        file = {f"{folder}/configmap-foreign.yaml": emit(_config_map("foreign"))}
        assert not git.delivery.wait_until_synced(git.publish({**git.delivery.tree.files, **file}))
        assert not git.is_there("ConfigMap", "foreign")
