"""``trainyard convert job``, and what `fit` says about a job that is not a TrainJob."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended
from trainyard.cli.exits import Exit

Call = Callable[..., Ended]
WHERE = ("--team", "nlp", "--cluster", "prod-east")
DOORS = {
    "batch/v1 Job": "`trainyard job --nodes 1 -- COMMAND`",
    "batch/v1 CronJob": "from a pipeline",
    "jobset.x-k8s.io/v1alpha2 JobSet": "Trainer makes a JobSet",
    "kubeflow.org/v1 PyTorchJob": "`trainyard convert pytorchjob` makes a TrainJob of it",
    "kubeflow.org/v1 TFJob": "keep its operator",
    "kubeflow.org/v2beta1 MPIJob": "`trainyard convert mpijob` makes a TrainJob of it",
    "ray.io/v1 RayJob": "run it with KubeRay",
    "trainer.kubeflow.org/v2alpha1 TrainJob": "trainer.kubeflow.org/v1alpha1 is",
}


@pytest.fixture
def file(repository: Path) -> Callable[[str], Path]:
    def written(kind: str) -> Path:
        version, _, name = kind.partition(" ")
        path = repository / "job.yaml"
        path.write_text(f"apiVersion: {version}\nkind: {name}\nmetadata: {{name: x}}\n", "utf-8")
        return path

    return written


@pytest.mark.parametrize("kind", DOORS)
def test_each_kind_has_its_door(trainyard: Call, file: Callable[[str], Path], kind: str) -> None:
    ended = trainyard("convert", "job", file(kind).name)

    assert ended.code == Exit.FINDINGS
    assert ended.err.startswith(f"job.yaml:1:1: refused: {kind.partition(' ')[2]} x: ")
    assert DOORS[kind] in ended.err


@pytest.mark.parametrize("kind", DOORS)
def test_fit_names_the_door(trainyard: Call, file: Callable[[str], Path], kind: str) -> None:
    ended = trainyard("fit", file(kind).name, *WHERE)

    assert ended.code == Exit.NO_INPUT
    assert DOORS[kind] in ended.err


def test_object_that_is_no_job_is_no_input(trainyard: Call, file: Callable[[str], Path]) -> None:
    assert trainyard("convert", "job", file("v1 ConfigMap").name).code == Exit.NO_INPUT
