"""The first section of a cluster's README: what a first sync does to workloads that are there."""

from __future__ import annotations

from typing import Any

import pytest

from tests.resolve.changes import CLUSTER, together
from tests.rules.cases import platform_of
from trainyard.render.unit import readme

PLAIN: dict[str, Any] = {CLUSTER: {"release": "kubernetes-1.36", "argocd": None}}
TITLE = "What the first sync does to workloads that are there"


def first(*changes: dict[str, Any]) -> str:
    """Return the first section of the README, without the lines before it."""
    (site,) = platform_of(together(*changes)).sites
    title, _, section = readme(site).split("\n## ")[1].partition("\n")
    assert title == TITLE
    return section


@pytest.mark.parametrize("changes", [{}, PLAIN], ids=["openshift", "plain"])
def test_first_screen_names_what_is_taken_from_others(changes: dict[str, Any]) -> None:
    """Pods, names and nodes are taken on both; the section fits on a screen."""
    text = first(changes)

    assert len(text.splitlines()) < 20
    assert "asks for `nvidia.com/gpu` or another device of the pools" in text
    assert "tolerates every taint or `nvidia.com/gpu`" in text
    assert "lend to the teams and borrow from them: `research`." in text
    assert "are ordered anew: `batch`, `production`." in text
    assert r"limits.nvidia\.com/gpu'" in text


def test_first_screen_says_what_happens_to_kueue() -> None:
    """A configuration file replaces that of others; the operator's object keeps their kinds."""
    plain, classical = first(PLAIN), first(PLAIN, {CLUSTER: {"sharing": "classical"}})

    assert "replaces its whole configuration" in plain
    assert "without the label `ml.example.com/team` a new job stays suspended" in plain
    assert "`batch/job`, `jobset.x-k8s.io/jobset`, `trainer.kubeflow.org/trainjob` starts" in plain
    assert "Fair sharing" in plain
    assert "Fair sharing" not in classical
    assert "takes over `Kueue/cluster`" in first()
    assert "drained and rebooted" in first()
    assert "drained and rebooted" not in plain


def test_first_screen_of_a_cluster_that_spares_others_lets_it_be_applied() -> None:
    """The page *Begin beside what runs* goes on with this tree, and no day changes anything."""
    spares = {"pods": "audit", "queues": "site", "until": "2099-12-31", "reason": "teams move"}
    text = first(PLAIN, {CLUSTER: {"sharing": "classical", "adopt": spares}})

    assert "do not apply this tree" not in text
    assert "do not apply this tree" in first(PLAIN)
    assert "Nothing changes by itself" in text
    assert "admission only records, and without it refuses, each new pod" in text
    assert "until 2099-12-31, so" not in text
