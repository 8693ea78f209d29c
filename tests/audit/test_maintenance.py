"""The audits hold for a tree with nodes in maintenance, and find quota that is too large."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.audit import capacity
from tests.audit.test_audit import AUDITS
from tests.audit.tree import ROOT, load
from trainyard.cli.main import run

pytestmark = pytest.mark.thorough

_EDITS = {
    "prod-east": ("reserve: 1, fabric: ib", "nodes: [g1, g2, g3], from: {nlp: 1, vision: 1}"),
    # All of a pool, which teams have in parts.
    "lab": ("xe9680-h200-shared: {nodes: 1", "nodes: [shared-1]"),
}


@pytest.fixture(scope="module")
def maintained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This repository's profiles with nodes in maintenance, and their tree."""
    root = tmp_path_factory.mktemp("maintained")
    shutil.copytree(ROOT / "profiles", root / "profiles")
    for cluster, (before, entry) in _EDITS.items():
        path = root / f"profiles/clusters/{cluster}.yaml"
        stated = f'{before}, maintenance: [{{{entry}, until: "2099-12-01", reason: cables}}]'
        path.write_text(path.read_text("utf-8").replace(before, stated), "utf-8")
    options = ("--profiles", str(root / "profiles"), "--output", str(root / "overlays"))
    assert run(("generate", *options)) == 0
    return root


@pytest.mark.parametrize("cluster", _EDITS)
def test_audits_hold(maintained: Path, cluster: str) -> None:
    tree = load(cluster, maintained)
    assert [each for audit in AUDITS for each in audit(tree)] == []


def test_quota_of_nodes_out_of_use_is_found(maintained: Path) -> None:
    """The tree without maintenance, beside the profiles with it."""
    tree = load("prod-east", maintained)
    plain = load("prod-east")
    assert [*capacity.quota_fits_the_nodes(plain)] == []
    stale = replace(plain, cluster=tree.cluster)
    assert any("dgx-h100" in each for each in capacity.quota_fits_the_nodes(stale))
    assert len([*capacity.quota_follows_the_profiles(stale)]) == 2
