"""Acceptance tests with real ranks: Open MPI and OpenSSH in namespaces, on a shared folder.

`ib_write_bw` of Debian does not start without an RDMA device, and `all_reduce_perf` needs GPUs: the
tests of their output are in tests/render/test_acceptance.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.image import images
from tests.e2e.network import Network
from tests.e2e.ranks import RANKS_PER_NODE, Job, make_job, runtime
from trainyard.golang import cache_folder
from trainyard.render.folder import script

NODES = 3
pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("ranks")]


@pytest.fixture
def network() -> Iterator[Network]:
    network = Network()
    yield network
    network.close()


@pytest.fixture(params=["4", "5"], ids=["openmpi-4.1.4", "openmpi-5.0.11"])
def job(network: Network, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Job]:
    """A job on three nodes that has not started."""
    body = runtime("kubernetes-1.36", {"libraries": {"openmpi": f"{request.param}.1"}})
    made = make_job(network, images(cache_folder())[request.param], body, NODES, tmp_path / "job")
    yield made
    made.kill()


def _rows(job: Job, test: str, **settings: str) -> list[list[str]]:
    """Run a test to its successful end, and return the rows of its table."""
    told = [f"{name}={value}" for name, value in {"mpirun": "mpirun", **settings}.items()]
    printed = job.run(["/bin/bash", "-c", script(test), f"test-{test}", *told])
    _, _, table = printed.rpartition("what   ")
    return [re.split(r" {2,}", line.strip()) for line in table.splitlines()[1:]]


def test_ranks_are_on_their_hosts_and_cores(job: Job) -> None:
    rows = _rows(job, "ranks", bound="yes")

    total = NODES * RANKS_PER_NODE
    assert rows[0] == ["ranks", "the job", str(total), str(total), "ok"]
    assert rows[1] == ["hosts", "the job", str(NODES), str(NODES), "ok"]
    assert len(rows) == 2 + 2 * NODES
    assert {row[-1] for row in rows} == {"ok"}


def test_storage_is_read_on_the_next_host(job: Job, tmp_path: Path) -> None:
    (home := tmp_path / "home").mkdir()
    home.chmod(0o777)
    for pod in job.pods.values():
        pod.mounts["/mnt/home"] = home
    rows = _rows(job, "storage", mounts="/mnt/home", megabytes="8")

    assert len(rows) == 3 * NODES
    assert [row[-1] for row in rows] == ["no threshold known", "no threshold known", "ok"] * NODES
    assert not list(home.iterdir())


_TWO = "import os, socket; print('8', os.environ['OMPI_COMM_WORLD_SIZE'] + '.5')"


def test_latency_runs_on_two_hosts(job: Job, tmp_path: Path) -> None:
    """One rank on each of two hosts, whatever the runtime binds and maps."""
    (tools := tmp_path / "tools").mkdir()
    latency = f'python3 -c "{_TWO}"; echo "$HOSTNAME"; sleep 1'
    programs = {"osu_latency": latency, "ib_write_bw": ":"}
    for name, body in programs.items():
        (tools / name).write_text(f"#!/bin/bash\n{body}\n")
        (tools / name).chmod(0o755)
        for pod in job.pods.values():
            pod.mounts[f"/usr/bin/{name}"] = tools / name
    two = "--map-by ppr:1:node -np 2"
    rows = _rows(job, "fabric", rails="0", link="InfiniBand", gbps="360", two=two)

    assert rows == [["latency, 8 bytes", "two hosts", "2.5 us", "no threshold known"]]
    printed = job.launcher.log.split()
    assert sum(pod in printed for pod in job.pods) == 2
