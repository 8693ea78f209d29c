"""Kept logs over a committed tree: removed, added, edited, reverted, and under a regulation."""

from __future__ import annotations

import pytest

from tests.histories import History

pytestmark = pytest.mark.thorough

ON, OFF = "monitoring: {stack: openshift, logs: {}}", "monitoring: {stack: openshift}"
CLUSTER = "clusters/lab.yaml"
FORWARDER = "overlays/lab/operators/clusterlogforwarder-trainyard-teams.yaml"
README = "overlays/lab/README.md"
ISO = "title: ISO\ncontrols: {networkIsolation: A.8.22}\nkeepLogs: 365d\n"


def diff(history: History) -> str:
    """Return what `diff` shows of the edit, which `generate` accepts and which stops no job."""
    code, shown = history.trainyard("generate")
    assert code == 0, shown
    code, shown = history.trainyard("diff", "--base", "HEAD")
    assert code == 0, shown
    assert "evicts: nobody" in shown
    assert "Disruption" not in shown
    return shown


def streams(history: History) -> list[str]:
    """Return the lines of the README about how long what is kept."""
    text = (history.folder / README).read_text("utf-8")
    return [each.strip() for each in text.splitlines() if "priority: " in each]


def test_logs_are_switched_off_and_on_again(history: History) -> None:
    """The roles lose the store, and the forwarder of the file is named as left behind."""
    before = {name: (history.folder / name).read_bytes() for name in (FORWARDER, README)}

    history.edit(CLUSTER, ON, OFF)
    shown = diff(history)
    assert "get application of loki.grafana.com" in shown
    assert "ClusterLogForwarder openshift-logging/trainyard-teams (deleted" in shown, shown
    assert not (history.folder / FORWARDER).exists()
    assert "~ lines of audio, nlp have no stated time instead of 7 days" in shown
    assert streams(history) == []
    history.commit()

    history.edit(CLUSTER, OFF, ON)
    shown = diff(history)
    assert "+ ClusterLogForwarder openshift-logging/trainyard-teams (created, artifact)" in shown
    assert {name: (history.folder / name).read_bytes() for name in before} == before
    history.commit()


def test_retention_is_changed_and_reverted(history: History) -> None:
    """Only text for the owner of the store differs, so no object does."""
    before = (history.folder / README).read_bytes()

    history.edit(CLUSTER, "logs: {}", "logs: {keep: 30d}")
    shown = diff(history)
    assert "~ lines of audio, nlp are kept 30 days instead of 7 days" in shown
    assert "older lines are deleted" not in shown
    assert "days: 30" in streams(history)[0]
    history.commit()

    history.edit(CLUSTER, "logs: {keep: 30d}", "logs: {}")
    assert "Then older lines are deleted" in diff(history)
    assert (history.folder / README).read_bytes() == before


def test_credentials_are_dropped_until_they_are_not(history: History) -> None:
    """`diff` shows the filter, and that only the owner of logging puts it into force."""
    history.edit(CLUSTER, "logs: {}", "logs: {dropCredentials: true}")
    shown = diff(history)
    assert "ClusterLogForwarder" in shown
    assert "spec.filters" in shown
    assert "~ lines with credentials: kept -> dropped" in shown
    assert "copies the filter `credentials`" in (history.folder / README).read_text("utf-8")
    history.commit()

    history.edit(CLUSTER, "logs: {dropCredentials: true}", "logs: {keep: 7d}")
    assert "~ lines with credentials: dropped -> kept" in diff(history)
    assert "filters" not in (history.folder / FORWARDER).read_text("utf-8")


def test_a_team_comes_under_a_regulation_and_leaves_it(history: History) -> None:
    """Its lines are kept longer, and a cluster without logs is refused meanwhile."""
    (history.folder / "profiles/compliance").mkdir()
    (history.folder / "profiles/compliance/iso.yaml").write_text(ISO, encoding="utf-8")
    history.write("teams/nlp.yaml", lambda text: f"{text}compliance: iso\n")
    assert "~ lines of nlp are kept 365 days instead of 7 days" in diff(history)
    assert "team-nlp" in streams(history)[1]
    assert "days: 365" in streams(history)[1]
    history.commit()

    history.edit(CLUSTER, ON, OFF)
    code, shown = history.trainyard("generate")
    assert code == 1
    assert "isolation/logs-not-kept" in shown
    history.edit(CLUSTER, OFF, ON)

    history.edit("teams/nlp.yaml", "compliance: iso\n", "")
    diff(history)
    assert len(streams(history)) == 1
