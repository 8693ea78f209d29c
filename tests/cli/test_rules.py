from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.cli.calls import Ended
from trainyard.diagnostics import Rule
from trainyard.rulebook import all_rules
from trainyard.schema.profiles import profile_kinds, profile_schema

Call = Callable[..., Ended]
RULES = all_rules()


def test_rules_are_listed_with_severity_and_summary(trainyard: Call) -> None:
    """One line a rule, in the order of the ids."""
    ended = trainyard("rules")

    assert (ended.code, ended.err) == (0, "")
    for rule, line in zip(RULES, ended.out.splitlines(), strict=True):
        assert line.split(maxsplit=2) == [rule.id, rule.severity, rule.summary]


def test_rules_as_json_hold_all_of_each(trainyard: Call) -> None:
    """Documentation can be made from the document alone."""
    rules = json.loads(trainyard("rules", "--format", "json").out)["result"]["rules"]

    assert [Rule(**rule) for rule in rules] == list(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_rule_is_explained(rule: Rule, trainyard: Call) -> None:
    """What, why and fix are shown in full, wrapped for a terminal."""
    ended = trainyard("explain", rule.id)
    text = " ".join(ended.out.split())

    assert (ended.code, ended.err) == (0, "")
    assert text == " ".join(
        f"{rule.severity}[{rule.id}] what: {rule.summary} why: {rule.why} fix: {rule.fix}"
        f" page: docs/reference/rules/{rule.id.partition('/')[0]}.md".split()
    )
    assert max(map(len, ended.out.splitlines())) <= 100


def test_unknown_rule_names_the_nearest(trainyard: Call) -> None:
    """A misspelt rule is answered with the right one."""
    message = (
        "error: there is no rule `capacity/oversubscribe`; did you mean "
        "`capacity/oversubscribed`?\nTry `trainyard explain --help`.\n"
    )
    assert trainyard("explain", "capacity/oversubscribe") == Ended(2, "", message)


@pytest.mark.parametrize("kind", profile_kinds())
def test_schema_is_printed_as_it_is(kind: str, trainyard: Call) -> None:
    """Editors get the schema that profiles are checked against."""
    ended = trainyard("schema", kind)

    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out) == profile_schema(kind)


def test_unknown_kind_is_a_usage_error(trainyard: Call) -> None:
    """The kinds that there are are named."""
    ended = trainyard("schema", "tea")

    assert (ended.code, ended.out) == (2, "")
    assert "'team'" in ended.err
