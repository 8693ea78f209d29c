"""Which runtimes can run an acceptance test, and the thresholds of their nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.cli.calls import REPOSITORY
from trainyard.generation.generate import check
from trainyard.model.acceptance import (
    TESTS,
    lacks,
    network_threshold,
    rail_threshold,
    reasons,
    settings,
)
from trainyard.model.launch import Launch
from trainyard.model.platform import Platform
from trainyard.model.space import Space
from trainyard_jobs.workflows.convert import tenant_of


@pytest.fixture(scope="module")
def platform() -> Platform:
    platform = check(REPOSITORY / "profiles").platform
    assert platform is not None
    return platform


@pytest.fixture(scope="module")
def space(platform: Platform) -> Callable[[str, str], Space]:
    def found(team: str, cluster: str) -> Space:
        tenant = tenant_of(platform, team, cluster)
        assert tenant is not None
        return tenant.spaces[0]

    return found


Found = Callable[[str, str], Space]


def _launch(space: Space, name: str) -> Launch:
    return next(each for each in space.launches if each.runtime.name == name)


@pytest.mark.parametrize(
    ("team", "cluster", "tests"),
    [
        ("nlp", "prod-east", TESTS),
        ("science", "lab", ("ranks", "storage")),
        ("robotics", "lab", ("ranks", "nccl", "storage")),
    ],
)
def test_team_has_the_tests_that_its_runtimes_can_run(
    team: str, cluster: str, tests: tuple[str, ...], space: Found
) -> None:
    """A share of a node has no neighbour by name, and a CPU node neither rails nor GPUs."""
    assert tuple(each.test for each in space(team, cluster).tests) == tests


def test_further_namespace_has_no_tests(platform: Platform) -> None:
    tenant = tenant_of(platform, "speech", "lab")

    assert tenant is not None
    assert [bool(each.tests) for each in tenant.spaces] == [True, False]


@pytest.mark.parametrize(
    ("test", "runtime", "nodes", "lacking"),
    [
        ("ranks", "torchrun", 2, "mpirun"),
        ("fabric", "openmpi-cuda", 1, "a second node"),
        ("storage", "openmpi-cuda", 2, "storage of the team"),
        ("nccl", "openmpi-cuda", 2, ""),
    ],
)
def test_lacking_is_named(test: str, runtime: str, nodes: int, lacking: str, space: Found) -> None:
    launch = _launch(space("nlp", "prod-east"), runtime)

    assert lacks(test, launch, nodes, mounts=False) == lacking


def test_runtime_that_fetches_data_runs_no_test(space: Found) -> None:
    launch = _launch(space("nlp", "prod-east"), "openmpi-cuda")
    steps = _launch(space("nlp", "prod-east"), "finetune").runtime.initializers
    fetching = replace(launch, runtime=replace(launch.runtime, initializers=steps))

    assert (
        lacks("ranks", fetching, 2, mounts=True) == "a start without fetching data (`initialize`)"
    )


def test_thresholds_follow_from_the_hardware(space: Found) -> None:
    launch = _launch(space("nlp", "prod-east"), "openmpi-cuda")
    slow = replace(launch, hardware=replace(launch.hardware, link_rate=200))

    assert (rail_threshold(launch), network_threshold(launch)) == (360, 314)
    # Eight rails with 200 Gb/s carry 200 GB/s, less than the ring of 370 GB/s.
    assert (rail_threshold(slow), network_threshold(slow)) == (180, 170)
    assert reasons("fabric", launch) == (
        "threshold of a rail: 360 Gb/s, 0.9 of the 400 Gb/s of hardware dgx-h100",
    )


def test_no_figure_is_invented(space: Found) -> None:
    """Of a share, of an unknown GPU and without rails."""
    launch = _launch(space("nlp", "prod-east"), "openmpi-cuda")
    assert launch.hardware.gpu is not None
    unknown = replace(launch.hardware.gpu, product="NVIDIA-L40S")
    other = replace(launch, hardware=replace(launch.hardware, gpu=unknown))
    share = _launch(space("robotics", "lab"), "openmpi-cuda")
    alone = replace(launch, fabric=None)

    assert {network_threshold(each) for each in (other, share, alone)} == {0}
    assert reasons("nccl", other) == ("thresholds: none is known of these nodes",)
    assert reasons("nccl", alone)[1].endswith("none is known without rails")
    told = settings("nccl", other, ())
    assert {"one=", "more=", "bytes=1G"} <= set(told)


def test_settings_say_what_the_script_asks_for(space: Found) -> None:
    launch = _launch(space("science", "lab"), "intel-mpi")
    nlp = _launch(space("nlp", "lab"), "openmpi-cuda")

    assert settings("ranks", launch, ())[0] == "mpirun=/opt/trainyard/mpirun"
    assert "link=Ethernet" in settings("fabric", nlp, ())
    assert "mounts=/mnt/a /mnt/b" in settings("storage", launch, ("/mnt/a", "/mnt/b"))
