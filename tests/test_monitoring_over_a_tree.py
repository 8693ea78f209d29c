"""Monitoring over a committed tree: removed, added again, and with another stack."""

from __future__ import annotations

import pytest

from tests.histories import History

pytestmark = pytest.mark.thorough

BLOCK = (
    "monitoring: {stack: openshift, logs: {}} "
    "# who gets scrapes and alerts; lines are kept 7 days\n"
)
RULES = "overlays/lab/platform/prometheusrule-trainyard-queues.yaml"


def diff(history: History) -> str:
    """Return what `diff` shows of the edit, which `generate` accepts."""
    code, shown = history.trainyard("generate")
    assert code == 0, shown
    code, shown = history.trainyard("diff", "--base", "HEAD")
    assert code == 0, shown
    return shown


def test_monitoring_is_removed_and_added_again(history: History) -> None:
    """No job is touched, and the tree is the one before."""
    before = (history.folder / RULES).read_bytes()

    history.edit("clusters/lab.yaml", BLOCK, "")
    shown = diff(history)
    assert "disturb" not in shown
    assert "- 9 alerts (critical): " in shown
    assert not (history.folder / RULES).exists()
    assert not (history.folder / "overlays/lab/RUNBOOKS.md").exists()
    assert "monitoring/no-monitoring" in history.trainyard("validate")[1]
    history.commit()

    history.edit("clusters/lab.yaml", "networks:", f"{BLOCK}networks:")
    assert "+ 9 alerts (critical): " in diff(history)
    assert (history.folder / RULES).read_bytes() == before
    history.commit()


def test_permissions_of_the_delivery_stay_without_monitoring(history: History) -> None:
    """Argo CD must still be allowed to delete what is gone."""
    projects = [
        history.folder / "overlays/lab/argocd" / name
        for name in ("appproject-lab-platform.yaml", "clusterrole-trainyard-delivery-lab.yaml")
    ]
    before = [path.read_bytes() for path in projects]
    history.edit("clusters/lab.yaml", BLOCK, "")
    diff(history)
    assert [path.read_bytes() for path in projects] == before


def test_stack_is_changed(history: History) -> None:
    """The other Prometheus has to be declared, and needs its labels; no object is made anew."""
    other = "monitoring: {stack: prometheus-operator, labels: {release: prom}}\n"
    history.edit("clusters/lab.yaml", BLOCK, other)
    code, shown = history.trainyard("generate")
    assert code == 1
    assert "`PrometheusOperator/trainyard-system` is not declared" in shown

    history.edit(
        "clusters/lab.yaml",
        "UserWorkloadMonitoring/trainyard-system",
        "PrometheusOperator/trainyard-system",
    )
    diff(history)
    assert "release: prom" in (history.folder / RULES).read_text("utf-8")
