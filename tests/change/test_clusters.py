"""The objects of a cluster's folder, as they were committed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.rules.cases import changed
from trainyard.change.clusters import both_sides
from trainyard.generation.generate import Generation, check_loaded, generate
from trainyard.tree.disk import DiskTree
from trainyard.tree.lockfile import LOCKFILE, Lock, lock_bytes

CONFIGURATION = "node-files/xe9680-h200-kubelet-configuration.yaml"
LIMITS = "node-files/xe9680-h200-memlock.conf"
POLICY = "nodes/sriovnetworknodepolicy-xe9680-h200-rail-0.yaml"
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


def test_file_by_hand_whose_comments_alone_differ_asks_for_nothing(tmp_path: Path) -> None:
    """Who copied it to the nodes would restart kubelet there, and sync objects that are equal."""
    shutil.copytree(REPOSITORY / "overlays" / "lab", tmp_path / "lab")
    own = generate(REPOSITORY / "profiles", "../profiles/components", ("lab",))
    for path in (CONFIGURATION, LIMITS, POLICY):
        file = tmp_path / "lab" / path
        file.write_text(f"# An older comment.\n{file.read_text()}")

    def changes() -> dict[str, str]:
        return dict(both_sides(DiskTree(tmp_path), own.checked.platform, own, "lab").files)

    assert changes() == {}
    for path, old, new in ((CONFIGURATION, "250", "110"), (LIMITS, "infinity", "1G")):
        file = tmp_path / "lab" / path
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))
    assert changes() == {CONFIGURATION: "changed", LIMITS: "changed"}
    (tmp_path / "lab" / LIMITS).write_bytes(b"\xff\xfe")
    assert changes() == {CONFIGURATION: "changed", LIMITS: "changed"}
