"""Queues that lend to others, and the nodes that full queues leave."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.conftest import REPOSITORY
from trainyard.generation.generate import generate
from trainyard_rehearsal.checks.job_templates import one_per_flavor, templates_of
from trainyard_rehearsal.checks.lending import Lending
from trainyard_rehearsal.publication import sample_jobs


@pytest.fixture(scope="module")
def lending() -> Lending:
    """Return the lending of the queues of prod-east."""
    generation = generate(
        REPOSITORY / "profiles", "../profiles/components", ("prod-east",), "2026-11-21"
    )
    platform = generation.checked.platform
    assert platform
    site = next(each for each in platform.sites if each.name == "prod-east")
    return Lending(
        site, one_per_flavor(templates_of(sample_jobs(site, generation.manifests[site.name], "")))
    )


def test_each_borrower_is_paired_with_each_lender(lending: Lending) -> None:
    """vision lends and does not borrow. No team lends to itself."""
    found = {
        (pair.borrower.space.team.name, pair.owner.space.team.name, pair.lent)
        for pair in lending.pairs()
    }

    assert found == {
        ("nlp", "science", 4),
        ("nlp", "vision", 4),
        ("science", "nlp", 4),
        ("science", "vision", 4),
    }


def test_owner_reclaims_only_without_spare_nodes(lending: Lending) -> None:
    """With spare nodes no job has to be evicted."""
    for pair in lending.pairs():
        assert pair.spare == 0
        assert pair.forces_reclaim
        assert not replace(pair, spare=Fraction(pair.lent)).forces_reclaim


def test_nodes_of_queues_without_jobs_are_spare(lending: Lending) -> None:
    without = replace(
        lending,
        templates=[
            template for template in lending.templates if template.space.team.name != "science"
        ],
    )
    (pair,) = (each for each in without.pairs() if each.borrower.space.team.name == "nlp")

    assert pair.spare == 4
    assert not pair.forces_reclaim


def test_owner_that_lends_everything_shows_no_limit(lending: Lending) -> None:
    """A lending limit has an effect only if the owner keeps some nodes."""
    assert not any(pair.shows_limit for pair in lending.pairs())
