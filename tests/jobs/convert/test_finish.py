"""What becomes of a draft: its name, queue, class and time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from trainyard.diagnostics import Pointer
from trainyard.model.tenant import Tenant
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.finish import finish
from trainyard_jobs.convert.model import Conversion, Kind, Remark

Team = Callable[[str, str], Tenant]
AT = Pointer("x")
DRAFT = Draft("a job", AT, "a", "openmpi", 2, gpus=8, ranks=8, command=("mpirun",), args=("./a",))


def metadata(conversion: Conversion) -> dict[str, Any]:
    assert conversion.job is not None
    found: dict[str, Any] = conversion.job["metadata"]
    return found


@pytest.mark.parametrize(
    ("name", "field", "result"),
    [
        ("a" * 60, "name", "a" * 44),
        ("a" * 43 + "-b", "name", "a" * 43),
        ("ab-", "generateName", "ab-"),
        ("a" * 38 + "-", "generateName", "a" * 38 + "-"),
        ("a" * 60 + "-", "generateName", "a" * 38 + "-"),
    ],
)
def test_name_is_as_long_as_its_pods_allow(
    name: str, field: str, result: str, tenant: Team
) -> None:
    made = metadata(finish(replace(DRAFT, name=name), tenant("nlp", "prod-east")))

    assert made[field] == result
    assert len(result) + 5 * (field == "generateName") <= 44


@pytest.mark.parametrize(
    ("priority", "deadline", "labels"),
    [
        ("", 0, {"priority-class": "batch", "max-exec-time-seconds": "172800"}),
        ("", 60, {"priority-class": "batch", "max-exec-time-seconds": "60"}),
        ("batch", 999_999, {"priority-class": "batch", "max-exec-time-seconds": "172800"}),
        ("production", 0, {"priority-class": "production"}),
        ("unheard-of", 0, {"priority-class": "batch", "max-exec-time-seconds": "172800"}),
    ],
)
def test_job_has_a_class_of_the_team_and_its_time(
    priority: str, deadline: int, labels: dict[str, str], tenant: Team
) -> None:
    made = finish(replace(DRAFT, priority=priority, deadline=deadline), tenant("nlp", "lab"))
    found = {key.partition("/")[2]: value for key, value in metadata(made)["labels"].items()}

    assert found == {"queue-name": "gpu", **labels}


@pytest.mark.parametrize(
    ("named", "kept"),
    [("site-queue", "site-queue"), ("default", "default"), ("other", "gpu"), ("", "gpu")],
)
def test_queue_that_leads_to_the_nodes_stays(named: str, kept: str, of_a_site: Tenant) -> None:
    made = finish(replace(DRAFT, queue=named), of_a_site)

    assert metadata(made)["labels"]["kueue.x-k8s.io/queue-name"] == kept
    assert any("queue `" in note.what for note in made.notes) == (named == "other")


def test_draft_that_is_refused_makes_no_job(tenant: Team) -> None:
    note = Remark(AT, Kind.REFUSED, "it", "can't")

    assert finish(replace(DRAFT, notes=(note,)), tenant("nlp", "lab")).job is None
    assert finish(replace(DRAFT, notes=(note,)), None).notes == (note,)


def test_runtime_for_the_image_is_made_where_the_team_has_none(tenant: Team) -> None:
    team = tenant("nlp", "prod-east")
    own = finish(replace(DRAFT, image="registry.example.com/ml/openmpi-cuda:1"), team)
    other = finish(replace(DRAFT, image="me/mine:1", shared_memory="1Gi"), team)

    assert own.runtime is None
    assert finish(DRAFT, team).runtime is None
    assert other.runtime is not None
    assert other.runtime["image"] == "docker.io/me/mine:1"
    assert other.runtime["sharedMemory"] == "1Gi"


def test_quantity_as_a_number_stays_one(tenant: Team) -> None:
    """The emitter knows no floats, and Kubernetes reads both."""
    volumes = ({"name": "a", "emptyDir": {"sizeLimit": 1e9}},)
    made = finish(replace(DRAFT, volumes=volumes), tenant("nlp", "prod-east"))
    assert made.job is not None

    (override,) = made.job["spec"]["podTemplateOverrides"]
    assert override["spec"]["volumes"] == [{"name": "a", "emptyDir": {"sizeLimit": 1_000_000_000}}]
