"""Suggestions for names that do not exist."""

from __future__ import annotations

import pytest

from trainyard.model.nearest import nearest

KEYS = ["borrow", "claims", "folder", "quota", "runtimes", "spaces", "storage"]
NAMES = ["cpu-epyc", "dgx-h100", "kubernetes-1.36", "openmpi-cuda", "openshift-ai-3.5", "prod-east"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("borow", "borrow"),
        ("qouta", "quota"),
        ("runtime", "runtimes"),
        ("Storage", "storage"),
        ("openmp-cuda", "openmpi-cuda"),
        ("prod-esat", "prod-east"),
        ("openshft-ai-3.5", "openshift-ai-3.5"),
    ],
)
def test_slip_is_found(name: str, meant: str) -> None:
    assert nearest(name, [*KEYS, *NAMES]) == meant


@pytest.mark.parametrize(
    "name",
    ["namespace", "node", "openshift-ai-3.6", "kubernetes-1.37", "dgx-h200", "dgx-h1000", ""],
)
def test_another_word_version_or_type_is_no_slip(name: str) -> None:
    """Who follows such a suggestion has a tree for another thing than the one meant."""
    assert nearest(name, [*KEYS, *NAMES]) == ""
