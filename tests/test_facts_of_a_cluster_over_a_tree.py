"""What a cluster is like, over a committed tree: stated, edited, reverted."""

from __future__ import annotations

import pytest

from tests.histories import History

pytestmark = pytest.mark.thorough

LAB = "clusters/lab.yaml"
POLICY = "overlays/lab/teams/nlp/networkpolicy-dns.yaml"
BINDING = "overlays/lab/teams/nlp/rolebinding-user.yaml"
CACHE = "dns: {addresses: [169.254.25.10]}\n"


def diff(history: History) -> str:
    """Return what `diff` shows of the edit, which `generate` accepts."""
    code, shown = history.trainyard("generate")
    assert code == 0, shown
    code, shown = history.trainyard("diff", "--base", "HEAD")
    assert code == 0, shown
    return shown


def text(history: History, path: str) -> str:
    return (history.folder / path).read_text("utf-8")


def test_cache_comes_moves_and_goes(history: History) -> None:
    """The next edit replaces its address, and the revert leaves the policy as it was."""
    before = text(history, POLICY)
    history.edit(LAB, "networks:", f"{CACHE}networks:")
    assert "+ team-audio, team-nlp: egress to 169.254.25.10/32, TCP 53, UDP 53" in diff(history)
    history.commit()

    history.edit(LAB, "25.10]", "20.10, 10.96.0.10]")
    shown = diff(history)
    assert (
        "+ team-audio, team-nlp: egress to 10.96.0.10/32, 169.254.20.10/32, TCP 53, UDP 53" in shown
    )
    assert "- team-audio, team-nlp: egress to 169.254.25.10/32, TCP 53, UDP 53" in shown
    history.commit()

    history.edit(LAB, CACHE.replace("25.10]", "20.10, 10.96.0.10]"), "")
    assert "- team-audio, team-nlp: egress to 10.96.0.10/32, 169.254.20.10/32" in diff(history)
    assert text(history, POLICY) == before


def test_group_becomes_a_user_and_back(history: History) -> None:
    """A user of the group's name is somebody else."""
    before = text(history, BINDING)
    history.edit("teams/nlp.yaml", "user: [nlp]", 'user: ["User:nlp"]')
    shown = diff(history)
    assert "- group nlp: trainyard-team-user in team-nlp" in shown
    assert "+ user nlp: trainyard-team-user in team-nlp" in shown
    history.commit()

    history.edit("teams/nlp.yaml", '"User:nlp"', "nlp")
    assert "+ group nlp: trainyard-team-user in team-nlp" in diff(history)
    assert text(history, BINDING) == before


def test_labels_of_a_pool_on_a_fabric_are_for_new_pools(history: History) -> None:
    """The API server refuses other labels in a flavor with a topology; a new unit may have some."""
    history.edit(LAB, "fabric: ib}", "fabric: ib, labels: {ml.example.com/unit: su-1}}")
    history.refused("change/immutable-field")
    history.edit(LAB, ", labels: {ml.example.com/unit: su-1}}", "}")
    history.unchanged()
