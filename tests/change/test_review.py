"""The base judges a change: its platform, owners, limits and waivers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules.cases import changed
from trainyard.change.review import review, with_platform_of
from trainyard.diagnostics import Diagnostic, Severity
from trainyard.generation.generate import Checked, check_loaded
from trainyard.rules import review as rules
from trainyard.rules.review import Deletions

NLP, VISION, SETTINGS = "teams/nlp.yaml", "teams/vision.yaml", "trainyard.yaml"
CLUSTER, LEDGER, WAIVERS = "clusters/prod-east.yaml", "allocations.yaml", "waivers.yaml"
NEEDS, COST = "change/needs-platform-change", "change/at-anothers-cost"
DELETIONS = "change/many-deletions"

Changes = Mapping[str, Any]


def checked(changes: Changes) -> Checked:
    """Return the base platform after changes without errors."""
    found = check_loaded(changed(changes), (), "2026-11-21")
    assert found.platform is not None, found.diagnostics
    return found


def reviewed(
    before: Changes, after: Changes, lost: Mapping[str, Deletions] | None = None
) -> list[Diagnostic]:
    """Return the findings about the change between two platforms."""
    return list(review(checked(before), checked(after), lost or {}, "2026-11-21"))


def nodes(count: int, **more: Any) -> dict[str, Any]:
    """Return a team's quota of some nodes, and a largest job that fits it."""
    quota = {"prod-east": {"dgx-h100": {"nodes": count}}}
    return {"quota": quota, "largestJob": {"nodes": count}, **more}


def pool(count: int) -> dict[str, Any]:
    """Return the pool with a number of nodes."""
    return {"pools": {"dgx-h100": {"nodes": count}}}


def test_quota_that_fits_only_the_new_pool_names_the_platform_file() -> None:
    """At the team's quota, with the owners in the base; merged apart, each part is fine."""
    owners = {
        SETTINGS: {"owners": {"platform": ["@org/ml"], "clusters": {"prod-east": ["@org/east"]}}}
    }
    grown = {**owners, CLUSTER: pool(11)}
    both = {**grown, NLP: nodes(6)}
    (found,) = reviewed(owners, both)

    assert (found.rule, found.severity) == (NEEDS, Severity.WARNING)
    assert (found.at.file, found.at.path[-1]) == (f"profiles/{NLP}", "nodes")
    assert "profiles/clusters/prod-east.yaml, capacity/oversubscribed" in found.message
    assert [note.message for note in found.notes] == ["to be approved by @org/east"]
    assert reviewed(owners, grown) == reviewed(grown, both) == []


def test_change_cannot_name_its_own_owners() -> None:
    """Owners that the change itself states approve nothing."""
    own = {SETTINGS: {"owners": {"platform": ["@org/nlp"]}}}
    found = reviewed({}, {**own, CLUSTER: pool(11), NLP: nodes(6)})

    assert {note.message for each in found for note in each.notes} == {
        "nobody is stated as its owner"
    }


def test_new_runtime_of_a_team_needs_its_file() -> None:
    """The base does not know the name."""
    runtime = {
        "displayName": "Open MPI",
        "docs": "https://docs.example.com/ml/openmpi",
        "image": f"registry.example.com/ml/openmpi@sha256:{'1' * 64}",
        "libraries": {"openmpi": "4.1.6", "cuda": "12.6"},
        "hardware": ["dgx-h100"],
        "maxNodes": 8,
        "version": 1,
    }
    team = {"runtimes": ["openmpi-cuda", "extra"]}
    (found,) = reviewed({}, {"runtimes/extra.yaml": runtime, NLP: team})

    assert (found.rule, found.at.file) == (NEEDS, f"profiles/{NLP}")
    assert "references/unknown-name" in found.message


def test_waiver_that_comes_with_its_warning_is_named() -> None:
    """Somebody else decides whether the warning is accepted."""
    waiver = {
        "rule": "scheduling/job-on-borrowed-nodes",
        "file": f"profiles/{NLP}",
        "reason": "agreed with us",
        "owner": "nlp",
        "expires": "2027-01-01",
    }
    borrows = {
        "quota": {"prod-east": {"dgx-h100": {"nodes": 4, "borrow": 4}}},
        "largestJob": {"nodes": 8},
    }
    (found,) = reviewed({}, {NLP: borrows, WAIVERS: {"waivers": [waiver]}})

    assert (found.rule, found.at.file) == (NEEDS, f"profiles/{NLP}")
    assert "profiles/waivers.yaml, scheduling/job-on-borrowed-nodes" in found.message


def newcomer(partition: str, addresses: str, **more: Any) -> dict[str, Any]:
    """Return a new team of one node with its line in the ledger."""
    team = {
        "contact": "newco@example.com",
        "groups": {"user": ["newco"]},
        "runtimes": ["openmpi-cuda"],
        "cohort": "research",
        **nodes(1),
        **more,
    }
    line = {"partition": partition, "addresses": addresses}
    return {"teams/newco.yaml": team, LEDGER: {"prod-east": {"ib": {"newco": line}}}}


def test_new_team_brings_its_own_line_of_the_ledger() -> None:
    """`add team` writes both; beside an edit of the cluster that it does not need, too."""
    new = newcomer("0x0103", "10.64.32.0/20")
    free = {NLP: nodes(3)}

    assert reviewed(free, {**free, **new}) == []
    assert reviewed(free, {**free, **new, CLUSTER: {"roles": {"auditor": ["audit"]}}}) == []


def test_line_of_another_team_is_the_platforms() -> None:
    """A new team takes the partition that the same change takes from another."""
    free = {NLP: nodes(3)}
    after = {**free, **newcomer("0x0102", "10.64.32.0/20")}
    after[LEDGER] = {
        "prod-east": {"ib": {**after[LEDGER]["prod-east"]["ib"], "vision": {"partition": "0x0104"}}}
    }
    mixed = with_platform_of(changed(free), changed(after))

    assert mixed.allocations.value["prod-east"]["ib"]["vision"]["partition"] == "0x0102"
    assert mixed.allocations.value["prod-east"]["ib"]["newco"]["partition"] == "0x0102"


@given(
    st.dictionaries(
        st.sampled_from([NLP, VISION]),
        st.sampled_from(
            [nodes(1), nodes(2), {"contact": "other@example.com"}, {"state": "draining"}]
        ),
    )
)
def test_change_of_teams_alone_needs_no_platform_change(changes: Changes) -> None:
    assert not [each for each in reviewed({}, changes) if each.rule == NEEDS]
    head = changed(changes)
    mixed = with_platform_of(changed({}), head)
    assert {file: each.value for file, each in mixed.sources().items()} == {
        file: each.value for file, each in head.sources().items()
    }


OWNED = {NLP: {"owners": ["@org/nlp"]}, VISION: {"owners": ["@org/vision"]}}


def owned(left: int, right: int) -> dict[str, Any]:
    """Return both teams with owners and some nodes each."""
    return {NLP: nodes(left, owners=["@org/nlp"]), VISION: nodes(right, owners=["@org/vision"])}


def test_loss_at_a_gain_names_the_owners_who_must_approve() -> None:
    """At the quota that shrinks; a loss or a gain alone is nobody else's affair."""
    (found,) = reviewed(OWNED, owned(6, 2))

    assert (found.rule, found.at.file) == (COST, f"profiles/{VISION}")
    assert found.message == (
        "team vision loses 2 nodes of pool `dgx-h100` on cluster `prod-east`, and nlp gains some"
    )
    assert [note.message for note in found.notes] == ["to be approved by @org/vision"]
    assert reviewed(OWNED, owned(4, 2)) == reviewed(owned(2, 4), owned(4, 4)) == []


def test_owners_of_both_teams_need_no_second_approval() -> None:
    """As stated for both, or by default; the change's own statement does not count."""
    same = {NLP: {"owners": ["@org/a"]}, VISION: {"owners": ["@org/a"]}}
    taken = {NLP: nodes(6, owners=["@org/a"]), VISION: nodes(2, owners=["@org/a"])}

    assert reviewed(same, taken) == []
    assert reviewed({}, {NLP: nodes(6), VISION: nodes(2)}) == []
    assert [each.rule for each in reviewed(OWNED, taken)] == [COST]


def test_new_team_does_not_take_by_naming_the_owners_of_another() -> None:
    new = newcomer("0x0103", "10.64.32.0/20", owners=["@org/vision"])

    assert [each.rule for each in reviewed(OWNED, {**owned(4, 3), **new})] == [COST]


def renamed_nlp(count: int, **more: Any) -> dict[str, Any]:
    """Return the change that renames nlp to language, with some nodes."""
    team = {
        "renamedFrom": "nlp",
        "contact": "nlp@example.com",
        "groups": {"user": ["nlp"]},
        "runtimes": ["openmpi-cuda"],
        **nodes(count),
        **more,
    }
    line = {"partition": "0x0101", "addresses": "10.64.0.0/20"}
    ledger = {"prod-east": {"ib": {"nlp": None, "language": line}}}
    return {NLP: None, "teams/language.yaml": team, LEDGER: ledger}


def test_renamed_team_takes_nothing_from_itself() -> None:
    assert reviewed(OWNED, {**OWNED, **renamed_nlp(4)}) == []


@pytest.mark.parametrize("owner", [{}, {"owners": ["@org/vision"]}])
def test_rename_hides_no_loss_and_changes_no_owner(owner: Changes) -> None:
    """The owners of the old name decide, whomever the new profile names; so for a gain."""
    strict = {SETTINGS: {"review": {"errors": [COST]}}}
    before = {**strict, NLP: nodes(4, owners=["@org/nlp"])}
    (found,) = reviewed(before, {**before, **renamed_nlp(3, **owner), VISION: nodes(5)})

    assert (found.rule, found.severity) == (COST, Severity.ERROR)
    assert (found.at.file, found.at.path[-1]) == ("profiles/teams/language.yaml", "nodes")
    assert found.message.startswith("team nlp loses 1 node of pool")
    (note,) = found.notes
    assert note.at is not None
    assert (note.message, note.at.file) == ("to be approved by @org/nlp", f"profiles/{NLP}")
    taken = {**OWNED, **renamed_nlp(6, **owner), VISION: nodes(2, owners=["@org/vision"])}
    assert [each.notes[0].message for each in reviewed(OWNED, taken)] == [
        "to be approved by @org/vision"
    ]


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 100))
def test_deletions_are_counted_against_the_share(before: int, deleted: int, limit: int) -> None:
    deleted = min(deleted, before)
    settings = {SETTINGS: {"review": {"deleted": limit}}}
    found = reviewed(settings, settings, {"prod-east": Deletions(deleted, before)})

    assert [each.rule for each in found] == [DELETIONS] * (deleted / before > limit / 100)


def test_limits_and_waivers_are_the_bases() -> None:
    """The change can't lower, and the base's waiver and severity count."""
    half = {"prod-east": Deletions(5, 10)}
    lax, strict = ({"review": {"deleted": 100}}, {"review": {"errors": [DELETIONS]}})

    assert [each.rule for each in reviewed({}, {SETTINGS: lax}, half)] == [DELETIONS]
    assert reviewed({SETTINGS: lax}, {}, half) == []
    (found,) = reviewed({SETTINGS: strict}, {}, half)
    assert found.severity is Severity.ERROR

    waiver = {
        "rule": DELETIONS,
        "file": f"profiles/{CLUSTER}",
        "reason": "we move out",
        "owner": "us",
        "expires": "2027-01-01",
    }
    waived = {WAIVERS: {"waivers": [waiver]}}
    assert reviewed(waived, {}, half) == []
    assert [each.rule for each in reviewed({}, waived, half)] == [DELETIONS]
    assert reviewed({**waived, SETTINGS: strict}, {}, half) == [found]
    assert checked(waived).diagnostics == ()


def test_base_with_errors_judges_nothing_and_that_is_reported() -> None:
    """Errors of the head are reported by themselves; a base without teams and tree has nothing to
    say."""
    broken = check_loaded(changed({NLP: {"runtimes": ["nothing"]}}), ())
    empty = check_loaded(changed({NLP: None, VISION: None, SETTINGS: {"domain": 1}}), ())
    objects = {"prod-east": Deletions(10, 10)}
    (found,) = review(broken, checked({}), objects, "")

    assert (found.rule, found.at.file) == ("change/base-with-errors", f"profiles/{NLP}")
    assert "1 error: references/unknown-name" in found.message
    assert empty.platform is None
    assert list(review(empty, checked({}), {}, "")) == []
    (found,) = review(empty, checked({}), objects, "")
    assert found.rule == "change/base-with-errors"
    assert list(review(checked({}), broken, objects, "")) == []


@pytest.mark.parametrize("rule", rules.RULES[1:], ids=lambda rule: rule.id)
def test_each_rule_can_be_made_an_error(rule: Any) -> None:
    """The schema lists the rules."""
    assert checked({SETTINGS: {"review": {"errors": [rule.id]}}}).platform is not None
