"""States of jobs, limits of waiting, severities and a team's metrics over a committed tree."""

from __future__ import annotations

import pytest

from tests.histories import History

pytestmark = pytest.mark.thorough

CLUSTER, TEAM = "clusters/lab.yaml", "teams/nlp.yaml"
STACK = "monitoring: {stack: openshift, logs: {}}"
OWNER = "  UserWorkloadMonitoring/trainyard-system"
LAB = "overlays/lab"
STATES = (
    f"{LAB}/monitoring/job-states.yaml",
    f"{LAB}/platform/prometheusrule-trainyard-states.yaml",
)
SCRAPED = (
    f"{LAB}/teams/nlp/podmonitor-metrics.yaml",
    f"{LAB}/teams/nlp/networkpolicy-metrics.yaml",
)


def accepted(history: History) -> str:
    """Generate an edit; return what `diff` shows of it, which disturbs no job."""
    code, shown = history.trainyard("generate")
    assert code == 0, shown
    code, shown = history.trainyard("diff", "--base", "HEAD")
    assert code == 0, shown
    assert "evicts: nobody" in shown or "nothing changes" in shown
    assert history.trainyard("generate", "--check")[0] == 0
    return shown


def refused(history: History, words: str) -> None:
    """Generate an edit that is an error, in these words."""
    code, shown = history.trainyard("generate")
    assert code == 1, shown
    assert words in shown


def tree(history: History) -> dict[str, bytes]:
    """Return the files of the tree but for the lockfile."""
    found = (path for path in (history.folder / LAB).rglob("*") if path.is_file())
    return {
        path.relative_to(history.folder).as_posix(): path.read_bytes()
        for path in found
        if path.name != "trainyard.lock"
    }


def own_states(history: History) -> None:
    history.edit(CLUSTER, OWNER, f"  Metrics/job-states: OpenShift team\n{OWNER}")


def test_states_come_with_their_owner_and_go_with_it(history: History) -> None:
    before = tree(history)
    own_states(history)
    assert "alerts (warning): TrainyardJobNotRunning, TrainyardJobWaitsTooLong" in accepted(history)
    assert {*tree(history)} - {*before} == {*STATES}
    assert history.trainyard("verify")[0] == 0
    history.commit()

    # Another edit, over a tree that has the file.
    history.edit(
        CLUSTER,
        STACK,
        "monitoring: {stack: openshift, logs: {}, severity: {TrainyardJobNotRunning: critical}}",
    )
    assert "~ TrainyardJobNotRunning: warning -> critical" in accepted(history)
    assert "severity: critical" in (history.folder / STATES[1]).read_text("utf-8")
    history.commit()
    history.edit(
        CLUSTER,
        "monitoring: {stack: openshift, logs: {}, severity: {TrainyardJobNotRunning: critical}}",
        STACK,
    )
    accepted(history)
    history.commit()

    history.edit(CLUSTER, f"  Metrics/job-states: OpenShift team\n{OWNER}", OWNER)
    accepted(history)
    assert tree(history) == before
    history.commit()


def test_limits_of_waiting_need_an_owner_and_a_priority(history: History) -> None:
    """A priority that leaves takes its limit with it, or the edit is refused."""
    limited = "monitoring: {stack: openshift, logs: {}, waiting: {interactive: 30m}}"
    history.edit(CLUSTER, STACK, limited)
    refused(history, "`Metrics/job-states` is not declared in `external`")
    own_states(history)
    accepted(history)
    facts = f"{LAB}/platform/prometheusrule-trainyard-facts.yaml"
    assert b"vector(1800)" in tree(history)[facts]
    history.commit()

    history.edit(CLUSTER, "interactive: 800, ", "")
    refused(history, "there is no priority class `interactive`")
    history.edit(CLUSTER, limited, STACK)
    accepted(history)
    assert b"vector(1800)" not in tree(history)[facts]


def test_tree_with_states_is_read_back_after_a_bad_merge(history: History) -> None:
    """A file that no object is in is not a reason to stop."""
    own_states(history)
    accepted(history)
    history.commit()
    path = history.folder / STATES[0]
    path.write_text("<<<<<<< ours\n" + path.read_text("utf-8"), "utf-8")
    code, shown = history.trainyard("generate")
    assert code in {0, 5}, shown
    history.git("checkout", "--", STATES[0])
    path.unlink()
    assert history.trainyard("generate")[0] == 0
    assert path.exists()


def test_metrics_of_a_team_come_and_go(history: History) -> None:
    before = tree(history)
    history.write(TEAM, lambda text: text + "metrics: 8080\n")
    shown = accepted(history)
    assert "ingress to jobs from pods of openshift-user-workload-monitoring, TCP 8080" in shown
    assert {*tree(history)} - {*before} == {*SCRAPED}
    assert history.trainyard("verify")[0] == 0
    history.commit()

    history.edit(TEAM, "metrics: 8080", "metrics: 9090")
    assert "TCP 9090" in accepted(history)
    history.commit()

    # Without a Prometheus nothing may reach the port.
    block = f"{STACK} # who gets scrapes and alerts; lines are kept 7 days\n"
    history.edit(CLUSTER, block, "")
    accepted(history)
    assert not {*tree(history)} & {*SCRAPED}
    history.edit(CLUSTER, "networks:", f"{block}networks:")
    accepted(history)

    history.edit(TEAM, "metrics: 9090\n", "")
    accepted(history)
    assert tree(history) == before


def test_routes_follow_the_contacts(history: History) -> None:
    routes = f"{LAB}/monitoring/alertmanager-routes.yaml"
    history.write(
        TEAM, lambda text: text.replace(text.split("contact: ")[1].split()[0], "new@example.com")
    )
    accepted(history)
    assert tree(history)[routes].count(b"new@example.com") == 3
    history.commit()
    history.add("vision")
    code, shown = history.trainyard("generate")
    assert code == 0, shown
    assert b'team=~\\"vision\\"' in tree(history)[routes]


def test_another_time_of_waiting_is_named_and_so_is_its_revert(history: History) -> None:
    own_states(history)
    accepted(history)
    history.commit()
    before = tree(history)
    limited = "monitoring: {stack: openshift, logs: {}, waiting: {batch: 2h}}"

    history.edit(CLUSTER, STACK, limited)
    assert "~ a job of priority batch waits 1d -> 2h until an alert fires" in accepted(history)
    assert history.trainyard("verify")[0] == 0
    history.commit()
    history.edit(CLUSTER, "{batch: 2h}", "{batch: 30m}")
    assert "~ a job of priority batch waits 2h -> 30m until an alert fires" in accepted(history)
    history.commit()
    history.edit(CLUSTER, limited.replace("2h", "30m"), STACK)
    assert "~ a job of priority batch waits 30m -> 1d until an alert fires" in accepted(history)
    assert tree(history) == before
