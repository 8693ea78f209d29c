"""Converted MPIJobs start on real controllers, with the command that the conversion shows."""

from __future__ import annotations

import pytest

from tests.e2e.setup import NEW, OLD
from tests.e2e.stage import Scene, Stage
from tests.jobs.convert.mpijob.cases import HERE
from trainyard_jobs.convert.model import Remark
from trainyard_jobs.workflows.convert import convert_mpijobs
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.fakes import settle

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [NEW, OLD], indirect=True, ids=[NEW.name, OLD.name]),
]
CASES = ("one-worker", "shell-script", "sidecars", "variables")


def test_converted_jobs_start(stage: Stage) -> None:
    """The API server, the webhooks and the policies accept each, and its pods are made."""
    scene = stage.deploy({})
    settle(scene.lab)

    for case in CASES:
        _starts(scene, _converted(scene, case)[0])


def test_job_waits_for_the_claim_that_its_note_names(stage: Stage) -> None:
    """It is admitted, and its pods wait for a claim that nobody has created."""
    scene = stage.deploy({})
    settle(scene.lab)
    body, notes = _converted(scene, "volumes")
    job = scene.create("nlp", body)

    assert any(note.what == "PersistentVolumeClaim `shared-tools`" for note in notes)
    assert scene.runs(job)
    assert scene.pods_show("not found", job)
    job.delete()
    assert stage.until(lambda: job.is_gone)


def _converted(scene: Scene, case: str) -> tuple[Body, tuple[Remark, ...]]:
    """Return an MPIJob as a TrainJob of team nlp, and its notes."""
    tenant = next(each for each in scene.site.tenants if each.name == "nlp")
    (conversion,) = convert_mpijobs([HERE / f"{case}.yaml"], tenant).conversions
    assert conversion.job is not None
    return conversion.job, conversion.notes


def _starts(scene: Scene, body: Body) -> None:
    """Submit a job, look at its pods, and delete it."""
    trainer = body["spec"]["trainer"]
    job = scene.create("nlp", body)
    assert scene.runs(job)
    assert scene.stage.until(lambda: len(job.pods) == trainer["numNodes"]), job.pods
    (node,) = job.pods[0].body["spec"]["containers"]
    assert node["command"] == trainer["command"]
    assert node.get("args") == trainer.get("args")
    job.delete()
    assert scene.stage.until(lambda: job.is_gone)
