"""What one role permits and another does not, against an evaluator of single requests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.diagnostics import TreeError
from trainyard.model.permissions import beyond, permissions

Rule = dict[str, list[str]]
Request = tuple[str, ...]
VERBS, GROUPS, NAMES = ("get", "list", "other"), ("", "batch", "other"), ("a", "other")
RESOURCES = ("pods", "pods/log", "jobs", "jobs/log", "other", "other/other")
PATHS = ("/healthz", "/api", "/apis", "/other")
REQUESTS: list[Request] = [*product(VERBS, GROUPS, RESOURCES, NAMES), *product(VERBS, PATHS)]
"""`other` stands for everything that no rule names."""


def some(*values: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=2)


OF_RESOURCES = st.fixed_dictionaries(
    {
        "verbs": some("get", "list", "*"),
        "apiGroups": some("", "batch", "*"),
        "resources": some("pods", "pods/log", "jobs", "*/log", "*"),
    },
    optional={"resourceNames": some("a")},
)
OF_PATHS = st.fixed_dictionaries(
    {"verbs": some("get", "*"), "nonResourceURLs": some("/healthz", "/api", "/api*", "*")}
)
RULES = st.lists(OF_RESOURCES | OF_PATHS, max_size=3)


def is_path_permitted(rule: Rule, path: str) -> bool:
    return any(
        path.startswith(each[:-1]) if each.endswith("*") else path == each
        for each in rule.get("nonResourceURLs", ())
    )


def is_resource_permitted(rule: Rule, group: str, resource: str, name: str) -> bool:
    fits = {"*", resource} | ({f"*/{resource.split('/')[1]}"} if "/" in resource else set())
    return (
        not {"*", group}.isdisjoint(rule.get("apiGroups", ()))
        and not fits.isdisjoint(rule.get("resources", ()))
        and name in rule.get("resourceNames", [name])
    )


def is_permitted(rules: Sequence[Rule], request: Request) -> bool:
    """Judge one request as the API server does."""
    verb, *rest = request
    judge: Any = is_path_permitted if len(rest) == 1 else is_resource_permitted
    return any(not {"*", verb}.isdisjoint(each["verbs"]) and judge(each, *rest) for each in rules)


@given(RULES, RULES)
def test_a_line_appears_exactly_when_some_request_is_permitted_by_one_role_only(
    more: list[Rule], less: list[Rule]
) -> None:
    """Rules that overlap or repeat each other change nothing."""
    only = [each for each in REQUESTS if is_permitted(more, each) and not is_permitted(less, each)]

    assert bool(beyond(permissions("more", more), permissions("less", less))) is bool(only)


def test_lines_join_resources_and_names_with_equal_verbs() -> None:
    """One line for each group and set of verbs."""
    rules = [
        {"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["list", "get"]},
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"]}
        | {"resourceNames": ["b", "a"], "verbs": ["bind"]},
        {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
    ]

    assert beyond(permissions("a role", rules), frozenset()) == (
        "bind clusterroles of rbac.authorization.k8s.io named a, b",
        "get /metrics",
        "get, list events, pods",
    )


def test_rule_that_is_no_rule_permits_nothing() -> None:
    """A committed file may have been edited by hand."""
    rules = [{}, {"verbs": "get", "resources": ["pods"], "apiGroups": [1]}]
    assert permissions("a role", rules) == set()


@pytest.mark.parametrize(
    "rules",
    [
        [dict.fromkeys(("verbs", "apiGroups", "resources", "resourceNames"), ["a"] * 400)],
        [{"verbs": ["get"] * 1000, "nonResourceURLs": ["/a"] * 1000}],
        [dict.fromkeys(("verbs", "apiGroups", "resources"), ["a"] * 40)] * 1000,
    ],
)
def test_small_role_with_billions_of_permissions_is_named(rules: list[Rule]) -> None:
    """Whoever may write a role of a cluster does not take the memory of who reads it."""
    with pytest.raises(TreeError, match="Role nlp/odd has more than 100,000"):
        permissions("Role nlp/odd", rules)
