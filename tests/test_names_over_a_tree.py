"""New claims over a committed tree: with names that were reserved, that were not, and reverted."""

from __future__ import annotations

import pytest

from tests.histories import History

pytestmark = pytest.mark.thorough

CLUSTER = "clusters/lab.yaml"
RULE = "change/name-not-reserved"


def storage(history: History, name: str) -> None:
    """Add a kind of storage to the cluster."""
    history.write(
        CLUSTER, lambda text: text.replace("storage:", f"storage:\n  {name}: {{class: standard}}")
    )
    if "StorageClass/standard" not in (history.folder / "profiles" / CLUSTER).read_text("utf-8"):
        history.edit(CLUSTER, "external:", "external:\n  StorageClass/standard: storage team")


def claim(history: History, name: str) -> None:
    """Have a team request it."""
    history.write("teams/nlp.yaml", lambda text: f"{text}storage: {{{name}: 1Ti}}\n")


def test_a_name_that_was_not_reserved_is_refused_until_it_is(history: History) -> None:
    storage(history, "records")
    claim(history, "records")
    history.refused(RULE)
    history.restore()

    storage(history, "records")
    history.commit()
    claim(history, "records")
    history.commit()

    history.revert()
    claim(history, "records")
    history.commit()


def test_a_name_that_left_the_tree_is_free_again(history: History) -> None:
    storage(history, "records")
    history.commit()
    history.write(CLUSTER, lambda text: text.replace("\n  records: {class: standard}", ""))
    history.commit()

    storage(history, "records")
    claim(history, "records")
    history.refused(RULE)


def test_a_name_with_the_prefix_needs_no_second_merge(history: History) -> None:
    storage(history, "trainyard-records")
    claim(history, "trainyard-records")
    history.commit()


def test_a_new_namespace_may_have_any_name(history: History) -> None:
    """Nobody had a role there."""
    storage(history, "records")
    history.add("speech")
    history.write("teams/speech.yaml", lambda text: f"{text}storage: {{records: 1Ti}}\n")
    history.commit()


def test_a_tree_without_the_list_is_not_compared(history: History) -> None:
    """An older Trainyard reserved nothing, so the first change after an upgrade has no finding."""
    path = history.folder / "overlays/lab/platform"
    policy = path / "validatingadmissionpolicy-trainyard-tenant-objects.yaml"
    text = policy.read_text("utf-8")
    assert "name: reservedClaims" in text
    policy.write_text(text.replace("name: reservedClaims", "name: other"), encoding="utf-8")
    history.git("commit", "--all", "--message", "an older tree")
    storage(history, "records")
    claim(history, "records")

    code, out = history.trainyard("generate")
    assert code in {0, 5}, out
    assert RULE not in out
