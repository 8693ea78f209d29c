"""The API server takes dashboards of grafana-operator, by the schema that the operator brings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.setup import NEW, Setup
from tests.e2e.stage import Stage
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.fakes import STATUSES
from trainyard_rehearsal.control_plane.refusal import Refused

_MONITORING = {"stack": "prometheus-operator", "dashboards": "grafana-operator"}
GRAFANA = Setup("grafana-operator", {**NEW.settings, "monitoring": _MONITORING})

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [GRAFANA], indirect=True, ids=[GRAFANA.name], scope="session"),
]


def dashboards(stage: Stage) -> list[Body]:
    """Apply the tree, and return its dashboards; nothing of the tree is refused."""
    scene = stage.deploy({})
    assert scene.refused == {}
    found = [each.body for each in scene.manifests if each.kind.name == "GrafanaDashboard"]
    assert len(found) == 3
    return found


def stored(stage: Stage, body: Body) -> dict[str, Any]:
    metadata = body["metadata"]
    name, namespace = metadata["name"], metadata["namespace"]
    return stage.api.get(body["apiVersion"], body["kind"], name, namespace)


def test_dashboards_are_stored_as_they_are_and_stay(stage: Stage) -> None:
    """No field is dropped, and a second sync changes nothing."""
    for body in dashboards(stage):
        before = stored(stage, body)
        assert body["spec"].items() <= before["spec"].items()
        stage.api.apply(body)
        after = stored(stage, body)
        assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


def test_status_of_a_rehearsal_is_one_of_the_operator(stage: Stage) -> None:
    """Argo CD waits for the condition of a dashboard."""
    status = STATUSES["GrafanaDashboard"]
    for body in dashboards(stage):
        stage.api.patch(body, {"status": status}, "status")
        assert stored(stage, body)["status"] == status


def test_another_selector_is_refused_and_another_model_is_not(stage: Stage) -> None:
    """So the selector is the same on each cluster."""
    body = dashboards(stage)[0]
    other = {"matchLabels": {"dashboards": "other"}}
    with pytest.raises(Refused, match=r"spec\.instanceSelector is immutable"):
        stage.api.apply({**body, "spec": {**body["spec"], "instanceSelector": other}})
    stage.api.apply({**body, "spec": {**body["spec"], "json": '{"title": "other"}'}})
    stage.api.apply(body)
