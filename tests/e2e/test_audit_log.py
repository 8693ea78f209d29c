"""The API server's audit log: what the policy of the tree records, and how much that is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.setup import NEW, OLD_AUDITED
from tests.e2e.stage import Scene, Stage
from tests.e2e.test_plain_jobs import ends, plain, runtimes
from trainyard_rehearsal.checks.jobs import Job, as_user, member
from trainyard_rehearsal.control_plane.local_cluster import AUDIT_LOG
from trainyard_rehearsal.control_plane.refusal import Refused

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize(
        "stage",
        [NEW, pytest.param(OLD_AUDITED, marks=pytest.mark.slow)],
        indirect=True,
        ids=["1.36", "1.34"],
    ),
]

Event = dict[str, Any]

_PODS = 4
_EVENTS, _BYTES = 130, 175_000
"""Most events and bytes of a job of four pods, from its creation until it is gone. Seen: 106 and
130,438 with Kubernetes 1.36 and Kueue 0.19.2, 111 and 151,129 with 1.34 and 0.16.2."""
_DEBUGGERS = {"groups": ["nccl-experts"], "until": "2099-12-31", "reason": "jobs hang in NCCL"}


@dataclass(frozen=True)
class Log:
    """The audit log from some moment on.

    Args:
        start: bytes that it had then.
    """

    path: Path
    start: int

    @property
    def lines(self) -> list[bytes]:
        """Its complete lines."""
        with self.path.open("rb") as file:
            file.seek(self.start)
            return [each for each in file.read().splitlines(keepends=True) if each.endswith(b"\n")]

    def events(self, verb: str, resource: str, part: str = "") -> Iterator[Event]:
        """Yield the events of a verb on a resource."""
        for event in map(json.loads, self.lines):
            about = event.get("objectRef", {})
            wanted = (verb, resource, part)
            if (event["verb"], about.get("resource"), about.get("subresource", "")) == wanted:
                yield event


def _log(stage: Stage) -> Log:
    path = stage.lab.kubeconfig.parent / AUDIT_LOG
    return Log(path, path.stat().st_size)


def _ended(scene: Scene, name: str, pods: int) -> Job:
    """Return a job of a member that has run to its end and is deleted."""
    (runtime,) = runtimes(scene)
    job = scene.create("nlp", plain(name, runtime, pods))
    assert ends(scene, job)
    job.delete()
    assert scene.stage.until(lambda: job.is_gone)
    return job


def test_the_life_of_a_job_is_recorded_at_a_volume(stage: Stage) -> None:
    """Who created and deleted it, and when Kueue started it; about 1.3 kB an event."""
    scene = stage.deploy({})
    # Until the limits of the namespace are there, a job and its pods are refused and sent again.
    _ended(scene, "first", 2)
    log = _log(stage)

    job = _ended(scene, "audited", _PODS)

    (created,) = log.events("create", "trainjobs")
    assert created["level"] == "Metadata"
    assert created["impersonatedUser"]["username"] == member(scene.space("team-nlp"))[0]
    assert created["objectRef"]["name"] == job.name
    starts = list(log.events("update", "trainjobs"))
    assert {each["user"]["username"].rpartition(":")[2] for each in starts} == {
        "kueue-controller-manager"
    }
    assert len(list(log.events("create", "pods"))) == _PODS
    assert list(log.events("delete", "trainjobs"))
    # Other objects of the control plane may still be on their way out.
    lines = [each for each in log.lines if job.name.encode() in each]
    assert len(lines) <= _EVENTS
    assert sum(map(len, lines)) <= _BYTES


def test_what_controllers_note_about_others_is_not_recorded(stage: Stage) -> None:
    """Their status, endpoints, leases and events say nothing without a body."""
    scene = stage.deploy({})
    log = _log(stage)

    _ended(scene, "noted", 2)
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "audited", "namespace": "default"},
    }
    scene.api.create(lease)
    scene.api.get("coordination.k8s.io/v1", "Lease", "audited", "default")
    scene.api.delete(lease)

    about = [json.loads(each) for each in log.lines]
    resources = {each["objectRef"]["resource"] for each in about if "objectRef" in each}
    assert not resources & {"leases", "events", "endpoints", "endpointslices"}
    by_accounts = (
        each["objectRef"]
        for each in about
        if "system:serviceaccounts" in each["user"].get("groups", ())
    )
    assert not [each for each in by_accounts if each.get("subresource") == "status"]


def test_a_shell_in_a_pod_is_recorded_with_who_asked(stage: Stage) -> None:
    """A debugger's, and also a member's who is refused."""
    scene = stage.deploy({"teams/nlp.yaml": {"debuggers": _DEBUGGERS}})
    (runtime,) = runtimes(scene)
    job = scene.create("nlp", plain("entered", runtime, 2))
    assert stage.until(lambda: any(pod.phase == "Running" for pod in job.pods))
    pod = next(pod for pod in job.pods if pod.phase == "Running")
    log = _log(stage)
    user, _ = member(scene.space("team-nlp"))
    people = {
        "debugger@nlp": scene.api.acting("debugger@nlp", ["nccl-experts", "system:authenticated"]),
        user: as_user(scene.api, scene.space("team-nlp")),
    }

    for api in people.values():
        with suppress(Refused):
            api.create({**pod.body, "apiVersion": "v1", "kind": "Pod"}, "exec")

    found = list(log.events("create", "pods", "exec"))
    assert {each["impersonatedUser"]["username"] for each in found} == set(people)
    assert {each["objectRef"]["name"] for each in found} == {pod.name}
    codes = {each["impersonatedUser"]["username"]: each["responseStatus"]["code"] for each in found}
    assert codes[user] == 403
    assert codes["debugger@nlp"] != 403


def test_a_change_of_a_queue_is_recorded_with_its_content(stage: Stage) -> None:
    """Without the list of who manages which field, which is longer than the object."""
    scene = stage.deploy({})
    queue = next(each.body for each in scene.manifests if each.body["kind"] == "ClusterQueue")
    log = _log(stage)

    scene.api.patch(queue, {"spec": {"stopPolicy": "Hold"}})

    (event,) = log.events("patch", "clusterqueues")
    assert event["level"] == "Request"
    assert event["requestObject"]["spec"] == {"stopPolicy": "Hold"}
    assert event["user"]["username"] == "admin"
    assert "managedFields" not in json.dumps(event)
    stage.forget("ClusterQueue", queue["metadata"]["name"])


def test_credentials_are_never_recorded_with_their_content(stage: Stage) -> None:
    """Neither what is written, nor what is read, nor a token that is given."""
    scene = stage.deploy({})
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "audited", "namespace": "default"},
        "stringData": {"key": "value-that-nobody-may-see"},
    }
    log = _log(stage)

    scene.api.create(secret)
    scene.api.get("v1", "Secret", "audited", "default")
    scene.api.delete(secret)
    token = scene.api.token("default", "default")

    for verb in ("create", "get", "delete"):
        assert {each["level"] for each in log.events(verb, "secrets")} == {"Metadata"}
    assert {each["level"] for each in log.events("create", "serviceaccounts", "token")} == {
        "Metadata"
    }
    text = b"".join(log.lines).decode()
    assert "value-that-nobody-may-see" not in text
    assert "dmFsdWUtdGhhdC1ub2JvZHktbWF5LXNlZQ" not in text
    assert token not in text
