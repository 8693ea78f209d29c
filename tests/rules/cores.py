"""Profiles of teams with cores of a node without GPUs."""

from __future__ import annotations

from typing import Any

CPU: dict[str, Any] = {
    "hardware/cpu.yaml": {
        "extends": "cpu-node",
        "cpu": {"sockets": 2, "cores": 64, "threads": 128},
        "memory": "512Gi",
        "ephemeralStorage": "894Gi",
        "system": {"cpu": 8},
        "taint": "ml.example.com/cpu",
    },
    "runtimes/openmpi-cuda.yaml": {"hardware": ["cpu", "dgx-h100"]},
}
"""A kind of node with 60 cores for teams."""


def on_cores(nlp: int, vision: int = 0, nodes: int = 1, **more: Any) -> dict[str, Any]:
    """Return teams that have cores in place of nodes, and a pool of some nodes without GPUs.

    Args:
        nlp: cores of this team.
        vision: of this one; 0 to leave it its nodes.
        nodes: of the pool.
        more: further keys of each quota.
    """

    def team(cores: int) -> dict[str, Any]:
        quota = {"dgx-h100": None, "cpu": {"cores": cores, **more}}
        return {"quota": {"prod-east": quota}, "largestJob": None}

    teams = {"nlp": nlp, "vision": vision}
    return {
        **CPU,
        "clusters/prod-east.yaml": {"pools": {"cpu": {"nodes": nodes}}},
        **{f"teams/{name}.yaml": team(cores) for name, cores in teams.items() if cores},
    }
