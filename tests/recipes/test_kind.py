"""*Add a resource kind*, followed in a copy: one for each team, and one for each cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.checkout import FRESH, Checkout
from tests.recipes.modules import need_modules

pytestmark = [pytest.mark.thorough, pytest.mark.slow]

BUDGET = """\
{# A drain waits for whoever keeps an eye on these pods. #}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: watched
  namespace: {{ space.namespace }}
  labels: {{ space.labels }}
spec:
  maxUnavailable: 0
  selector:
    matchLabels:
      example.com/watched: "true"
"""
CLASS = """\
{# Daemons of the platform start before the jobs of teams. #}
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: trainyard-daemons
  labels: {{ cluster.labels }}
value: 1000
globalDefault: false
preemptionPolicy: Never
description: Daemons of the platform
"""
REACTION = """\
    *quiet(
        "{kind}",
        "seen with Kubernetes 1.36.3",
        created="Running jobs stay.",
        changed="Running jobs stay.",
        deleted="Running jobs stay.",
    ),
"""
RESOURCES = {
    "PodDisruptionBudget": """\
    Resource(
        "policy",
        "v1",
        "poddisruptionbudgets",
        "PodDisruptionBudget",
        compared=("spec",),
        of_tree=True,
    ),
""",
    "PriorityClass": """\
    Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", compared=("value",)),
""",
}
PLACES = {
    "PodDisruptionBudget": ("readable_of_tree", "OF_TREE = ("),
    "PriorityClass": ("readable", "    CRDS,"),
}
RIGHT = """\
  - apiGroups: [{group}]
    resources: [{plural}]
    verbs: [get, list]
"""
BEFORE = {
    "PodDisruptionBudget": "  - apiGroups: [rbac.authorization.k8s.io]\n",
    "PriorityClass": "  - apiGroups: [sriovnetwork.openshift.io]\n",
}
"""The rule of the ClusterRole before which a right belongs."""
EXAMPLES = {
    "PodDisruptionBudget": BUDGET.replace("{{ space.namespace }}", "team-nlp"),
    "PriorityClass": CLASS,
}
TESTS = (
    *FRESH,
    "tests/test_architecture.py",
    "tests/test_golden.py",
    "tests/releases/test_plurals.py",
    "tests/schema/test_manifests.py",
    "tests/change/impact/test_reactions.py",
    "tests/cli/test_drift.py::test_each_kind_of_the_tree_is_read",
    "tests/facts/test_facts.py::test_page_has_the_rights_that_reading_needs",
    "tests/tools/test_derive.py::test_schemas_are_those_of_the_kinds_that_are_written",
)


@pytest.mark.parametrize(
    ("kind", "template", "text", "line"),
    [
        ("PodDisruptionBudget", "team/pod-disruption-budget", BUDGET, "spaces"),
        ("PriorityClass", "platform/priority-class", CLASS, "cluster"),
    ],
)
def test_kind_takes_seven_files(
    kind: str, template: str, text: str, line: str, tmp_path: Path
) -> None:
    """Schema, plural, tree, role of the delivery and pages are written; before that, the error says
    which command is missing."""
    need_modules()
    copy = Checkout(tmp_path, "Add a resource kind")
    copy.write(f"templates/{template}.yaml.j2", text)
    copy.insert(
        "generator/trainyard/render/catalog.py",
        '    Entry("team/namespace", scopes.spaces),',
        f'    Entry("{template}", scopes.{line}),\n',
    )
    assert "run `make schemas`" in copy.fails("trainyard validate")
    example = "".join(
        each
        for each in EXAMPLES[kind].splitlines(keepends=True)
        if not each.startswith(("{#", "  labels:"))
    )
    copy.replace("tests/schema/examples.yaml", "\n---\n", f"\n---\n{example}---\n", most=1)
    copy.insert(
        "generator/trainyard/change/impact/reactions/jobs.py",
        "_JUDGED = (",
        REACTION.format(kind=kind),
    )
    resource = RESOURCES[kind]
    module, above = PLACES[kind]
    copy.insert(f"generator/trainyard/model/{module}.py", above, resource)
    group, _, plural = (each for each in resource.split('"')[1::2][:3])
    right = RIGHT.format(group=group, plural=plural) + BEFORE[kind]
    copy.replace("docs/how-to/check-a-running-cluster.md", BEFORE[kind], right, most=1)
    copy.note(f"`{kind}`.")
    copy.type("make schemas golden docs test", TESTS)

    assert any(kind.lower() in path for path in copy.changed() if path.startswith("overlays/"))
    copy.done(most=7, but=["make schemas", "make golden"])
