"""A cluster that gets another release: its operators are others, and so are the rails' names."""

from __future__ import annotations

from typing import Any

from tests.change.impact.platforms import CLUSTER, LEDGER, sides
from tests.rules.cases import replacements
from trainyard.change.history.check import check_replacement
from trainyard.change.impact.compare import compare
from trainyard.diagnostics import Diagnostic

PLAIN: dict[str, Any] = {
    CLUSTER: {"release": "kubernetes-1.36", "monitoring": {"stack": "prometheus-operator"}}
}
IDS: dict[str, Any] = {
    LEDGER: {
        "prod-east": {"uids": {"team-nlp": {"range": "1000680000/10000", "level": "s0:c26,c15"}}}
    }
}


def _found(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Diagnostic]:
    found: dict[str, Diagnostic] = {}
    for replacement in replacements(before, after):
        found |= {each.rule: each for each in check_replacement(replacement)}
    return found


def test_rails_have_other_names_by_the_prefix_of_another_release() -> None:
    found = _found({}, PLAIN)["change/rails-renamed"]

    assert (found.at.file, found.at.path) == ("profiles/clusters/prod-east.yaml", ("release",))
    assert "openshift.io/ib_rail_0 -> nvidia.com/ib_rail_0" in found.message


def test_user_ids_leave_the_ledger_with_openshift() -> None:
    """`isolation/uids-without-ranges` demands it, so no other rule may refuse it."""
    assert "change/uids-moved" in _found(IDS, {})
    assert "change/uids-moved" not in _found(IDS, PLAIN)


def test_rails_of_another_operator_are_no_new_rails() -> None:
    (cluster,) = compare([sides({}, PLAIN)], None).clusters
    causes = {each.cause for each in cluster.disruptions}

    assert "rails of pool `dgx-h100` move to another operator" in causes
    assert not any("gets rails" in cause or "loses" in cause for cause in causes)
