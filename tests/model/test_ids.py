from __future__ import annotations

from dataclasses import replace

import pytest

from trainyard.model.holding import remembered
from trainyard.model.ids import Ids, next_ids, read_ids
from trainyard.render.views.space import IdsView

NLP = Ids("team-nlp", 1_000_680_000, "s0:c26,c15")
NEW = Ids("team-new", 2_000_000_000, "s0:c1001,c0", "2026-11-22")


def _offset(level: str) -> int:
    """Return a level's place in OpenShift's order
    (openshift/cluster-policy-controller:pkg/security/mcs)."""
    high, low = (
        int(category.removeprefix("c")) for category in level.removeprefix("s0:").split(",")
    )
    return high * (high - 1) // 2 + low


def test_first_range_is_beyond_those_of_openshift() -> None:
    """Whatever OpenShift has given: its ranges end before 2000000000, and its levels with c1000."""
    ids = next_ids("team-new", [NLP], "2026-11-22")
    assert ids == NEW
    assert not ids.is_of_openshift
    assert NLP.is_of_openshift
    assert _offset(ids.level) > 100_000 * 5


def test_range_of_a_namespace_that_is_gone_is_not_given_again() -> None:
    """The next one is the lowest that no namespace ever had."""
    later = next_ids("team-x", [NEW, replace(NEW, namespace="team-y", first=2_000_020_000)], "")
    assert later == Ids("team-x", 2_000_010_000, "s0:c1001,c1")


@pytest.mark.thorough
def test_each_range_has_a_level_of_its_own_until_none_is_left() -> None:
    """The last range ends where Kubernetes' ids do."""
    taken = [replace(NEW, first=2_000_000_000 + block * 10_000) for block in range(14_748)]
    levels = {
        ids.level for held in range(0, 14_748, 61) if (ids := next_ids("team-x", taken[:held], ""))
    }
    assert len(levels) == len(range(0, 14_748, 61))
    last = next_ids("team-x", taken[:-1], "")
    assert last == Ids("team-x", 2_147_470_000, "s0:c1015,c747")
    assert last.first + 10_000 <= 2**31
    assert next_ids("team-x", taken, "") is None


def test_level_that_somebody_wrote_by_hand_is_not_given_again() -> None:
    """A line of a person may have the level of another range: two namespaces would have one level,
    which is refused."""
    for level in (NEW.level, "s0:c0,c1001"):
        by_hand = replace(NEW, namespace="team-y", first=2_000_050_000, level=level)
        assert next_ids("team-x", [by_hand], "") == Ids("team-x", 2_000_010_000, "s0:c1001,c1")


def test_line_is_read_as_it_was_written() -> None:
    """With its day and without."""
    for ids in (NLP, NEW):
        assert read_ids(ids.namespace, {key: str(value) for key, value in ids.entry.items()}) == ids
    with pytest.raises(ValueError, match="1000680000/5"):
        read_ids("team-nlp", {"range": "1000680000/5", "level": "s0:c26,c15"})


def test_annotations_are_the_three_of_openshift() -> None:
    """Without the level no pod would be admitted: OpenShift adds none to a namespace that has a
    range."""
    assert IdsView(NLP).annotations == {
        "openshift.io/sa.scc.mcs": "s0:c26,c15",
        "openshift.io/sa.scc.supplemental-groups": "1000680000/10000",
        "openshift.io/sa.scc.uid-range": "1000680000/10000",
    }


def test_ids_that_the_ledger_no_longer_has_are_former() -> None:
    """As numbers of fabrics are, and no more so when they come back."""
    assert remembered([NLP, NEW], [NEW]) == (NEW, replace(NLP, former=True))
    assert remembered([replace(NLP, former=True)], [NLP]) == (NLP,)
