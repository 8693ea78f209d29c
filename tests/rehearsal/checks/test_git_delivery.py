"""Parts between Argo CD and a control plane, and how Argo CD's status is read."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.rehearsal.served import Served
from trainyard.diagnostics import ToolError
from trainyard.model.platform import Site
from trainyard_rehearsal.checks import git_delivery as delivery
from trainyard_rehearsal.checks.applications import is_applied
from trainyard_rehearsal.checks.git_delivery import Commit, GitDelivery, Tree
from trainyard_rehearsal.control_plane.argocd import ArgoCD
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.redis import Redis, fetch_redis, find_redis
from trainyard_rehearsal.control_plane.repository import Repository
from trainyard_rehearsal.control_plane.tunnel import tunnel

pytestmark = pytest.mark.thorough

ARGO = "argoproj.io/v1alpha1"
REFRESH = "argocd.argoproj.io/refresh"


def test_repository_serves_each_commit(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "git", "main")
    repository.create()
    first = repository.commit({"a/b.yaml": b"one\n", "c.yaml": b"two\n"})
    second = repository.commit({"a/b.yaml": None})
    output = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "refs/heads/main"],
        cwd=tmp_path / "git" / "platform.git",
        capture_output=True,
        text=True,
        check=True,
    )
    assert output.stdout == "c.yaml\n"
    assert repository.address.startswith("file:///")
    assert first != second


def test_refused_commit_is_a_tool_error(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "git", "main")
    repository.create()
    repository.commit({"a.yaml": b"one\n"})
    with pytest.raises(ToolError, match="git commit"):
        repository.commit({"a.yaml": b"one\n"})


def test_tunnel_connects_every_address_to_one_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=_echo, args=(server,), daemon=True).start()
        with (
            tunnel(server.getsockname()[1]) as proxy,
            socket.create_connection(("127.0.0.1", proxy), 10) as link,
        ):
            link.sendall(
                b"CONNECT lab.example.com:6443 HTTP/1.1\r\nHost: lab.example.com:6443\r\n\r\n"
            )
            assert link.recv(100) == b"HTTP/1.1 200 OK\r\n\r\n"
            link.sendall(b"hello")
            assert link.recv(100) == b"hello"


def _echo(server: socket.socket) -> None:
    link, _ = server.accept()
    with link:
        link.sendall(link.recv(100))


def test_missing_redis_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"install `redis-server`.*--build"):
        find_redis(tmp_path)
    with pytest.raises(ToolError, match="there is no `apt-get` here"):
        fetch_redis(tmp_path, print)


def test_installed_redis_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    fetch_redis(tmp_path / "cache", pytest.fail)
    assert find_redis(tmp_path / "cache").program == program


@pytest.fixture
def delivered(
    lab: Lab, sites: dict[str, Site], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> GitDelivery:
    """Return a delivery of a file in each sync unit, without a running Argo CD."""
    monkeypatch.setattr(delivery, "_PAUSE", 0.01)
    repository = Repository(tmp_path / "git", "main")
    repository.create()
    units = [
        "argocd",
        "nodes",
        "platform",
        *(f"teams/{tenant.name}" for tenant in sites["lab"].tenants),
    ]
    files = {sites["lab"].folder(f"{unit}/a.yaml"): b"one" for unit in units}
    argocd = ArgoCD(lab, tmp_path / "argocd", Redis(tmp_path / "redis-server", ()))
    repository.commit(files)
    return GitDelivery(lab, argocd, repository, Tree(sites["lab"], files, (), ()))


def application(server: Served, name: str, revision: str, **changes: Any) -> dict[str, Any]:
    """Add an Application; it is Synced and Healthy unless the arguments differ."""
    status = {
        "sync": {"status": changes.get("sync", "Synced"), "revision": revision},
        "health": {"status": changes.get("health", "Healthy")},
        "operationState": {
            "phase": changes.get("phase", "Succeeded"),
            "message": changes.get("message", ""),
        },
        "resources": changes.get("resources", []),
    }
    return server.put(
        ARGO, "Application", name, "argocd", metadata={"annotations": {}}, status=status
    )


def marked(server: Served) -> list[str]:
    """Return the Applications with a pending refresh."""
    bodies = [body for body in server.objects.values() if body["kind"] == "Application"]
    return sorted(
        body["metadata"]["name"] for body in bodies if REFRESH in body["metadata"]["annotations"]
    )


def test_commit_refreshes_only_the_applications_that_it_changes(
    delivered: GitDelivery, server: Served
) -> None:
    for name in delivered.units:
        application(server, name, "one")
    commit = delivered.commit(
        {"overlays/lab/teams/nlp/a.yaml": b"two", "profiles/components/x.yaml": b"two"}
    )
    assert list(commit.applications) == marked(server) == ["lab-team-nlp"]


def test_merge_publishes_only_the_differences(
    delivered: GitDelivery, sites: dict[str, Site]
) -> None:
    files = {
        path: content for path, content in delivered.tree.files.items() if "/argocd/" not in path
    }
    later, commit = delivered.merge(
        Tree(sites["lab"], {**files, "overlays/lab/platform/a.yaml": b"two"}, (), ())
    )
    assert sorted(commit.applications) == ["lab-argocd", "lab-platform"]
    output = subprocess.run(
        ["git", "show", "--name-status", "--format=", commit.revision],
        cwd=delivered.repository.folder / "platform.git",
        capture_output=True,
        text=True,
        check=True,
    )
    assert output.stdout.split() == [
        "D",
        "overlays/lab/argocd/a.yaml",
        "M",
        "overlays/lab/platform/a.yaml",
    ]
    assert later.tree.files["overlays/lab/platform/a.yaml"] == b"two"


def test_unsynced_applications_are_reported_with_their_status(
    delivered: GitDelivery, server: Served
) -> None:
    for name in delivered.units:
        application(server, name, "old")
    queue = {"kind": "ClusterQueue", "name": "nlp-gpu", "status": "Synced"}
    health = {"status": "Degraded", "message": "FlavorNotFound"}
    application(
        server, "lab-platform", "new", health="Degraded", resources=[{**queue, "health": health}]
    )
    application(
        server, "lab-team-nlp", "old", phase="Running", message="waiting for pruning confirmation"
    )
    del server.objects["/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/lab-team-speech"]
    failures = {
        each.what: each.words
        for each in delivered.wait_until_synced(Commit("new", ["lab-platform", "lab-argocd"]), 0)
    }
    assert marked(server) == ["lab-argocd"]
    assert failures == {
        "lab-argocd": "Synced; Healthy",
        "lab-platform": "Synced; Degraded; ClusterQueue /nlp-gpu: Synced Degraded FlavorNotFound",
        "lab-team-nlp": "Synced; Healthy; waiting for pruning confirmation",
        "lab-team-speech": "is not there",
    }


def test_applications_that_were_seen_in_sync_are_not_looked_at_again(
    delivered: GitDelivery, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refresh that comes to its end shows `lab-argocd`, which contains itself, OutOfSync."""
    for name in delivered.units:
        application(server, name, "new")
    look = GitDelivery.applications

    def looked(self: GitDelivery) -> dict[str, Any]:
        seen = look(self)
        application(server, "lab-argocd", "new", sync="OutOfSync")
        return seen

    monkeypatch.setattr(GitDelivery, "applications", looked)
    assert delivered.wait_until_synced(Commit("new", ["lab-argocd"]), 0) == []
    late = delivered.wait_until_synced(Commit("new", ["lab-argocd"]), 0)
    assert [each.what for each in late] == ["lab-argocd"]


def test_application_behind_a_commit_is_refreshed_again(
    delivered: GitDelivery, server: Served
) -> None:
    """Argo CD recreates objects that are deleted before it has compared the commit."""
    application(server, "lab-platform", "new", sync="OutOfSync")
    application(server, "lab-argocd", "old")
    failures = delivered.wait_until_compared(Commit("new", ["lab-platform", "lab-argocd"]), 0)

    assert marked(server) == ["lab-argocd"]
    assert [(each.what, each.words) for each in failures] == [("lab-argocd", "Synced; Healthy")]
    application(server, "lab-argocd", "new")
    assert delivered.wait_until_compared(Commit("new", ["lab-argocd"])) == []


def test_application_that_has_not_seen_its_project_is_refreshed_again(
    delivered: GitDelivery, server: Served
) -> None:
    """Argo CD's informers are independent: an Application may be compared before its AppProject."""
    for name in delivered.units:
        application(server, name, "new")
    application(server, "lab-platform", "new", sync="Unknown")
    late = delivered.wait_until_synced(Commit("new", []), 0)

    assert [each.what for each in late] == ["lab-platform"]
    assert marked(server) == ["lab-platform"]


def test_wait_ends_when_no_application_changes(
    delivered: GitDelivery, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A queue that never becomes healthy ends the wait long before its timeout."""
    monkeypatch.setattr(delivery, "_STILL", 0.3)
    looks = iter(range(200))
    health = {"status": "Progressing", "message": "ClusterQueueDoesNotExist"}
    queue = {
        "kind": "LocalQueue",
        "name": "gpu",
        "namespace": "team-nlp",
        "status": "Synced",
        "health": health,
    }

    def moves() -> bool:
        look = next(looks)
        changes: dict[str, Any] = {"message": str(min(look, 20)), "health": "Progressing"}
        if look > 20:
            changes |= {"phase": "Running" if look < 80 else "Succeeded", "resources": [queue]}
        application(server, "lab-team-nlp", "new", **changes)
        return False

    began = time.monotonic()
    assert not delivered.wait(moves, 60)

    assert 80 < next(looks) < 200
    assert time.monotonic() - began < 30
    assert (
        "LocalQueue team-nlp/gpu: Synced Progressing ClusterQueueDoesNotExist"
        in delivered.describe("lab-team-nlp")
    )


@pytest.mark.parametrize(
    ("phase", "message", "applied"),
    [
        ("Running", "", True),
        ("Running", "waiting for healthy state of kueue.x-k8s.io/LocalQueue/gpu", False),
        ("Succeeded", "", False),
    ],
)
def test_waiting_operation_applies_nothing(
    server: Served, phase: str, message: str, *, applied: bool
) -> None:
    """While an operation applies objects it has no message; one that waits may never end."""
    assert is_applied(application(server, "a", "new", phase=phase, message=message)) == applied
    assert not is_applied({})


@pytest.mark.parametrize(
    ("policy", "started"), [({}, True), ({"automated": {"selfHeal": True}}, False)]
)
def test_manual_sync_is_started_by_the_rehearsal(
    delivered: GitDelivery, server: Served, policy: dict[str, Any], started: bool
) -> None:
    """Argo CD syncs an Application by itself only if its policy is `automated`."""
    for name in delivered.units:
        application(server, name, "new")
    nodes = application(server, "lab-nodes", "new", sync="OutOfSync")
    nodes["spec"] = {"syncPolicy": {"syncOptions": ["ServerSideApply=true"], **policy}}
    assert [each.what for each in delivered.wait_until_synced(Commit("new", []), 0)] == [
        "lab-nodes"
    ]

    now = server.objects["/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/lab-nodes"]
    asked = {"sync": {"syncOptions": ["ServerSideApply=true"]}}
    assert now.get("operation") == (asked if started else None)
