"""Jobs of Kubeflow that Kueue queues are refused with a queue: their pods would get no node.

`tests/e2e/test_jobs_of_operators.py` has the API server itself.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import platform_of
from trainyard.render.site import render_site

_USUAL = ["BatchJob", "JobSet", "TrainJob"]
_MPI_JOBS = {"teams/nlp.yaml": {"mpiJobs": {"prod-east": {"until": "9999-12-31"}}}}


def _spec(changes: dict[str, Any], *frameworks: str) -> dict[str, Any]:
    kinds = {"frameworks": [*_USUAL, *frameworks]} if frameworks else {}
    profile = {"release": "kubernetes-1.36", **kinds}
    (site,) = platform_of({"clusters/prod-east.yaml": profile, **changes}).sites
    found: dict[str, Any]
    (found,) = (
        each.body["spec"]
        for each in render_site(site)
        if (each.kind.name, each.name) == ("ValidatingAdmissionPolicy", "trainyard-jobs")
    )
    return found


@pytest.mark.parametrize(
    ("changes", "frameworks", "resources"),
    [
        ({}, ["PyTorchJob"], ["pytorchjobs"]),
        ({}, ["TFJob", "PyTorchJob", "MPIJob"], ["mpijobs", "pytorchjobs", "tfjobs"]),
        (_MPI_JOBS, ["PyTorchJob", "MPIJob"], ["pytorchjobs"]),
        ({}, ["RayJob", "Deployment"], []),
        (_MPI_JOBS, [], []),
        ({}, [], []),
    ],
)
def test_kinds_that_kueue_queues_are_refused(
    changes: dict[str, Any], frameworks: list[str], resources: list[str]
) -> None:
    """MPIJobs that a team may create have a policy of their own."""
    spec = _spec(changes, *frameworks)
    rules = spec["matchConstraints"]["resourceRules"]
    found = [rule["resources"] for rule in rules if rule["apiGroups"] == ["kubeflow.org"]]
    words = [each.get("messageExpression", "") for each in spec["validations"]]

    assert found == ([resources] if resources else [])
    assert any("create a TrainJob, and trainyard convert job" in each for each in words) == bool(
        resources
    )
