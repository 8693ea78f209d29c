"""What an account of another operator can't do in a team's namespace, and users with names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from tests.e2e.setup import NEW, OLD
from tests.e2e.stage import Scene, Stage
from trainyard_rehearsal.checks.accounts import check_accounts
from trainyard_rehearsal.checks.outsiders import check_outsiders
from trainyard_rehearsal.checks.team_namespaces import check_team_namespaces
from trainyard_rehearsal.outcome import Outcome

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [OLD, NEW], indirect=True, ids=[OLD.name, NEW.name]),
]

Check = Callable[[Scene], Iterator[Outcome]]


def _accounts(scene: Scene) -> Iterator[Outcome]:
    return check_accounts(scene.lab, [scene.space("team-nlp")])


def _outsiders(scene: Scene) -> Iterator[Outcome]:
    return check_outsiders(scene.lab)


def _namespaces(scene: Scene) -> Iterator[Outcome]:
    return check_team_namespaces(scene.lab)


@pytest.mark.parametrize(
    ("check", "policies"),
    [
        (_accounts, ("jobs", "pool-nodes", "tenant-objects")),
        (_outsiders, ("pool-nodes",)),
        (_namespaces, ("team-namespaces",)),
    ],
    ids=["accounts", "outsiders", "namespaces"],
)
def test_attacks_are_refused_by_their_policies(
    stage: Stage, check: Check, policies: tuple[str, ...]
) -> None:
    """All are refused and nothing else is; without one of the policies some get through."""
    scene = stage.deploy({})
    for policy in policies:
        assert stage.until(partial(_is_fine, check, scene)), [*check(scene)]
        binding = scene.api.get(
            "admissionregistration.k8s.io/v1",
            "ValidatingAdmissionPolicyBinding",
            f"trainyard-{policy}",
        )
        scene.api.patch(binding, {"spec": {"validationActions": ["Audit"]}})
        assert stage.until(lambda: not next(check(scene)).fine), policy
        scene.api.patch(binding, {"spec": {"validationActions": ["Deny"]}})


def _is_fine(check: Check, scene: Scene) -> bool:
    return all(outcome.fine for outcome in check(scene))
