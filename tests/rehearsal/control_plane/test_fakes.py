from __future__ import annotations

import pytest

from tests.rehearsal.served import Served
from trainyard.diagnostics import Pointer, ToolError
from trainyard.model.manifest import Manifest
from trainyard_rehearsal.control_plane.fakes import settle, write_statuses
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.refusal import Refused

MACHINES = "machineconfiguration.openshift.io/v1"
SECRETS = "external-secrets.io/v1"


@pytest.mark.parametrize("used", [{}, {"pods": "0"}])
def test_quota_counts_all_that_it_limits(
    lab: Lab, server: Served, monkeypatch: pytest.MonkeyPatch, used: dict[str, str]
) -> None:
    """A quota that counts only some of its kinds still refuses objects of the others."""
    monkeypatch.setattr("trainyard_rehearsal.control_plane.fakes._PATIENCE", 0.1)
    hard = {"pods": "9", "count/trainjobs.trainer.kubeflow.org": "9"}
    quota = server.put(
        "v1", "ResourceQuota", "jobs", "a", spec={"hard": hard}, status={"hard": hard, "used": used}
    )
    with pytest.raises(ToolError, match="first count"):
        settle(lab)
    quota["status"]["used"] = dict.fromkeys(hard, "0")
    assert settle(lab) > 0


def test_status_is_written_once_for_each_object_whose_controller_is_missing(
    lab: Lab, server: Served
) -> None:
    pool = Manifest(
        "nodes/p.yaml", {"apiVersion": MACHINES, "kind": "MachineConfigPool"}, (), Pointer("x")
    )
    secret = Manifest(
        "teams/a/s.yaml", {"apiVersion": SECRETS, "kind": "ExternalSecret"}, (), Pointer("x")
    )
    new = server.put(MACHINES, "MachineConfigPool", "new", metadata={"generation": 3})
    server.put(MACHINES, "MachineConfigPool", "old", status={"conditions": []})
    server.put(SECRETS, "ExternalSecret", "token", "a")
    write_statuses(lab.api, [pool, secret])
    write_statuses(lab.api, [pool, secret])

    written = [request for request in server.requests if request.method == "PATCH"]
    assert [request.path.rpartition("/")[0].rpartition("/")[2] for request in written] == [
        "token",
        "new",
    ]
    path = f"/apis/{MACHINES}/machineconfigpools/{new['metadata']['name']}"
    status = server.objects[path]["status"]
    assert status["observedGeneration"] == 3
    conditions = {each["type"]: each["status"] for each in status["conditions"]}
    assert {name for name, value in conditions.items() if value == "True"} == {"Updated"}


def test_kind_that_the_tree_does_not_have_is_not_looked_for(lab: Lab, server: Served) -> None:
    write_statuses(lab.api, [])
    assert not server.requests


def test_object_that_is_deleted_meanwhile_gets_no_status(lab: Lab, server: Served) -> None:
    """Argo CD may prune what was listed; any other refusal counts."""
    secret = Manifest(
        "teams/a/s.yaml", {"apiVersion": SECRETS, "kind": "ExternalSecret"}, (), Pointer("x")
    )
    server.put(SECRETS, "ExternalSecret", "token", "a")
    request = "PATCH", f"/apis/{SECRETS}/namespaces/a/externalsecrets/token/status"
    server.refused[request] = (404, "not found")
    write_statuses(lab.api, [secret])
    server.refused[request] = (403, "forbidden")
    with pytest.raises(Refused, match="forbidden"):
        write_statuses(lab.api, [secret])
