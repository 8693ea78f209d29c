"""Objects that are too large for the API server and the controllers, each with its refusal."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.runtime import INITIALIZERS
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.refusals import JOB_TOO_LARGE, OBJECT_TOO_LARGE, URI
from trainyard_rehearsal.checks.variants import (
    Variant,
    changed_job,
    patches_runtimes,
    runtime_patches,
    with_change,
    with_pod,
)
from trainyard_rehearsal.control_plane.api import Body

MANY_LABELS: Body = {"labels": {f"example.com/{number}": "x" * 60 for number in range(3700)}}
"""53 jobs with these needed 633 MiB in the clean-up and 1.7 GB in Kueue."""

_LONG = "x" * 200_000
_WIDE = "\N{SNOWMAN}" * 70_000
"""As many bytes in a third of the characters: what etcd stores are bytes."""

_ESCAPED = "<" * 40_000
"""Stored as JSON, each of these characters is six."""

_FILES = [{"key": f"k{number}", "path": f"p{number}"} for number in range(65)]
_VOLUMES = [{"name": f"v{number}", "emptyDir": {}} for number in range(65)]


def large_jobs(sample: Sample, body: Body) -> Iterator[Variant]:
    """Yield jobs with a list, map or text without bound."""
    annotations = {"long": _LONG, "wide": _WIDE, "escaped": _ESCAPED}
    yield _named("labels", with_change(body, {"metadata": MANY_LABELS}), OBJECT_TOO_LARGE)
    for name, text in annotations.items():
        change = {"metadata": {"annotations": {"a": text}}}
        yield _named(f"{name} annotations", with_change(body, change), OBJECT_TOO_LARGE)
    for step in ("dataset", "model"):
        long = {"initializer": {step: {"env": [{"name": "A", "value": _LONG}]}}}
        yield _named(step, with_change(body, {"spec": long}), OBJECT_TOO_LARGE)
    steps = {each.name for each in sample.launch.runtime.initializers}
    for step in (step for step, name in INITIALIZERS.items() if name in steps):
        expanded = {"initializer": {step: {"storageUri": "$(HOME)" * 2}}}
        yield _named(f"expanded {step}", with_change(body, {"spec": expanded}), URI)
    yield from _long_lists(sample, body)


def _long_lists(sample: Sample, body: Body) -> Iterator[Variant]:
    job = changed_job(sample)
    if patches_runtimes(sample):
        jobs = runtime_patches("sdk.example.com/job", [{"name": f"j{i}"} for i in range(9)])
        yield _named("patched jobs", with_change(body, {"spec": jobs}), JOB_TOO_LARGE)
    else:
        lists = {"targets": [{"targetJobs": [job] * 9}], "overrides": [{"targetJobs": [job]}] * 9}
        for name, changes in lists.items():
            spec = {"podTemplateOverrides": changes}
            yield _named(name, with_change(body, {"spec": spec}), JOB_TOO_LARGE)
        args = {"trainer": {"args": ["x"] * 20_000}}
        yield _named("args", with_change(body, {"spec": args}), JOB_TOO_LARGE)
    yield _named("volumes", with_pod(sample, body, {"volumes": _VOLUMES}), JOB_TOO_LARGE)
    files = {"name": "x", "configMap": {"name": "a", "items": _FILES}}
    yield _named("items", with_pod(sample, body, {"volumes": [files]}), JOB_TOO_LARGE)


def _named(what: str, body: Body, refusal: str) -> Variant:
    return Variant(f"{what} without bound", body, refusal)
