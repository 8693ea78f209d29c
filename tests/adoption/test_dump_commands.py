"""The commands of the page dump each kind that some command reads of a dump."""

from __future__ import annotations

from pathlib import Path

from trainyard.model.importable import IMPORTED
from trainyard.model.readable import TABLE

PAGE = Path(__file__).resolve().parents[2] / "docs/how-to/bring-a-running-platform.md"
OF_REPLAY = {"jobsets.jobset.x-k8s.io", "replicasets.apps", "replicationcontrollers"}
"""Kinds with templates of pods that `fit --replay` alone reads."""


def test_page_dumps_each_kind_that_is_read() -> None:
    text = PAGE.read_text("utf-8")
    listed = text.partition('$ kinds="\n')[2].partition('\n"\n')[0].split()
    read = {each.name for each in (*IMPORTED, *TABLE) if not (each.only or each.within)}
    assert sorted(listed) == sorted(read | OF_REPLAY)


def test_page_dumps_the_single_objects_with_who_manages_the_rest() -> None:
    text = PAGE.read_text("utf-8")
    for each in (*IMPORTED, *TABLE):
        if each.only and each.only[0] != "openshift-gitops":
            namespace, name = each.only
            assert f"kubectl get configmap {name} -n {namespace} -o json" in text
    assert "kubectl get $kind -A --show-managed-fields -o json" in text
