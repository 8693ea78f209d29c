"""The launch path with real ranks: the runtimes' own scripts, OpenSSH and Open MPI between network namespaces."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from generator.rehearse.build import cache_folder
from tests.e2e.image import Image, images
from tests.e2e.pods import Network
from tests.e2e.ranks import RANKS_PER_NODE, Job, make_job, runtime

NODES = 4
pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("ranks")]

_PROGRAM = """
import ctypes, json, os, socket
mpi = ctypes.CDLL("libmpi.so.40", ctypes.RTLD_GLOBAL)
world = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world"))
integer, add = (ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_" + name)) for name in ("int", "op_sum"))
assert mpi.MPI_Init(None, None) == 0
rank, size, total = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mpi.MPI_Comm_size(world, ctypes.byref(size))
assert mpi.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(total), 1, integer, add, world) == 0
said = {"rank": rank.value, "size": size.value, "total": total.value, "host": socket.gethostname()}
said |= {name: os.environ.get(name) for name in ("HOME", "FROM_THE_JOB")}
said |= {"cores": sorted(os.sched_getaffinity(0)), "ids": [os.getuid(), os.getgid(), *os.getgroups()]}
print(json.dumps(said), flush=True)
mpi.MPI_Finalize()
"""
"""A rank that adds up all ranks' numbers over the network, and tells what it finds around it."""


@pytest.fixture
def network() -> Iterator[Network]:
    network = Network()
    yield network
    network.close()


@pytest.fixture(scope="module")
def image(request: pytest.FixtureRequest) -> Image:
    """The image with a major version of Open MPI."""
    return images(cache_folder())[request.param]


MakeJob = Callable[..., Job]


@pytest.fixture
def job(network: Network, image: Image, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeJob]:
    """Make a job on four nodes of a runtime with some fields."""
    major = request.node.callspec.params["image"]
    made: list[Job] = []

    def make(release: str = "kubernetes-1.36", **fields: object) -> Job:
        body = runtime(release, {"libraries": {"openmpi": f"{major}.1"}, **fields})
        made.append(make_job(network, image, body, NODES, tmp_path))
        return made[-1]

    yield make
    for each in made:
        each.kill()


both = pytest.mark.parametrize("image", ["4", "5"], indirect=True, ids=["openmpi-4.1.4", "openmpi-5.0.11"])


@both
@pytest.mark.parametrize(
    ("release", "ids"), [("kubernetes-1.36", (1000, 0, 1000)), ("openshift-ai-3.5", (1000680000, 0, 1000680000))]
)
def test_ranks_of_four_nodes_talk(job: MakeJob, release: str, ids: tuple[int, ...]) -> None:
    """`mpirun` without an option starts each node's ranks there, in order, with the pod's environment, bound apart."""
    made = job(release)
    for node in made.nodes:
        node.environment["FROM_THE_JOB"] = 'a "b" $c \\d'

    lines = made.run(["mpirun", "python3", "-c", _PROGRAM]).splitlines()

    said = sorted((json.loads(line) for line in lines if line.startswith("{")), key=lambda each: each["rank"])
    ranks = range(NODES * RANKS_PER_NODE)
    assert [each["rank"] for each in said] == list(ranks)
    assert {(each["size"], each["total"]) for each in said} == {(len(ranks), sum(ranks))}
    hosts = [made.launcher, *made.nodes]
    assert [each["host"] for each in said] == [pod.name for pod in hosts for _ in range(RANKS_PER_NODE)]
    assert {each["HOME"] for each in said} == {"/home/mpiuser"}
    assert {each["FROM_THE_JOB"] for each in said[RANKS_PER_NODE:]} == {'a "b" $c \\d'}
    assert {tuple(each["ids"]) for each in said} == {ids}
    for one, two in zip(said[::2], said[1::2], strict=True):
        assert (len(one["cores"]), len(two["cores"])) == (1, 1)
        assert one["cores"] != two["cores"]
