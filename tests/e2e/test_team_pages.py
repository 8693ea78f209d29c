"""The page of a team, run as the rehearsal runs it; a page that is wrong is found."""

from __future__ import annotations

import pytest

from tests.e2e.setup import NEW, OLD
from tests.e2e.stage import Stage
from trainyard.render.team_pages import team_pages
from trainyard_rehearsal.checks.team_pages import check_team_pages
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.outcome import Outcome

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize(
        "stage",
        [NEW, pytest.param(OLD, marks=pytest.mark.slow)],
        indirect=True,
        ids=[NEW.name, OLD.name],
    ),
]
_TORCHRUN = {
    "runtimes/torchrun.yaml": {
        "version": 1,
        "displayName": "PyTorch",
        "launcher": "torchrun",
        "hardware": ["dgx-h100"],
        "image": f"registry.example.com/ml/torch@sha256:{'0' * 64}",
        "libraries": {"torch": "2.8.0"},
        "maxNodes": 8,
    },
    "teams/nlp.yaml": {"runtimes": ["openmpi-cuda", "torchrun"]},
}
"""Changes that give the page a function of a notebook, beside jobs of MPI."""
_RUNTIME = "trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime"


def outcomes(stage: Stage, old: str = "", new: str = "") -> list[Outcome]:
    """Return both lines of the table for the page of team nlp, with some of its text replaced."""
    scene = stage.deploy(_TORCHRUN)
    settle(scene.lab)
    assert scene.queues_are_known("nlp")
    for path, _, text in team_pages(scene.site):
        file = scene.lab.plan.tree / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace(old, new) if old else text, encoding="utf-8")
    return list(check_team_pages(scene.lab, {"nlp"}))


def test_page_runs_and_a_wrong_page_does_not(stage: Stage) -> None:
    assert not [failure for each in outcomes(stage) for failure in each.failures]

    commands, python = outcomes(stage, "replicatedjob-name=launcher", "replicatedjob-name=first")
    assert "No resources found" in commands.failures[0].words
    assert python.fine

    commands, python = outcomes(stage, "num_nodes=2", "num_nodes=1")
    assert commands.fine
    assert python.failures

    commands, python = outcomes(stage, "func=fit_line", "func=fit_curve")
    assert commands.fine
    assert "name 'fit_curve' is not defined" in python.failures[0].words


def test_runtime_that_the_sdk_cannot_read_is_noticed(stage: Stage) -> None:
    """It hides all others."""
    assert all(each.fine for each in outcomes(stage))
    body = stage.lab.api.list(*_RUNTIME)[0]
    name = "unreadable"
    for job in body["spec"]["template"]["spec"]["replicatedJobs"]:
        for container in job["template"]["spec"]["template"]["spec"]["containers"]:
            container["resources"] = {"limits": {"memory": "1Gi"}}
    metadata = {"name": name, "labels": body["metadata"]["labels"]}
    stage.lab.api.apply({**body, "metadata": metadata})
    try:
        _, python = outcomes(stage)
        assert "Unknown device type" in python.failures[0].words
    finally:
        stage.lab.api.delete({**body, "metadata": {"name": name}})
