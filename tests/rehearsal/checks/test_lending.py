"""Which queues lend to which, and what would be left."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.conftest import REPOSITORY
from trainyard.workflows.generate import generate
from trainyard_rehearsal.checks.job_templates import one_per_flavor, templates_of
from trainyard_rehearsal.checks.lending import Lending
from trainyard_rehearsal.publication import sample_jobs


@pytest.fixture(scope="module")
def lending() -> Lending:
    """Return what queues of prod-east lend."""
    generation = generate(
        REPOSITORY / "profiles", "../profiles/components", ("prod-east",), "2026-11-21"
    )
    platform = generation.checked.platform
    assert platform
    site = next(each for each in platform.sites if each.name == "prod-east")
    return Lending(
        site, one_per_flavor(templates_of(sample_jobs(site, generation.manifests[site.name], "")))
    )


def test_who_borrows_has_the_nodes_of_each_who_lends(lending: Lending) -> None:
    """vision lends and does not borrow; nobody lends to themselves."""
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


def test_owner_is_pressed_only_where_nothing_is_spare(lending: Lending) -> None:
    """With every quota full an owner can come back to its own nodes only; beside idle ones nobody
    need go."""
    for pair in lending.pairs():
        assert pair.spare == 0
        assert pair.forces_reclaim
        assert not replace(pair, spare=Fraction(pair.lent)).forces_reclaim


def test_queues_without_jobs_are_spare(lending: Lending) -> None:
    """What a team without a job to run would lend is there for all."""
    without = replace(
        lending,
        templates=[
            template for template in lending.templates if template.space.team.name != "science"
        ],
    )
    (pair,) = (each for each in without.pairs() if each.borrower.space.team.name == "nlp")

    assert pair.spare == 4
    assert not pair.forces_reclaim


def test_nobody_is_limited_who_lends_all(lending: Lending) -> None:
    """A lending limit shows only where an owner keeps some."""
    assert not any(pair.shows_limit for pair in lending.pairs())
