"""Claims that a job mounts in vain, by what the profiles and a snapshot show of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.jobs.fit.setting import Body, ground, sample, verdict
from tests.rules.cases import merged
from trainyard_jobs.fit.usage import Snapshot, snapshot_of
from trainyard_jobs.fit.verdict import Check, Link, Standing

OWN = {"teams/nlp.yaml": {"claims": {"scratch": "1Ti"}}}
"""The team's admins claim storage themselves."""
STORED = "home"
"""A claim of the base's profiles."""


def mounting(claim: str, changes: dict[str, Any]) -> Body:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": claim}}
    targets = [{"name": "launcher"}, {"name": "node"}]
    override = {"targetJobs": targets, "spec": {"volumes": [volume]}}
    job: Body = merged(sample(changes), {"spec": {"podTemplateOverrides": [override]}})
    return job


def snapshot(**claims: str) -> Snapshot:
    """Return what a cluster shows of claims of team nlp, by name and phase."""
    bodies = [
        {
            "kind": "PersistentVolumeClaim",
            "metadata": {"namespace": "team-nlp", "name": name},
            "status": {"phase": phase} if phase else {},
        }
        for name, phase in claims.items()
    ]
    return snapshot_of(bodies)


def checks(claim: str, changes: dict[str, Any], seen: Snapshot | None = None) -> list[Check]:
    found = verdict(ground(changes, snapshot=seen), mounting(claim, changes))
    return [check for check in found.checks if check.link is Link.VOLUMES]


def test_claim_that_nobody_can_create_is_mentioned_once() -> None:
    """Launcher and nodes mount it, and the job is admitted all the same."""
    (check,) = checks("nothere", {})

    assert check.standing is Standing.ADMITTED
    assert check.message.startswith("the profiles have no claim nothere; unless there is one, pods")
    assert check.message.endswith("the team's profile has no `claims` to create one")
    assert check.at is not None
    assert check.at.path == ("claims",)


def test_claim_that_admins_may_have_made_is_mentioned_with_its_class() -> None:
    (check,) = checks("nothere", OWN)

    assert check.message.startswith("the profiles have no claim nothere; unless there is one, ")
    assert check.message.endswith("an admin of team nlp can make it, of storage class cephfs")


@pytest.mark.parametrize("changes", [{}, OWN], ids=["none", "own"])
@pytest.mark.parametrize("phase", ["Bound", "Pending", ""])
def test_claim_of_the_snapshot_is_there(changes: dict[str, Any], phase: str) -> None:
    assert not checks("mine", changes, snapshot(mine=phase))


def test_claim_that_the_snapshot_lacks_is_not_there() -> None:
    (check,) = checks("mine", OWN, snapshot(other="Bound"))

    assert check.message.startswith("there is no claim mine: pods")
    assert check.message.endswith("of storage class cephfs")


def test_snapshot_without_claims_says_nothing_of_them() -> None:
    assert checks("mine", OWN, Snapshot()) == checks("mine", OWN)


@pytest.mark.parametrize("changes", [{}, OWN], ids=["none", "own"])
def test_claim_of_another_namespace_is_none(changes: dict[str, Any]) -> None:
    elsewhere = Snapshot(claims={("team-vision", "mine"): "Bound"})

    (check,) = checks("mine", changes, elsewhere)
    assert check.message.startswith("there is no claim mine")


def test_claim_of_the_profiles_is_there() -> None:
    assert not checks(STORED, {})


@pytest.mark.parametrize("name", [STORED, "mine"])
def test_lost_claim_is_mentioned(name: str) -> None:
    (check,) = checks(name, {}, snapshot(**{name: "Lost"}))

    assert check.message.startswith(f"claim {name} has lost its volume: pods")


def test_like_name_is_proposed_else_all_of_them() -> None:
    (check,) = checks("hone", {})
    assert check.repair == ("set claimName to home",)
    (check,) = checks("minne", OWN, snapshot(mine="Bound"))
    assert check.repair == ("set claimName to mine",)
    (check,) = checks("zzzz", {})
    assert check.repair == ("set claimName to home or scratch",)
