from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Network

from hypothesis import given
from hypothesis import strategies as st

from trainyard.model.holding import Holding, remembered

NLP = Holding("ib", "nlp", "partition", 0x101, IPv4Network("10.64.0.0/20"))
VISION = Holding("ib", "vision", "partition", 0x102, IPv4Network("10.64.16.0/20"))
_HOLDINGS = st.lists(
    st.builds(
        Holding,
        fabric=st.just("ib"),
        team=st.sampled_from(["a", "b"]),
        field=st.just("partition"),
        segment=st.integers(1, 3),
        addresses=st.just(NLP.addresses),
        since=st.sampled_from(["", "2026-11-22"]),
    ),
    max_size=4,
    unique_by=lambda holding: holding.number,
)


def test_number_that_the_ledger_no_longer_has_is_former() -> None:
    """And no more so when it comes back."""
    former = replace(NLP, former=True)
    assert remembered([NLP, VISION], [VISION]) == (former, VISION)
    assert remembered([former, VISION], [NLP, VISION]) == (NLP, VISION)


def test_changed_number_is_another_one() -> None:
    """The block alone makes the difference too."""
    larger = replace(NLP, addresses=IPv4Network("10.64.0.0/19"))
    assert set(remembered([NLP], [larger])) == {replace(NLP, former=True), larger}


def test_day_is_kept_when_the_ledger_loses_it() -> None:
    """The ledger counts; without an entry there, the remembered number counts."""
    dated, later = replace(NLP, since="2026-01-01"), replace(NLP, since="2026-02-02")
    assert remembered([dated], [NLP]) == (dated,)
    assert remembered([NLP], [dated]) == (dated,)
    assert remembered([dated], [later]) == (later,)


@given(_HOLDINGS, _HOLDINGS)
def test_nothing_is_forgotten_and_twice_is_once(
    before: list[Holding], ledger: list[Holding]
) -> None:
    """Each number is there once, whatever the order; generating again changes nothing."""
    after = remembered(before, ledger)
    assert {each.number for each in after} == {each.number for each in (*before, *ledger)}
    assert len({each.number for each in after}) == len(after)
    assert {each.number for each in after if not each.former} == {each.number for each in ledger}
    assert remembered(after, ledger) == after == remembered(before[::-1], ledger[::-1])
