"""Each field of what a tenant may write has a bound, whichever Trainer is installed.

Kubernetes' own admission plugins judge the objects; no control plane runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import pytest

from tests.e2e import fitting
from tests.e2e.setup import FILE
from tests.e2e.shapes import enlarged, schema_of, with_field, without_place
from tests.rules.cases import merged, platform_of
from trainyard.model.admission import Answer, Request
from trainyard.render.site import render_site
from trainyard_jobs.admission.evaluator import judge_of

Body = dict[str, Any]

_NEW, _OLD = "kubernetes-1.36", "openshift-ai-3.5"
_AT_A_TIME = 20
_USER = ("nlp", "system:authenticated")
_SECRET = {"secretKeyRef": {"name": "a", "key": "b", "optional": False}}
_ENV = [
    {"name": "A", "value": "a"},
    {"name": "B", "valueFrom": _SECRET},
    {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "a", "key": "b", "optional": True}}},
    {"name": "D", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.uid"}}},
]
_ITEMS = [{"key": "a", "path": "b/c", "mode": 256}]
_FILES = {"items": _ITEMS, "defaultMode": 256, "optional": True}
_POD = {
    "volumes": [
        {"name": "a", "persistentVolumeClaim": {"claimName": "a", "readOnly": False}},
        {"name": "b", "configMap": {"name": "a", **_FILES}},
        {"name": "c", "secret": {"secretName": "a", **_FILES}},
        {"name": "d", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
    ],
    "containers": [
        {
            "name": "node",
            "volumeMounts": [
                {"name": "a", "mountPath": "/a", "subPath": "b", "readOnly": True},
            ],
        }
    ],
}
_STEP = {"storageUri": "s3://a/b", "secretRef": {"name": "a"}, "env": _ENV}
_CHANGES: dict[str, Body] = {
    _OLD: {
        "labels": {"kueue.x-k8s.io/queue-name": "gpu"},
        "podTemplateOverrides": [{"targetJobs": [{"name": "node"}], "spec": _POD}],
    },
    _NEW: {
        "activeDeadlineSeconds": 60,
        "runtimePatches": [
            {
                "manager": "example.com/a",
                "time": "2026-11-26T00:00:00Z",
                "trainingRuntimeSpec": {
                    "template": {
                        "spec": {
                            "replicatedJobs": [
                                {"name": "node", "template": {"spec": {"template": {"spec": _POD}}}}
                            ]
                        }
                    }
                },
            }
        ],
    },
}
"""What a job may say in one form and not in the other."""


@cache
def _tree(release: str) -> tuple[Any, Any]:
    """Return the judge of a tree, and a site."""
    changes = fitting.platform("sizes")
    changes[FILE] = {**changes[FILE], "release": release}
    changes["runtimes/finetune.yaml"]["maxNodes"] = 4
    (site,) = platform_of(changes).sites
    judge = judge_of(site.cluster.versions["kubernetes"], render_site(site))
    assert judge is not None, "build the evaluator: python -m tests.e2e.engines"
    return judge, site


def _job(release: str, schema: str) -> Body:
    """Return a job of a tree with every field of a Trainer's schema that a tenant may set."""
    _, site = _tree(release)
    found = next(
        each.body
        for each in render_site(site)
        if each.body["kind"] == "TrainJob"
        and each.body["spec"]["runtimeRef"]["name"].startswith("finetune")
    )
    bare = {key: found["spec"][key] for key in ("runtimeRef", "trainer")}
    metadata = {**found["metadata"], "annotations": {"example.com/a": "b"}}
    metadata["labels"] = {"kueue.x-k8s.io/queue-name": "gpu", "example.com/a": "b"}
    spec = {
        "suspend": True,
        "managedBy": "trainer.kubeflow.org/trainjob-controller",
        "initializer": {"dataset": _STEP, "model": _STEP},
        "trainer": {"env": _ENV, "image": "example.com/a:b", "args": ["a"], "command": ["b"]},
        **_CHANGES[schema],
    }
    job: Body = merged({**found, "metadata": metadata, "spec": bare}, {"spec": spec})
    return job


def _answers(release: str, resource: str, bodies: list[Body]) -> list[Answer]:
    """Return the answers to some requests; the evaluator may take a minute for a few large ones."""
    judge, _ = _tree(release)
    requests = [Request(each, resource, "somebody@nlp", _USER) for each in bodies]
    return [answer for few in _batched(requests) for answer in judge(few)]


def _batched(requests: list[Request]) -> Iterator[list[Request]]:
    for start in range(0, len(requests), _AT_A_TIME):
        yield requests[start : start + _AT_A_TIME]


pytestmark = [pytest.mark.e2e]
_TREES = pytest.mark.parametrize("release", [_NEW, _OLD])
_SCHEMAS = pytest.mark.parametrize("schema", [_NEW, _OLD])


@_TREES
@_SCHEMAS
def test_each_field_of_a_job_is_bounded_or_refused(release: str, schema: str) -> None:
    """Also where the tree's own release has no such field: an operator upgrades itself."""
    trainjob = schema_of(schema, "trainer.kubeflow.org", "trainjob_v1alpha1")
    job = _job(release, schema)
    others = dict(without_place(trainjob, job))
    large = dict(enlarged(trainjob, job))

    (plain,) = _answers(release, "trainjobs", [job])
    more = [with_field(job, path, child) for path, child in others.items()]
    added = _answers(release, "trainjobs", more)
    grown = _answers(release, "trainjobs", list(large.values()))

    assert plain.admitted, plain
    assert _admitted(others, added) == []
    assert _admitted(large, grown) == []
    assert [each for each in added if _fails(each)] == []


_CONFIG_MAP: Body = {"data": {"a": "b"}, "binaryData": {"a": "YQ=="}}
_CLAIM: Body = {
    "spec": {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "1Gi"}},
        "selector": {"matchLabels": {"a": "b"}},
        "storageClassName": "a",
    }
}


@_TREES
@pytest.mark.parametrize(
    ("group", "kind", "resource", "body"),
    [
        ("v1", "ConfigMap", "configmaps", _CONFIG_MAP),
        ("v1", "PersistentVolumeClaim", "persistentvolumeclaims", _CLAIM),
        ("trainer.kubeflow.org", "TrainingRuntime", "trainingruntimes", {}),
    ],
)
def test_each_object_is_bounded_as_a_whole(
    release: str, group: str, kind: str, resource: str, body: Body
) -> None:
    """Of a runtime only the metadata: trainyard-copies compares the rest with its original."""
    name = "clustertrainingruntime_v1alpha1" if group != "v1" else f"{kind.lower()}_v1"
    version = "v1" if group == "v1" else f"{group}/v1alpha1"
    metadata = {
        "name": "a",
        "namespace": "team-nlp",
        "labels": {"a": "b"},
        "annotations": {"a": "b"},
    }
    plain = {"apiVersion": version, "kind": kind, "metadata": metadata, **body}
    large = dict(enlarged(schema_of(release, group, name), plain))
    # There is no namespace of such a name.
    large.pop(".metadata.namespace", None)

    answers = _answers(release, resource, [plain, *large.values()])

    open_ = [path for path, answer in zip(["", *large], answers, strict=True) if not _large(answer)]
    assert len(large) > 3
    assert open_ == [""]


def _large(answer: Answer) -> bool:
    """Return whether the object is refused for its size, or before by Kubernetes itself."""
    words = "KiB, with its labels, annotations and managed fields"
    return any(words in each.message or each.policy == "ObjectMeta" for each in answer.denials)


def _admitted(names: Iterable[Any], answers: list[Answer]) -> list[Any]:
    return [name for name, answer in zip(names, answers, strict=True) if answer.admitted]


def _fails(answer: Answer) -> bool:
    """Return whether an expression could not be evaluated, which closes too."""
    return any("resulted in error" in denial.message for denial in answer.denials)
