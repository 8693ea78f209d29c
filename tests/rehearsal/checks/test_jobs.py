"""Jobs of a rehearsal whose pods others may end."""

from __future__ import annotations

import pytest

from tests.rehearsal.served import Served
from trainyard_rehearsal.checks.jobs import JOBSET, Job
from trainyard_rehearsal.control_plane.api import Api
from trainyard_rehearsal.control_plane.refusal import Refused


def test_pods_that_are_evicted_meanwhile_are_not_finished(server: Served, api: Api) -> None:
    """Kueue may preempt a job between the list of its pods and their end; the others end."""
    containers = {"containers": [{"name": "node", "image": "python"}]}
    labels = {JOBSET: "j", "jobset.sigs.k8s.io/replicatedjob-name": "node"}
    for name in ("gone", "here"):
        server.put(
            "v1", "Pod", name, "a", labels=labels, spec=containers, status={"phase": "Running"}
        )
    status = "/api/v1/namespaces/a/pods/gone/status"
    server.refused["PATCH", status] = (404, "not found")
    Job(api, "a", "j").finish("node")
    assert server.objects["/api/v1/namespaces/a/pods/here"]["status"]["phase"] == "Succeeded"

    server.refused["PATCH", status] = (403, "forbidden")
    with pytest.raises(Refused, match="forbidden"):
        Job(api, "a", "j").finish("node")
