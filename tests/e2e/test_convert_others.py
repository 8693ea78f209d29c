"""Converted batch scripts and training jobs start on real controllers, as the conversion shows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.setup import NEW, OLD
from tests.e2e.stage import Scene, Stage
from tests.jobs.convert.sagemaker.test_cases import CASES as TRAINING_JOBS
from tests.jobs.convert.slurm.test_cases import CASES as SCRIPTS
from trainyard_jobs.convert.model import Conversion
from trainyard_jobs.workflows.convert_sagemaker import convert_training_jobs
from trainyard_jobs.workflows.convert_slurm import convert_batch_scripts
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.fakes import settle

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [NEW, OLD], indirect=True, ids=[NEW.name, OLD.name]),
]
OF_SLURM = ("array", "header", "master-addr", "mpirun", "one-gpu", "ranks-in-bash", "variables")
OF_SAGEMAKER = ("each-instance", "model-trainer-mpi", "mpi-request", "own-container")
TORCHRUN = {
    "version": 1,
    "image": f"registry.example.com/ml/pytorch@sha256:{'ab' * 32}",
    "libraries": {"torch": "2.6.0", "cuda": "12.6"},
    "launcher": "torchrun",
    "hardware": ["dgx-h100"],
    "maxNodes": 4,
}
CHANGES = {
    "runtimes/torchrun.yaml": TORCHRUN,
    "teams/nlp.yaml": {"runtimes": ["openmpi-cuda", "torchrun"]},
}


def test_converted_jobs_start(stage: Stage) -> None:
    """The API server, the webhooks and the policies accept each, and its pods are made."""
    scene = stage.deploy(CHANGES)
    settle(scene.lab)
    bodies = [each.job for each in _converted(scene) if each.job is not None]

    assert len(bodies) > len(OF_SLURM) + len(OF_SAGEMAKER)
    for number, body in enumerate(bodies):
        _starts(scene, body, number)


def _converted(scene: Scene) -> Iterator[Conversion]:
    tenant = next(each for each in scene.site.tenants if each.name == "nlp")
    scripts = [SCRIPTS[case] for case in OF_SLURM]
    yield from convert_batch_scripts(scripts, tenant).conversions
    jobs = [TRAINING_JOBS[case] for case in OF_SAGEMAKER]
    yield from convert_training_jobs(jobs, tenant).conversions


def _starts(scene: Scene, body: Body, number: int) -> None:
    """Submit a job, look at its pods, and delete it."""
    metadata, trainer = body["metadata"], body["spec"]["trainer"]
    metadata["name"] = f"{metadata.pop('generateName')}{number:05}"
    job = scene.create("nlp", body)
    assert scene.runs(job)
    assert scene.stage.until(lambda: len(job.pods) == trainer["numNodes"]), job.pods
    (node,) = job.pods[0].body["spec"]["containers"]
    env = {each["name"]: each.get("value") for each in node["env"]}
    assert node["command"] == trainer["command"]
    assert node.get("args") == trainer.get("args")
    assert {each["name"]: each["value"] for each in trainer.get("env", [])}.items() <= env.items()
    job.delete()
    assert scene.stage.until(lambda: job.is_gone)
