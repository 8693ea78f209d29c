"""Parts of a job that can be removed, and the job without them."""

from __future__ import annotations

from trainyard_jobs.fit.removal import at, parts, shown, without

POD = {
    "serviceAccountName": "x",
    "volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {}}],
    "containers": [{"name": "node", "volumeMounts": [{"name": "a", "mountPath": "/a"}]}],
}
JOB = {"spec": {"pods": [POD], "args": ["x", "y"]}, "metadata": {"labels": {"a/b": "c"}}}


def test_parts_are_entries_and_fields_without_parts_inside() -> None:
    found = [shown(each) for each in parts(JOB, ())]

    assert found == [
        "spec.pods[0].serviceAccountName",
        "spec.pods[0].volumes[0]",
        "spec.pods[0].volumes[1]",
        "spec.pods[0].containers[0].volumeMounts[0]",
        "spec.args",
        "metadata.labels",
    ]


def test_a_removed_entry_takes_an_empty_list_with_it() -> None:
    pod = ("spec", "pods", 0)
    paths = [(*pod, "containers", 0, "volumeMounts", 0), (*pod, "volumes", 0)]

    left = at(without(JOB, paths), pod)
    assert left["containers"] == [{"name": "node"}]
    assert left["volumes"] == [{"name": "b", "emptyDir": {}}]
    assert len(POD["volumes"]) == 2


def test_entries_of_one_list_are_removed_together() -> None:
    paths = [("spec", "pods", 0, "volumes", number) for number in (0, 1)]

    assert "volumes" not in at(without(JOB, paths), ("spec", "pods", 0))


def test_a_key_that_is_no_word_is_quoted() -> None:
    assert shown(("metadata", "labels", "a/b")) == 'metadata.labels["a/b"]'
    assert at(JOB, ("metadata", "labels", "a/b")) == "c"
    assert at(JOB, ("spec", "args", 7)) is None


def test_fields_of_a_pod_without_lists_are_parts() -> None:
    pod = {"serviceAccountName": "x", "nodeSelector": {"a": "b"}, "securityContext": {"uid": 1}}
    job = {"jobs": [{"name": "node", "template": {"metadata": {}, "spec": {"template": pod}}}]}

    frame = "jobs[0].template"
    assert [shown(each) for each in parts(job, ())] == [
        f"{frame}.metadata",
        f"{frame}.spec.template.serviceAccountName",
        f"{frame}.spec.template.nodeSelector",
        f"{frame}.spec.template.securityContext",
    ]
