"""The health checks of the tree, run by Argo CD's own program."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.setup import OLD
from tests.rules.cases import platform_of
from trainyard.golang import cache_folder
from trainyard.render.unit import health_checks
from trainyard.yaml_io.emitter import emit
from trainyard_rehearsal.control_plane.argocd import checks_by_key
from trainyard_rehearsal.control_plane.build import find
from trainyard_rehearsal.control_plane.components import read_components
from trainyard_rehearsal.control_plane.fakes import STATUSES

pytestmark = pytest.mark.e2e

_UPDATING = "All nodes are updating to MachineConfig rendered-dgx-h100-1"
_PAUSED = "Pool is paused; will not update to MachineConfig rendered-dgx-h100-1"


def _pool(*, paused: bool = False, observed: int = 2, **conditions: str) -> dict[str, Any]:
    """Return a pool of generation 2; the given conditions, with their messages, are true."""
    names = ("Degraded", "NodeDegraded", "RenderDegraded", "Updated", "Updating")
    listed = [
        {
            "type": name,
            "status": "True" if name in conditions else "False",
            "message": conditions.get(name, ""),
        }
        for name in names
    ]
    if paused:
        listed[-1]["message"] = _PAUSED
    return {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfigPool",
        "metadata": {"name": "dgx-h100", "generation": 2},
        "spec": {"paused": paused},
        "status": {"observedGeneration": observed, "conditions": listed},
    }


def _new() -> dict[str, Any]:
    return {key: value for key, value in _pool().items() if key != "status"}


@pytest.mark.parametrize(
    ("pool", "status", "message"),
    [
        (_new(), "Progressing", "waiting for the machine-config operator"),
        (_pool(Updating=_UPDATING), "Progressing", _UPDATING),
        (
            _pool(Updated="All nodes are updated", observed=1),
            "Progressing",
            "waiting for the machine-config operator",
        ),
        (_pool(Updated="All nodes are updated"), "Healthy", "All nodes are updated"),
        (_pool(Updated="All nodes are updated", paused=True), "Healthy", "All nodes are updated"),
        (_pool(paused=True), "Suspended", _PAUSED),
        (
            _pool(Degraded="", NodeDegraded="Node gpu-7 is reporting", Updating=_UPDATING),
            "Degraded",
            "NodeDegraded",
        ),
        (
            _pool(RenderDegraded="bad Ignition", Updated="All nodes are updated"),
            "Degraded",
            "bad Ignition",
        ),
        (
            _pool() | {"status": STATUSES["MachineConfigPool"]},
            "Healthy",
            "written by the rehearsal",
        ),
    ],
    ids=[
        "new",
        "updating",
        "unobserved",
        "updated",
        "updated-paused",
        "paused",
        "degraded",
        "not-rendered",
        "stand-in",
    ],
)
def test_machine_config_pool_is_healthy_only_when_all_its_nodes_are_updated(
    pool: dict[str, Any], status: str, message: str, tmp_path: Path
) -> None:
    printed = _assessed(pool, tmp_path)
    assert f"STATUS: {status}\n" in printed
    assert message in printed


def _assessed(body: dict[str, Any], folder: Path) -> str:
    """Return what Argo CD's program prints about an object's health."""
    (site,) = platform_of(OLD.with_settings({})).sites
    _, checks = health_checks(site)
    settings = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "argocd-cm", "labels": {"app.kubernetes.io/part-of": "argocd"}},
        "data": checks_by_key(checks),
    }
    for name, content in {"object": body, "settings": settings}.items():
        (folder / f"{name}.yaml").write_bytes(emit(content))
    program = find(read_components(site.cluster.release.name), cache_folder()).programs["argocd"]
    done = subprocess.run(
        [
            *(
                str(program),
                "admin",
                "settings",
                "resource-overrides",
                "health",
                str(folder / "object.yaml"),
            ),
            *("--argocd-cm-path", str(folder / "settings.yaml")),
        ],
        env={**os.environ, "ARGOCD_BINARY_NAME": "argocd"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def _kueue(**conditions: str) -> dict[str, Any]:
    listed = [
        {"type": name, "status": value, "reason": "R", "message": "m"}
        for name, value in conditions.items()
    ]
    body = {"apiVersion": "kueue.openshift.io/v1", "kind": "Kueue", "metadata": {"name": "cluster"}}
    return {**body, "status": {"conditions": listed}} if listed else body


@pytest.mark.parametrize(
    ("kueue", "status"),
    [
        (_kueue(), "Progressing"),
        (_kueue(Available="False", Degraded="True"), "Progressing"),
        (_kueue(Available="True", Degraded="False"), "Healthy"),
        (_kueue() | {"status": STATUSES["Kueue"]}, "Healthy"),
    ],
    ids=["new", "starting", "available", "stand-in"],
)
def test_objects_of_kueue_wait_until_its_operator_has_started_it(
    kueue: dict[str, Any], status: str, tmp_path: Path
) -> None:
    assert f"STATUS: {status}\n" in _assessed(kueue, tmp_path)
