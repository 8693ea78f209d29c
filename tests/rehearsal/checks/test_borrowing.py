"""Pairs of queues that are tried with a sample of teams."""

from __future__ import annotations

from trainyard.generation.generate import Generation
from trainyard.model.platform import Site
from trainyard_rehearsal.checks import borrowing
from trainyard_rehearsal.checks.job_templates import one_per_flavor, templates_of
from trainyard_rehearsal.checks.lending import Lending, LendingPair
from trainyard_rehearsal.publication import sample_jobs


def _pairs(sites: dict[str, Site], generation: Generation) -> list[LendingPair]:
    templates = one_per_flavor(
        templates_of(sample_jobs(sites["prod-east"], generation.manifests["prod-east"], ""))
    )
    return Lending(sites["prod-east"], templates).pairs()


def test_each_borrower_and_owner_is_in_a_pair(
    sites: dict[str, Site], generation: Generation
) -> None:
    """No more pairs are chosen than that takes."""
    pairs = _pairs(sites, generation)
    some = borrowing._one_of_each([*pairs, *pairs])

    for role in ("borrower", "owner"):
        assert {getattr(pair, role).name for pair in some} == {
            getattr(pair, role).name for pair in pairs
        }
    assert len(some) <= len(pairs)
    assert borrowing._one_of_each([]) == []


def test_both_teams_of_a_pair_are_tried(sites: dict[str, Site], generation: Generation) -> None:
    for pair in _pairs(sites, generation):
        names = {pair.borrower.space.team.name, pair.owner.space.team.name}
        assert borrowing._is_of(pair, names)
        assert not any(borrowing._is_of(pair, names - {name}) for name in names)
