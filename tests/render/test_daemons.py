"""Daemons of others that the taints of the pools' nodes keep away, in the cluster's README."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from typing import Any

import pytest

from tests.resolve.changes import CLUSTER, HARDWARE, together
from tests.rules.cases import platform_of
from trainyard.model.platform import Site
from trainyard.render.daemons import daemons
from trainyard.render.unit import readme

PLAIN: dict[str, Any] = {CLUSTER: {"release": "kubernetes-1.36", "argocd": None}}
OTHER: dict[str, Any] = {HARDWARE: {"taint": "corp.internal/gpus"}}
ODF, ROOK = "openshift-storage.cephfs.csi.ceph.com", "rook-ceph-operator-config"
_PATCH = re.compile(r"^ +(\S.* (?:patch|upgrade) .*)$", re.MULTILINE)


def site(*changes: dict[str, Any]) -> Site:
    (found,) = platform_of(together(*changes)).sites
    return found


def tolerated(page: str) -> dict[str, list[str]]:
    """Return the keys that each command of a README has a daemon tolerate, by its object."""
    found = {}
    for line in _PATCH.findall(page):
        words = shlex.split(line)
        if "tolerations" in words[-1].lower():
            found[words[words.index("patch") + 2] if "patch" in words else words[3]] = _keys(
                words[-1]
            )
    return found


def _keys(text: str) -> list[str]:
    value = json.loads(text.partition("worker.tolerations=")[2] or text)
    if isinstance(value, dict):
        value = value.get("spec", value.get("data"))
        while isinstance(value, dict):
            (value,) = value.values()
    each = json.loads(value) if isinstance(value, str) else value
    assert all(one["effect"] == "NoSchedule" for one in each)
    return [one["key"] for one in each]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param([], {ODF: ["node.ocs.openshift.io/storage", "nvidia.com/gpu"]}, id="gpu"),
        pytest.param([PLAIN], {ROOK: ["nvidia.com/gpu"]}, id="plain-gpu"),
        pytest.param(
            [OTHER],
            {
                ODF: ["node.ocs.openshift.io/storage", "corp.internal/gpus"],
                "gpu-cluster-policy": ["corp.internal/gpus", "nvidia.com/gpu"],
            },
            id="other",
        ),
        pytest.param(
            [PLAIN, OTHER],
            {
                ROOK: ["corp.internal/gpus"],
                "cluster-policy": ["corp.internal/gpus", "nvidia.com/gpu"],
                "upgrade": ["corp.internal/gpus", "nvidia.com/gpu"],
                "nic-cluster-policy": ["corp.internal/gpus"],
            },
            id="plain-other",
        ),
    ],
)
def test_readme_has_each_daemon_tolerate_the_taints(
    changes: list[dict[str, Any]], expected: dict[str, list[str]]
) -> None:
    """Those that tolerate every taint by themselves have no line."""
    assert tolerated(readme(site(*changes))) == expected


@pytest.mark.parametrize("changes", [{}, PLAIN], ids=["openshift", "plain"])
def test_nothing_is_kept_from_nodes_without_taint(changes: dict[str, Any]) -> None:
    cluster = site(changes).cluster
    pools = [replace(pool, hardware=replace(pool.hardware, taint="")) for pool in cluster.pools]
    assert [*daemons(replace(cluster, pools=tuple(pools)))] == []
    assert [*daemons(cluster)] != []


@pytest.mark.parametrize(("logs", "release"), [({}, PLAIN), ({}, {}), (None, PLAIN)])
def test_log_collector_tolerates_the_taints(
    logs: dict[str, Any] | None, release: dict[str, Any]
) -> None:
    """On OpenShift the tree's forwarder has them, and without logs nobody collects."""
    stated = {CLUSTER: {"monitoring": {"logs": logs}}} if logs is not None else {}
    page = readme(site(release, OTHER, stated))

    command = "--set-json 'tolerations=" + json.dumps(
        [{"key": "corp.internal/gpus", "operator": "Exists", "effect": "NoSchedule"}],
        separators=(",", ":"),
    )
    assert (command in page) is (logs is not None and release is PLAIN)


def test_readme_lists_the_daemons_that_no_profile_names() -> None:
    """An agent of a cloud, of security or of a secret store is the site's own."""
    page = readme(site(OTHER))

    assert "oc get daemonsets --all-namespaces -o custom-columns=" in page
    assert "each other DaemonSet that the nodes need adds `corp.internal/gpus`" in page


def test_adopted_volumes_have_no_storage_class_to_ask() -> None:
    """Their volumes name the driver; other classes are asked for beside them."""
    adopted = {"imagenet": {"adopted": {"class": "trainyard-adopted"}}}
    page = readme(site({CLUSTER: {"storage": adopted}}))

    assert "volumes of class `trainyard-adopted` (without a StorageClass)" in page
    assert "StorageClass/trainyard-adopted" not in page
    assert re.search(r"get storageclass [a-z -]+ -o .*; oc get persistentvolumes -o custom", page)
    assert not re.search(r"get storageclass [^;]*trainyard-adopted", page)


def test_owner_of_a_class_cannot_break_the_line() -> None:
    owner = {CLUSTER: {"external": {"StorageClass/cephfs": "storage | team"}}}
    assert r"storage \| team" in readme(site(owner))
