"""A team: quota in nodes or GPUs, the largest job, its spaces, and the order of everything."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.resolve.changes import CLUSTER, NLP, RUNTIME, resolved
from trainyard.diagnostics import Pointer
from trainyard.model.team import Account, Quota, Team

POOLS = {"pools": {"spare": {"hardware": "dgx-h100", "nodes": 200, "fabric": "ib"}}}


def team(changes: dict[str, Any]) -> Team:
    platform, found = resolved({CLUSTER: POOLS, NLP: changes})
    assert found == ()
    return next(each for each in platform.teams if each.name == "nlp")


def quota(**fields: Any) -> Quota:
    (only,) = team(
        {"quota": {"prod-east": {"dgx-h100": None, "spare": fields}}, "cohort": "research"}
    ).quotas
    return only


@given(st.integers(0, 99), st.integers(0, 99))
def test_lend_all_is_every_node_of_its_own(nodes: int, lend: int) -> None:
    """`all` lends what the team has, `none` nothing, and a number is itself, even beyond what a
    rule allows."""
    assert quota(nodes=nodes, lend="all").lend == nodes
    assert quota(nodes=nodes, lend="none").lend == 0
    assert quota(nodes=nodes, lend=lend).lend == lend


@given(st.integers(0, 99))
def test_team_in_a_cohort_lends_all_by_default(nodes: int) -> None:
    """In a cohort other teams use idle nodes; outside no team can borrow them."""
    assert quota(nodes=nodes).lend == nodes
    (alone,) = team({"quota": {"prod-east": {"dgx-h100": {"nodes": nodes}}}, "cohort": None}).quotas
    assert alone.lend == 0


@given(st.integers(0, 99), st.integers(0, 99))
def test_maximum_is_own_and_borrowed(nodes: int, borrow: int) -> None:
    """What one job can have at most is what the team has and what it may borrow; nothing is
    borrowed unless it is stated."""
    given_both = quota(nodes=nodes, borrow=borrow)

    assert [given_both.nodes, given_both.borrow, given_both.maximum] == [
        nodes,
        borrow,
        nodes + borrow,
    ]
    assert quota(nodes=nodes).maximum == nodes


@given(st.lists(st.integers(0, 9), min_size=1, max_size=2), st.integers(0, 9))
def test_largest_job_is_the_largest_quota(nodes: list[int], borrow: int) -> None:
    """By default a job has at most the nodes of one pool, borrowed ones left out, but never less
    than two."""
    pools: dict[str, Any] = {"dgx-h100": None}
    pools |= {
        name: {"nodes": n, "borrow": borrow}
        for name, n in zip(("dgx-h100", "spare"), nodes, strict=False)
    }

    assert team({"quota": {"prod-east": pools}, "largestJob": None}).largest_job == max(
        2, *nodes, 0
    )


@pytest.mark.parametrize(
    ("launcher", "library", "least"), [("torchrun", "torch", 1), ("openmpi", "openmpi", 2)]
)
def test_largest_job_is_never_less_than_the_smallest(
    launcher: str, library: str, least: int
) -> None:
    """A team with one node may submit what its launcher makes of the smallest job."""
    runtime = {"launcher": launcher, "libraries": {"openmpi": None, library: "5.0"}}
    platform, found = resolved(
        {
            RUNTIME: runtime,
            NLP: {"quota": {"prod-east": {"dgx-h100": {"nodes": 1}}}, "largestJob": None},
        }
    )

    assert found == ()
    assert platform.teams[0].largest_job == least


def test_largest_job_may_be_stated() -> None:
    """The profile's own number counts, above and below the default."""
    assert [team({"largestJob": {"nodes": nodes}}).largest_job for nodes in (2, 3, 99)] == [
        2,
        3,
        99,
    ]


def test_team_of_an_unknown_cluster_has_no_quota() -> None:
    """What leads nowhere is left out, and the default job is the smallest."""
    platform, found = resolved(
        {NLP: {"quota": {"prod-east": None, "west": {"x": {"nodes": 9}}}, "largestJob": None}}
    )
    lost = platform.teams[0]

    assert len(found) == 1
    assert (lost.name, lost.quotas, lost.largest_job) == ("nlp", (), 2)


@given(
    st.integers(1, 8),
    st.integers(0, 8),
    st.one_of(st.integers(0, 8), st.sampled_from(["all", "none"])),
)
def test_quota_in_gpus_is_a_part_of_a_node(gpus: int, borrow: int, lend: int | str) -> None:
    """Own, borrowed and lent count GPUs then; in nodes they are exact parts of one."""
    share = quota(gpus=gpus, borrow=borrow, lend=lend)
    lent = {"all": gpus, "none": 0}.get(str(lend), lend)

    assert (share.unit, share.own, share.per_node) == ("gpus", gpus, 8)
    assert [share.units(each) for each in (share.nodes, share.borrow, share.lend)] == [
        gpus,
        borrow,
        lent,
    ]
    assert (share.nodes, share.borrow, share.maximum) == (
        Fraction(gpus, 8),
        Fraction(borrow, 8),
        Fraction(gpus + borrow, 8),
    )


def test_spaces_come_after_the_teams_own_namespace() -> None:
    """Its own first, then the others by name; what one leaves open it has from the team, but
    storage."""
    spaces = {
        "eval": {"largestJob": {"nodes": 2}},
        "dev": {"priorities": ["batch"], "storage": {"home": "1Ti"}},
    }
    own, dev, evaluation = team(
        {"spaces": spaces, "priorities": ["production"], "largestJob": {"nodes": 3}}
    ).spaces

    assert [(each.name, each.at.path) for each in (own, dev, evaluation)] == [
        ("", ()),
        ("dev", ("spaces", "dev")),
        ("eval", ("spaces", "eval")),
    ]
    assert [each.largest_job for each in (own, dev, evaluation)] == [3, 3, 2]
    assert [each.priorities for each in (own, dev, evaluation)] == [
        ("production",),
        ("batch",),
        ("production",),
    ]
    assert [each.storage for each in (own, dev, evaluation)] == [
        ("checkpoints", "home", "scratch"),
        ("home",),
        (),
    ]


@given(st.permutations(["admin", "user", "viewer"]), st.permutations(["b", "a", "c"]))
def test_order_of_a_profile_is_not_that_of_the_model(roles: list[str], names: list[str]) -> None:
    """Whatever order the profile has, groups, accounts, storage and quotas are sorted: no diff
    comes of it."""
    changed = team(
        {
            "groups": {"admin": None, "user": None, "viewer": None, **dict.fromkeys(roles, names)},
            "serviceAccounts": {"ci-runner": None, **{name: {"role": "user"} for name in names}},
        }
    )

    assert list(changed.groups.items()) == [
        (role, ("a", "b", "c")) for role in ("admin", "user", "viewer")
    ]
    assert [account.name for account in changed.accounts] == ["a", "b", "c"]


def test_account_keeps_role_owner_and_place() -> None:
    """An account that another controller makes names its owner; the others are ours to make."""
    accounts = {
        "ci-runner": None,
        "bench": {"role": "user", "owner": "OpenShift AI"},
        "ci": {"role": "admin"},
    }
    at = Pointer(f"profiles/{NLP}", ("serviceAccounts",))

    assert team({"serviceAccounts": accounts}).accounts == (
        Account("bench", at / "bench", "user", "OpenShift AI"),
        Account("ci", at / "ci", "admin", ""),
    )


@pytest.mark.parametrize("field", ["state", "cohort", "serviceAccounts", "storage", "largestJob"])
def test_team_is_complete_without(field: str) -> None:
    """What may be left out has a default."""
    shortest = team({field: None})
    defaults = {
        "state": "active",
        "cohort": "",
        "serviceAccounts": (),
        "storage": (),
        "largestJob": 4,
    }
    values = {
        "serviceAccounts": shortest.accounts,
        "largestJob": shortest.largest_job,
        "storage": shortest.spaces[0].storage,
    }

    assert values.get(field, getattr(shortest, field, None)) == defaults[field]
