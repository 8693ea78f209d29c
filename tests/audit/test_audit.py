"""The committed tree and the examples, checked without code of the generator."""

from __future__ import annotations

import shutil
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.audit import (
    capacity,
    compliance,
    cost,
    dashboards,
    delivery,
    fabric,
    isolation,
    placement,
    roles,
    watching,
    workloads,
)
from tests.audit.defects import capacity as capacity_defects
from tests.audit.defects import compliance as compliance_defects
from tests.audit.defects import cost as cost_defects
from tests.audit.defects import dashboards as dashboards_defects
from tests.audit.defects import delivery as delivery_defects
from tests.audit.defects import fabric as fabric_defects
from tests.audit.defects import isolation as isolation_defects
from tests.audit.defects import placement as placement_defects
from tests.audit.defects import roles as roles_defects
from tests.audit.defects import watching as watching_defects
from tests.audit.defects import workloads as workloads_defects
from tests.audit.defects.defect import Audit, Defect
from tests.audit.tree import ROOT, Document, Tree, clusters, load

pytestmark = pytest.mark.thorough

AUDITS: tuple[Audit, ...] = (
    *roles.AUDITS,
    *isolation.AUDITS,
    *capacity.AUDITS,
    *compliance.AUDITS,
    *cost.AUDITS,
    *dashboards.AUDITS,
    *delivery.AUDITS,
    *fabric.AUDITS,
    *placement.AUDITS,
    *watching.AUDITS,
    *workloads.AUDITS,
)
DEFECTS = (
    *roles_defects.DEFECTS,
    *isolation_defects.DEFECTS,
    *capacity_defects.DEFECTS,
    *dashboards_defects.DEFECTS,
    *delivery_defects.DEFECTS,
    *workloads_defects.DEFECTS,
    *compliance_defects.DEFECTS,
    *cost_defects.DEFECTS,
    *fabric_defects.DEFECTS,
    *placement_defects.DEFECTS,
    *watching_defects.DEFECTS,
)
EXAMPLES = {"smallest": "solo", "two-generations": "north"}
"""Examples with a tree, and their cluster."""


def _with_defect(tree: Tree, defect: Defect) -> Tree:
    (found,) = (
        each
        for each in (*tree.documents, *tree.kustomizations)
        if f"/{each.path}".endswith(f"/{defect.at}")
    )
    if not defect.path:
        return replace(tree, documents=tuple(each for each in tree.documents if each is not found))
    body = deepcopy(found.body)
    inner: Any = body
    for step in defect.path[:-1]:
        inner = inner[step]
    if defect.value is None:
        del inner[defect.path[-1]]
    else:
        inner[defect.path[-1]] = defect.value

    def swapped(documents: tuple[Document, ...]) -> tuple[Document, ...]:
        return tuple(replace(each, body=body) if each is found else each for each in documents)

    return replace(
        tree, documents=swapped(tree.documents), kustomizations=swapped(tree.kustomizations)
    )


@pytest.mark.parametrize("audit", AUDITS, ids=lambda audit: audit.__name__)
@pytest.mark.parametrize("cluster", clusters())
def test_committed_tree_passes(cluster: str, audit: Audit) -> None:
    assert list(audit(load(cluster))) == []


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with each example, its tree written by the command."""
    folder = tmp_path_factory.mktemp("examples")
    for name in EXAMPLES:
        shutil.copytree(ROOT / "examples" / name, folder / name)
        command = [sys.executable, "-m", "trainyard", "generate"]
        subprocess.run(command, cwd=folder / name, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("audit", AUDITS, ids=lambda audit: audit.__name__)
@pytest.mark.parametrize("example", EXAMPLES)
def test_example_passes(example: str, audit: Audit, examples: Path) -> None:
    assert list(audit(load(EXAMPLES[example], examples / example))) == []


@pytest.mark.parametrize(
    "defect",
    DEFECTS,
    ids=lambda defect: (
        f"{defect.audit.__name__}-{defect.at if not defect.path else defect.path[-1]}"
    ),
)
def test_audit_finds_the_defect(defect: Defect) -> None:
    assert list(defect.audit(_with_defect(load(defect.cluster), defect)))


def test_every_audit_has_a_defect() -> None:
    """So no audit passes only because it looks at nothing."""
    assert {defect.audit for defect in DEFECTS} == set(AUDITS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1000", "1k"),
        ("1600", "1600"),
        ("26000", "26k"),
        ("1500m", "1500m"),
        ("2000m", "2"),
        ("0", "0"),
        ("1024Gi", "1Ti"),
        ("12000Gi", "12000Gi"),
        ("0.5", "500m"),
    ],
)
def test_canonical_form_is_the_api_servers(text: str, expected: str) -> None:
    assert capacity.canonical(text) == expected


@pytest.mark.parametrize("cluster", clusters())
def test_lines_are_kept_as_long_as_profiles_state(cluster: str) -> None:
    """The README asks the owner of the log store for it; no object has it."""
    tree = load(cluster)

    assert list(compliance.lines_are_kept_as_long_as_stated(tree)) == []


@pytest.mark.parametrize(
    ("old", "new"), [("8760h", "24h"), ("team-medical", "team-nlp"), ("priority: 2", "priority: 0")]
)
def test_lines_that_are_kept_for_another_time_are_found(old: str, new: str) -> None:
    """So the audit does not pass only because it reads nothing."""
    tree = load("lab")
    assert old in tree.readme

    other = replace(tree, readme=tree.readme.replace(old, new))
    assert list(compliance.lines_are_kept_as_long_as_stated(other))
