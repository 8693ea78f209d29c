"""What a hand-written component may hold."""

from __future__ import annotations

from typing import Any

import pytest

from generator.rules.delivery import FORBIDDEN_KINDS
from tests.rules.cases import broken, messages

KUSTOMIZATION = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "resources": ["a.yaml"]}


def component(kind: str, **metadata: str) -> dict[str, Any]:
    body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "it", **metadata}}
    return {"components/extra/kustomization.yaml": KUSTOMIZATION, "components/extra/a.yaml": body}


def used_by(*teams: str) -> dict[str, Any]:
    return {f"teams/{team}.yaml": {"components": ["extra"]} for team in teams}


@pytest.mark.parametrize("kind", [*sorted(FORBIDDEN_KINDS), "List", "RoleBindingList"])
def test_component_can_not_open_a_team(kind: str) -> None:
    """No kind that isolation is made of, and no list, in which any kind could stand."""
    assert broken({**component(kind, namespace="team-nlp"), **used_by("nlp")}) == {
        "delivery/component-of-forbidden-kind"
    }


@pytest.mark.parametrize("kind", ["ConfigMap", "Deployment", "ExternalSecret", "PersistentVolumeClaim"])
def test_component_may_add_what_runs_inside(kind: str) -> None:
    """Everything else is the team's own business."""
    assert broken({**component(kind, namespace="team-nlp"), **used_by("nlp")}) == set()


def test_component_belongs_to_one_team() -> None:
    """Listed by two teams, its objects stand in the wrong namespace for one of them."""
    assert messages(
        "delivery/component-in-foreign-namespace",
        {**component("ConfigMap", namespace="team-nlp"), **used_by("nlp", "vision")},
    ) == ["ConfigMap `it` in a.yaml stands in `team-nlp`; team vision has `team-vision`"]


def test_component_can_not_be_cluster_scoped() -> None:
    """An object without a namespace is not the team's."""
    assert messages("delivery/component-in-foreign-namespace", {**component("PriorityClass"), **used_by("nlp")}) == [
        "PriorityClass `it` in a.yaml says no namespace; team nlp has `team-nlp`"
    ]


def test_component_that_nobody_lists_is_nobodys() -> None:
    """It is not delivered."""
    assert broken(component("Role")) == set()
