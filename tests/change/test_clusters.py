"""The objects of a cluster's folder, as they were committed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.cases import changed
from trainyard.change.clusters import both_sides
from trainyard.generation.generate import Generation, check_loaded
from trainyard.tree.disk import DiskTree
from trainyard.tree.lockfile import LOCKFILE, Lock, lock_bytes

LISTS = (
    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n",
    "admission: [{name: x}]\n",
)


@pytest.mark.parametrize("text", LISTS, ids=["list of a unit", "fragment"])
def test_file_that_no_api_server_gets_is_no_object(tmp_path: Path, text: str) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "file.yaml").write_text(text)
    lock = Lock("", "", {"file.yaml": ()})
    (tmp_path / "lab" / LOCKFILE).write_bytes(lock_bytes(lock))
    nothing = Generation(check_loaded(changed({}), ()), ())

    sides = both_sides(DiskTree(tmp_path), None, nothing, "lab")

    assert sides.before == sides.after == {}
