"""Runtimes and their hardware, and the storage of the teams that use them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import broken, messages

CLUSTER, NLP, VISION, RUNTIME = (
    "clusters/prod-east.yaml",
    "teams/nlp.yaml",
    "teams/vision.yaml",
    "runtimes/openmpi-cuda.yaml",
)
INITIALIZE = {
    "image": f"registry.example.com/ml/initializer@sha256:{'0' * 64}",
    "volume": "scratch",
    "dataset": True,
}


def second_pool(**hardware: Any) -> dict[str, Any]:
    """Return changes that put the base's runtime and a team on nodes of a second kind too."""
    return {
        "hardware/other.yaml": {
            "extends": "nvidia-dgx-h100",
            "labels": {"example.com/kind": "other"},
            **hardware,
        },
        CLUSTER: {"pools": {"other": {"nodes": 5, "reserve": 1}}},
        NLP: {"quota": {"prod-east": {"other": {"nodes": 4}}}},
        RUNTIME: {"hardware": ["dgx-h100", "other"]},
    }


def server(product: str, **changes: Any) -> dict[str, Any]:
    """Return a server with all of its facts, so that it keeps none of another product."""
    return {
        "extends": "nvidia-l40s-4",
        "cpu": {"sockets": 2, "cores": 64, "threads": 128},
        "numaNodes": 2,
        "memory": "1Ti",
        "ephemeralStorage": "1Ti",
        "gpu": {"product": product},
        **changes,
    }


@pytest.mark.parametrize(
    ("fabric", "breaks"),
    [("gpudirect", True), ("rdma", True), ("tcp", False), ("isolated", False), (None, False)],
)
def test_only_an_explicit_rdma_fabric_needs_rails(fabric: str | None, *, breaks: bool) -> None:
    """Without `fabric`, ranks use the fastest transport of each node."""
    changes = second_pool(nics=[])
    changes[RUNTIME]["fabric"] = fabric

    assert bool(messages("runtime/fabric-without-rails", changes)) is breaks


@pytest.mark.parametrize(
    ("hardware", "breaks"),
    [
        (server("NVIDIA-GH200-480GB"), True),
        (server("NVIDIA-GB300"), True),
        (server("NVIDIA-H200"), False),
        (server("NVIDIA-H200", arch="arm64"), True),
        (server("NVIDIA-GB200", arch="amd64"), False),
    ],
)
def test_architecture_is_stated_or_follows_from_the_product(
    hardware: dict[str, Any], *, breaks: bool
) -> None:
    """What a profile states takes precedence over what follows."""
    assert bool(messages("runtime/wrong-architecture", second_pool(**hardware))) is breaks


def test_only_runtimes_on_gpus_state_cuda() -> None:
    cpu = {"sockets": 2, "cores": 128, "threads": 256}
    changes = second_pool(extends="cpu-node", cpu=cpu, memory="1Ti", ephemeralStorage="1Ti")
    changes[RUNTIME] |= {"hardware": ["other"], "libraries": {"openmpi": "4.1.6", "cuda": None}}

    assert "runtime/unstated-cuda" not in broken(changes)


@pytest.mark.parametrize(
    ("storage", "findings"),
    [
        ({"scratch": "1Ti"}, 0),
        ({"home": "1Ti"}, 1),
        ({"checkpoints": "vision"}, 1),
    ],
)
def test_space_requests_its_own_volume(storage: dict[str, str], findings: int) -> None:
    """A space does not have the team's storage, and a bucket is not a claim."""
    changes = {
        RUNTIME: {
            "initialize": {
                **INITIALIZE,
                "volume": "checkpoints" if "checkpoints" in storage else "scratch",
            }
        },
        NLP: {"storage": {"checkpoints": None} if "checkpoints" in storage else {}},
        VISION: {"storage": {"scratch": "1Ti"}, "spaces": {"interactive": {"storage": storage}}},
    }
    found = [
        each
        for each in messages("runtime/volume-without-claim", changes)
        if "vision-interactive" in each
    ]

    assert len(found) == findings


def test_runtime_without_steps_needs_no_volume() -> None:
    """`initialize` with neither a dataset nor a model makes no step."""
    changes = {
        RUNTIME: {"initialize": {**INITIALIZE, "dataset": False}},
        NLP: {"storage": {"scratch": None}},
    }

    assert messages("runtime/volume-without-claim", changes) == []
