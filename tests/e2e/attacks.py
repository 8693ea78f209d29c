"""Requests of a hostile user: verbs and kinds of the roles, with any metadata."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.e2e.stage import Scene
from trainyard_rehearsal.checks.jobs import TRAINER, as_user
from trainyard_rehearsal.checks.roles import rights
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.refusal import Refused

TEAM = "nlp"
SPACES = ("a", "b", "c", "d")
NAMESPACES = (f"team-{TEAM}", *(f"team-{TEAM}-{space}" for space in SPACES))
"""Namespaces of the team; in each of them one sequence runs at a time."""
_MADE = "attack"
"""Prefix of the names of objects that an attack creates."""

_KINDS = {
    ("trainer.kubeflow.org", "trainjobs"): (TRAINER, "TrainJob"),
    ("", "configmaps"): ("v1", "ConfigMap"),
    ("", "persistentvolumeclaims"): ("v1", "PersistentVolumeClaim"),
    ("", "pods"): ("v1", "Pod"),
}
"""Kinds that roles of a team may write.

``test_attacks_cover_every_kind_that_a_role_may_write`` fails when a role may write another kind.
"""

_WRITING = {"create", "delete", "deletecollection", "patch", "update"}


def writes(role: str) -> set[tuple[str, tuple[str, str]]]:
    """Return each verb and resource that a role may write."""
    return {(verb, resource) for verb, resource in rights(role) if verb in _WRITING}


def unknown(role: str) -> set[tuple[str, tuple[str, str]]]:
    """Return each verb and resource that a role may write and no attack covers."""
    return {each for each in writes(role) if each[1] not in _KINDS}


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a sequence.

    Args:
        role: the sender's role in the team.
        number: picks one of the existing objects, by its position in the list.
        body: the object to create, or a merge patch.
        dependents: propagation policy of a deletion.
    """

    role: str
    verb: str
    version: str
    kind: str
    number: int
    body: Body
    dependents: str

    def send(self, scene: Scene, namespace: str) -> str:
        """Send the request; return the refusal, if any."""
        user = as_user(scene.api, scene.space(namespace), self.role)
        try:
            if self.verb == "create":
                user.create(self._new(scene, namespace))
                return ""
            for each in self._targets(scene, namespace):
                if self.verb.startswith("delete"):
                    user.delete(each, self.dependents)
                else:
                    user.patch(each, self.body)
        except Refused as refused:
            return str(refused)
        return ""

    def _targets(self, scene: Scene, namespace: str) -> Iterator[Body]:
        """Yield the objects that the request deletes or patches."""
        existing = scene.api.list(self.version, self.kind, namespace)
        if existing and self.verb != "deletecollection":
            existing = [existing[self.number % len(existing)]]
        for each in existing:
            metadata = each["metadata"]
            yield {"apiVersion": self.version, "kind": self.kind, "metadata": metadata}

    def _new(self, scene: Scene, namespace: str) -> Body:
        if self.kind == "TrainJob":
            body = json.loads(json.dumps(scene.body(TEAM, 2 + self.number % 3)))
        else:
            body = {"apiVersion": self.version, "kind": self.kind, "metadata": {}}
        body["metadata"]["namespace"] = namespace
        _merge(body, self.body)
        ordinary = f"{_MADE}-{self.number % 4}{self.body.get('ending', '')}"
        body["metadata"]["name"] = self.body.get("taken") or ordinary
        for key in ("ending", "taken"):
            body.pop(key, None)
        return body  # type: ignore[no-any-return]


def _merge(body: Body, change: Body) -> None:
    for key, value in change.items():
        if isinstance(value, dict) and isinstance(body.get(key), dict):
            _merge(body[key], value)
        else:
            body[key] = value


_OWNERS = st.fixed_dictionaries(
    {
        "apiVersion": st.just("v1"),
        "kind": st.sampled_from(["ConfigMap", "Node", "Job"]),
        "name": st.just("x"),
        "uid": st.sampled_from(["00000000-0000-0000-0000-000000000001", "u"]),
    },
    optional={"controller": st.booleans(), "blockOwnerDeletion": st.booleans()},
)
_ANNOTATIONS = {
    "argocd.argoproj.io/sync-options": ["Prune=confirm", "Delete=confirm"],
    "argocd.argoproj.io/tracking-id": ["team-nlp:v1/ConfigMap:team-nlp/attack-0"],
    "argocd.argoproj.io/hook": ["PreSync"],
    "k8s.v1.cni.cncf.io/networks": ["team-vision/rail-0"],
    "kueue.x-k8s.io/podset-required-topology": ["kubernetes.io/hostname"],
    "kueue.x-k8s.io/safe-to-forcefully-delete": ["true"],
    "kueue.x-k8s.io/elastic-job": ["true"],
    "alpha.jobset.sigs.k8s.io/exclusive-topology": ["kubernetes.io/hostname"],
    "cluster-autoscaler.kubernetes.io/safe-to-evict": ["false"],
}
_LABELS = {
    "kueue.x-k8s.io/queue-name": ["gpu", "other", ""],
    "kueue.x-k8s.io/priority-class": ["production", "batch", "system-node-critical"],
    "kueue.x-k8s.io/prebuilt-workload-name": ["x"],
    "kueue.x-k8s.io/managed": ["true", "false"],
    "kueue.x-k8s.io/pod-group-name": ["x"],
    "jobset.sigs.k8s.io/jobset-name": ["attack-0"],
    "argocd.argoproj.io/instance": ["x"],
    "app.kubernetes.io/instance": ["prod-east-team-vision"],
    "ml.example.com/team": ["vision"],
    "app.kubernetes.io/managed-by": ["trainyard"],
    "config.openshift.io/inject-trusted-cabundle": ["true"],
}


def _some(choices: dict[str, list[str]]) -> st.SearchStrategy[dict[str, str]]:
    one = st.sampled_from([(key, value) for key, values in choices.items() for value in values])
    return st.lists(one, max_size=2).map(dict)


class _Labels(dict[str, str]):
    """Labels of a megabyte, which a finding does not print."""

    def __init__(self) -> None:
        super().__init__({f"example.com/{number}": "x" * 60 for number in range(12_000)})

    def __repr__(self) -> str:
        return f"{len(self)} labels"


_METADATA = st.fixed_dictionaries(
    {},
    optional={
        "finalizers": st.lists(
            st.sampled_from(["foregroundDeletion", "orphan", "example.com/x"]), max_size=2
        ),
        "ownerReferences": st.lists(_OWNERS, max_size=1),
        "annotations": _some(_ANNOTATIONS),
        "labels": _some(_LABELS) | st.just(_Labels()),
    },
)


class _Long(str):
    """Text that a finding does not print in full."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{self[0]!r} * {len(self)}"


_TOLERANT = [{"operator": "Exists"}]
_JOB_SPECS: list[Body] = [
    {},
    {"suspend": True},
    {"suspend": False},
    {"trainer": {"numNodes": 8}},
    {"trainer": {"numNodes": 1}},
    {"trainer": {"numNodes": 500}},
    {"trainer": {"resourcesPerNode": {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}}},
    {"trainer": {"env": [{"name": "SSH_CRYPTO", "value": "none"}]}},
    {"trainer": {"image": "example.com/other"}},
    {"trainer": {"command": [_Long("x" * 70_000)]}},
    {"runtimeRef": {"name": "of-another-team"}},
    {"managedBy": "kueue.x-k8s.io/multikueue"},
    {
        "podTemplateOverrides": [
            {"targetJobs": [{"name": "node"}], "spec": {"tolerations": _TOLERANT}}
        ]
    },
    {"runtimePatches": []},
    {"activeDeadlineSeconds": 1},
    {"initializer": {"dataset": {"env": [{"name": "A", "value": _Long("x" * 1_500_000)}]}}},
    {"initializer": {"model": {"env": [{"name": "9bad=name", "value": "x"}]}}},
    {"podTemplateOverrides": [{"targetJobs": [{"name": "node"}] * 20_000}]},
]
_BYTES = [{}, {"hostfile": "attack-0-node-0-0 slots=8"}, {"x": _Long("y" * 300_000)}]
_CLAIM = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "900Pi"}}}
_CLAIMS: list[Body] = [
    *({**_CLAIM, "storageClassName": name} for name in ("", "cephfs", "fast")),
    {**_CLAIM, "storageClassName": "cephfs", "selector": {}},
    {**_CLAIM, "storageClassName": "cephfs", "volumeName": "of-another-team"},
]


def _bodies(verb: str, kind: str) -> st.SearchStrategy[Body]:
    """Return the bodies of requests with a verb on a kind."""
    if verb.startswith("delete"):
        return st.just({})
    inner: dict[str, st.SearchStrategy[Any]] = {"metadata": _METADATA}
    if kind == "TrainJob":
        inner["spec"] = st.sampled_from(_JOB_SPECS)
    elif kind == "ConfigMap":
        inner["data"] = st.sampled_from(_BYTES)
        inner["immutable"] = st.sampled_from([None, False, True])
    elif kind == "PersistentVolumeClaim":
        inner["spec"] = st.sampled_from(_CLAIMS)
    if verb == "create" and kind == "ConfigMap":
        inner["ending"] = st.sampled_from(["", "-mpi-hostfile", "-runtime-snapshot"])
    if verb == "create" and kind in TAKEN:
        inner["taken"] = st.sampled_from(["", "", *TAKEN[kind]])
    return st.fixed_dictionaries(inner)


TAKEN = {
    "TrainJob": ["default-deny", "dns", "jobs", "trainyard-later"],
    "ConfigMap": ["trainyard-later"],
    "PersistentVolumeClaim": ["home", "scratch", "trainyard-later"],
}
"""Names of objects that the tree has, or may have later."""


@st.composite
def _requests(draw: Callable[..., Any]) -> Request:
    role = draw(st.sampled_from(["user", "admin"]))
    verb, resource = draw(st.sampled_from(sorted(writes(role))))
    version, kind = _KINDS[resource]
    return Request(
        role,
        verb,
        version,
        kind,
        draw(st.integers(0, 11)),
        draw(_bodies(verb, kind)),
        draw(st.sampled_from(["Background", "Foreground", "Orphan"])),
    )


_SUBMIT = Request("user", "create", TRAINER, "TrainJob", 0, {}, "Background")
SEQUENCES = st.lists(_requests(), min_size=1, max_size=3).map(lambda rest: [_SUBMIT, *rest])
"""Two to four requests; the first creates a valid job, so that the others have a target."""

ATTACKS = st.lists(SEQUENCES, min_size=len(NAMESPACES), max_size=len(NAMESPACES))
"""A sequence for each namespace, all at the same time."""
