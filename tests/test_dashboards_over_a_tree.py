"""Dashboards over a committed tree: switched on, shown elsewhere, reverted, switched off."""

from __future__ import annotations

import pytest

from tests.histories import History

pytestmark = pytest.mark.thorough

STACK = "monitoring: {stack: openshift, logs: {}}"
CONSOLE = "monitoring: {stack: openshift, logs: {}, dashboards: openshift-console}"
OPERATOR = "monitoring: {stack: openshift, logs: {}, dashboards: grafana-operator}"
SIDECAR = "monitoring: {stack: openshift, logs: {}, dashboards: grafana-sidecar}"
FILES = {
    CONSOLE: "operators/configmap-trainyard-dashboard-job.yaml",
    OPERATOR: "platform/grafanadashboard-trainyard-dashboard-job.yaml",
    SIDECAR: "platform/configmap-trainyard-dashboard-job.yaml",
}
RULES = "platform/prometheusrule-trainyard-dashboards.yaml"


@pytest.fixture
def history(history: History) -> History:
    """A new repository with one team, whose cluster may have each viewer."""
    owners = "  ConsoleDashboards/openshift-config-managed: me\n  Grafana/trainyard-system: me\n"
    history.write("clusters/lab.yaml", lambda text: text.rstrip("\n") + f"\n{owners}")
    assert history.trainyard("generate")[0] == 0
    history.commit()
    return history


def step(history: History, old: str, new: str) -> str:
    """Edit what shows the dashboards, and return what `diff` shows; nothing is disturbed."""
    history.edit("clusters/lab.yaml", old, new)
    code, shown = history.trainyard("generate")
    assert code == 0, shown
    code, shown = history.trainyard("diff", "--base", "HEAD")
    assert code == 0, shown
    assert "evicts: nobody" in shown
    history.commit()
    return shown


def tree(history: History) -> dict[str, bytes]:
    folder = history.folder / "overlays/lab"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "trainyard.lock"
    }


def test_viewers_one_after_the_other(history: History) -> None:
    """Each has its own three objects, and at the end the tree is the one before."""
    before, old = tree(history), STACK
    for new, file in FILES.items():
        shown = step(history, old, new)
        now = tree(history)
        assert file in now
        assert RULES in now
        assert FILES.get(old, "") not in now
        assert "dashboards of all teams" in shown
        old = new
    shown = step(history, old, STACK)
    assert "- who may open Grafana: dashboards of all teams" in shown
    assert tree(history) == before


def test_console_keeps_what_argo_cd_did_not_apply(history: History) -> None:
    step(history, STACK, CONSOLE)
    shown = step(history, CONSOLE, STACK)
    assert "keeps the dashboards until a cluster admin deletes them" in shown
    assert "oc -n openshift-config-managed delete configmaps --selector" in shown


def test_what_argo_cd_may_write_is_the_same_with_and_without(history: History) -> None:
    """So it may delete them when they go, and never write where the console looks."""
    names = ("appproject-lab-platform.yaml", "clusterrole-trainyard-delivery-lab.yaml")
    before = [tree(history)[f"argocd/{name}"] for name in names]
    for old, new in ((STACK, CONSOLE), (CONSOLE, OPERATOR), (OPERATOR, SIDECAR)):
        step(history, old, new)
        assert [tree(history)[f"argocd/{name}"] for name in names] == before
    assert b"openshift-config-managed" not in before[0]


def test_revert_brings_back_every_byte(history: History) -> None:
    before = tree(history)
    step(history, STACK, OPERATOR)
    history.git("revert", "--no-edit", "HEAD")
    assert tree(history) == before
    code, shown = history.trainyard("generate", "--check")
    assert code == 0, shown


def test_another_quota_changes_no_dashboard(history: History) -> None:
    """Numbers of profiles are in the rules, and panels ask for them."""
    step(history, STACK, OPERATOR)
    before = {name: body for name, body in tree(history).items() if "dashboard-" in name}
    history.write("teams/nlp.yaml", lambda text: text.replace("nodes: 2", "nodes: 3"))
    assert history.trainyard("generate")[0] == 0
    after = {name: body for name, body in tree(history).items() if "dashboard-" in name}
    assert len(before) == 3
    assert before == after


@pytest.mark.parametrize(
    ("block", "rule", "words"),
    [
        (
            "monitoring: {stack: openshift, logs: {}, dashboards: grafana}",
            "shape/",
            "grafana-operator",
        ),
        (
            "monitoring: {stack: openshift, logs: {}, dashboards: none}",
            "shape/",
            "openshift-console",
        ),
        (
            "monitoring: {stack: openshift, logs: {}, dashboards: [grafana-operator]}",
            "shape/",
            "takes text",
        ),
        ("monitoring: {dashboards: grafana-operator}", "shape/", "stack"),
        (
            "monitoring: {stack: openshift, logs: {}, dashboard: grafana-operator}",
            "shape/",
            "dashboards",
        ),
        (
            "monitoring: {stack: prometheus-operator, dashboards: openshift-console}",
            "monitoring/console-without-openshift",
            "no metrics of the stack",
        ),
    ],
)
def test_bad_blocks_are_findings(history: History, block: str, rule: str, words: str) -> None:
    history.edit("clusters/lab.yaml", STACK, block)
    code, shown = history.trainyard("validate")
    assert code == 1, shown
    assert rule in shown
    assert words in shown
