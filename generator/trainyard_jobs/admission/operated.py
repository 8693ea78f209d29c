"""Jobs of operators: kinds whose pods no controller of Kubernetes makes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trainyard.model.lookup import mappings, text

Body = dict[str, Any]

JOB_SET: Final = "JobSet"
MPI_JOB: Final = "MPIJob"
TRAIN_JOB: Final = "TrainJob"
"""Its templates are those of its runtime."""
KINDS: Final = frozenset(
    {
        *("JAXJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob", MPI_JOB),
        *("RayCluster", "RayJob", JOB_SET),
    }
)
"""Kinds of jobs with templates of pods. One that waits has no pod yet."""
ENDED: Final = frozenset({"Complete", "Completed", "Failed", "Succeeded"})
"""Conditions of a job that makes no more pods."""


def is_over(body: Body) -> bool:
    """Return whether a job has ended, a Job of Kubernetes too."""
    ended = (each for each in mappings(body, "status", "conditions") if each.get("type") in ENDED)
    is_over = any(each.get("status") == "True" for each in ended)
    return is_over or text(body, "status", "jobDeploymentStatus") in ENDED


def templates(value: Any) -> Iterator[Body]:
    """Yield the templates of pods in a job's spec, wherever its kind has them."""
    if isinstance(value, list):
        for each in value:
            yield from templates(each)
    elif isinstance(value, dict):
        for key, below in value.items():
            if key == "template" and mappings(below, "spec", "containers"):
                yield below
            else:
                yield from templates(below)
