"""Claims that grow over a committed tree: Argo CD can sync each step, and none back."""

from __future__ import annotations

import pytest

from tests.histories import History

pytestmark = pytest.mark.thorough

CLUSTER, TEAM = "clusters/lab.yaml", "teams/nlp.yaml"
QUOTA = "overlays/lab/teams/nlp/resourcequota-object-counts.yaml"


def sized(history: History, old: str, new: str) -> None:
    """Change the size of the team's claim."""
    history.edit(TEAM, f"storage: {{scratch: {old}}}", f"storage: {{scratch: {new}}}")


def permitted(history: History) -> str:
    """Return the sum that the quota permits for all claims."""
    lines = (history.folder / QUOTA).read_text("utf-8").splitlines()
    (hard,) = (line for line in lines if line.strip().startswith("requests.storage:"))
    return hard.split(":")[1].strip()


def test_claim_grows_in_steps_and_never_back(history: History) -> None:
    history.edit(
        CLUSTER,
        "storage:\n",
        "storage:\n  scratch: {class: cephfs}\n",
    )
    history.edit(CLUSTER, "external:", "external:\n  StorageClass/cephfs: storage team")
    history.commit()
    history.write(TEAM, lambda text: f"{text}storage: {{scratch: 1Ti}}\n")
    history.commit()
    assert permitted(history) == "10Ti"

    # Ten times the committed size is the next step; more is refused, with the size to write.
    sized(history, "1Ti", "11Ti")
    history.refused("change/claim-grows-too-far")
    assert "Set at most 10Ti, and let it grow further after" in history.trainyard("generate")[1]
    sized(history, "11Ti", "10Ti")
    assert history.trainyard("generate")[0] == 0
    code, shown = history.trainyard("diff", "--base", "HEAD")
    assert (code, "grows" in shown) == (0, True)
    history.commit()
    assert permitted(history) == "100Ti"

    # The revert is refused: no volume shrinks.
    sized(history, "10Ti", "1Ti")
    history.refused("change/immutable-field")
    history.restore()
    history.unchanged()

    # The next step has the room of the last one.
    sized(history, "10Ti", "11Ti")
    history.commit()
    assert permitted(history) == "110Ti"
