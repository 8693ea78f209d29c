"""Composed names: their budgets, their form, and that two things never share one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.shapes import NAMES
from trainyard.model import names

LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")
RAILS = st.integers(0, 15)


def test_budgets_are_what_the_api_server_allows() -> None:
    """Labels, and the names of pods and of namespaces, end where RFC 1123 ends them."""
    assert names.LABEL_BUDGET == 63


@given(NAMES, RAILS)
def test_name_of_one_part_always_fits(name: str, rail: int) -> None:
    """Whatever a profile may be called, what is composed of its name alone is a label within its
    budget."""
    composed = [
        names.namespace(name),
        names.cluster_queue(name, "gpu"),
        names.job_limits(names.namespace(name)),
        names.network(name, rail),
        names.node_policy(name, rail),
        *(names.application(name, part) for part in ("argocd", "platform", "teams")),
    ]

    assert all(LABEL.match(each) for each in composed)


@given(NAMES, RAILS)
def test_rail_resource_is_one_that_the_operator_admits(name: str, rail: int) -> None:
    """Letters, digits and inner underscores; within the 63 characters of a resource's name."""
    assert re.fullmatch(r"[a-z][a-z0-9_]*[0-9]", names.rail_resource(name, rail))
    assert len(names.rail_resource(name, rail)) <= names.LABEL_BUDGET


@given(st.tuples(NAMES, RAILS), st.tuples(NAMES, RAILS))
def test_rail_has_a_name_of_its_own(one: tuple[str, int], two: tuple[str, int]) -> None:
    """Two rails share neither resource nor network nor policy, whatever the fabric is called."""
    for compose in (names.rail_resource, names.network, names.node_policy):
        assert (compose(*one) == compose(*two)) is (one == two)


@given(NAMES, NAMES)
def test_teams_share_no_name(one: str, two: str) -> None:
    """Namespace, limits and queues of two teams differ, also across the classes of node."""
    for compose in (names.namespace, lambda team: names.job_limits(names.namespace(team))):
        assert (compose(one) == compose(two)) is (one == two)
    queues = {names.cluster_queue(team, kind) for team in (one, two) for kind in ("gpu", "cpu")}
    assert len(queues) == 2 * len({one, two})


@given(NAMES)
def test_namespace_of_a_team_is_of_no_other_team(team: str) -> None:
    """A team can't get a namespace of Kubernetes, of OpenShift or of our own by its name."""
    namespace = names.namespace(team)

    assert not namespace.startswith(("kube-", "openshift-"))
    assert namespace not in {"default", names.SYSTEM_NAMESPACE}


@pytest.mark.parametrize(
    ("composed", "expected"),
    [
        (names.namespace("nlp"), "team-nlp"),
        (names.cluster_queue("nlp", "gpu"), "nlp-gpu"),
        (names.namespace("nlp", "dev"), "team-nlp-dev"),
        (names.runtime("openmpi", 3, "dgx-h100"), "openmpi-v3-dgx-h100"),
        (names.runtime("openmpi", 3, "dgx-h100", "team-nlp-dev"), "openmpi-v3-dgx-h100-nlp-dev"),
        (names.rail_resource("ib-east", 7), "ib_east_rail_7"),
        (names.network("ib-east", 7), "ib-east-rail-7"),
        (names.network("roce", 7, "team-nlp-dev"), "team-nlp-dev-roce-rail-7"),
        (names.address_pool("nlp", "roce", 7), "nlp-roce-rail-7"),
        (names.node_policy("pool", 0), "pool-rail-0"),
        (names.volume("east", "team-nlp", "home"), "east-nlp-home"),
        (names.volume("east", "team-nlp-dev", "home"), "east-nlp-dev-home"),
        (names.application("east", "team-nlp"), "east-team-nlp"),
        (names.job_help("team-nlp-dev"), "trainjob-help-nlp-dev"),
        (names.job_limits("team-nlp"), "trainjob-limits-nlp"),
        (names.job_limits("team-nlp-dev"), "trainjob-limits-nlp-dev"),
        (names.sample("nlp", "openmpi"), "nlp-openmpi"),
        (names.sample("nlp", "dev-openmpi"), "nlp-dev-openmpi"),
    ],
)
def test_name_is_stable(composed: str, expected: str) -> None:
    """Objects on clusters are found by these names: another composition would make all of them
    anew."""
    assert composed == expected
