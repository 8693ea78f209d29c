"""Launch path with real ranks: the runtimes' scripts, OpenSSH and Open MPI in namespaces."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.image import Image, images
from tests.e2e.network import Network
from tests.e2e.pods import Pod, waited
from tests.e2e.ranks import RANKS_PER_NODE, Job, make_job, runtime
from trainyard.golang import cache_folder

NODES = 4
pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("ranks")]

_PROGRAM = """
import ctypes, json, os, socket
mpi = ctypes.CDLL("libmpi.so.40", ctypes.RTLD_GLOBAL)
world = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world"))
integer = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_int"))
add = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_op_sum"))
assert mpi.MPI_Init(None, None) == 0
rank, size, total = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mpi.MPI_Comm_size(world, ctypes.byref(size))
assert mpi.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(total), 1, integer, add, world) == 0
report = {"rank": rank.value, "size": size.value, "total": total.value}
report |= {name: os.environ.get(name) for name in ("HOME", "FROM_THE_JOB")}
report |= {"host": socket.gethostname(), "cores": sorted(os.sched_getaffinity(0))}
report["ids"] = [os.getuid(), os.getgid(), *os.getgroups()]
print(json.dumps(report), flush=True)
mpi.MPI_Finalize()
"""
"""A rank that adds up all ranks' numbers over the network, and prints its environment."""


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
def job(
    network: Network, image: Image, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[MakeJob]:
    """Return a function that creates a job on four nodes of a runtime with some fields."""
    major = request.node.callspec.params["image"]
    made: list[Job] = []

    def make(release: str = "kubernetes-1.36", **fields: object) -> Job:
        body = runtime(release, {"libraries": {"openmpi": f"{major}.1"}, **fields})
        made.append(make_job(network, image, body, NODES, tmp_path))
        return made[-1]

    yield make
    for each in made:
        each.kill()


both = pytest.mark.parametrize(
    "image", ["4", "5"], indirect=True, ids=["openmpi-4.1.4", "openmpi-5.0.11"]
)


@both
@pytest.mark.parametrize(
    ("release", "ids"),
    [("kubernetes-1.36", (1000, 0, 1000)), ("openshift-ai-3.5", (1000680000, 0, 1000680000))],
)
def test_mpirun_starts_bound_ranks_on_every_node(
    job: MakeJob, release: str, ids: tuple[int, ...]
) -> None:
    """Ranks are in order, have the pod's environment, and are bound to different cores."""
    made = job(release)
    for node in made.nodes:
        node.environment["FROM_THE_JOB"] = 'a "b" $c \\d'

    lines = made.run(["mpirun", "python3", "-c", _PROGRAM]).splitlines()

    reports = [json.loads(line) for line in lines if line.startswith("{")]
    reports.sort(key=itemgetter("rank"))
    hosts = [made.launcher, *made.nodes]
    assert _values(reports, "host") == [pod.name for pod in hosts for _ in range(RANKS_PER_NODE)]
    _assert_world(reports)
    assert set(_values(reports, "HOME")) == {"/home/mpiuser"}
    assert set(_values(reports[RANKS_PER_NODE:], "FROM_THE_JOB")) == {'a "b" $c \\d'}
    assert set(map(tuple, _values(reports, "ids"))) == {ids}
    _assert_bound(reports)


@both
def test_small_launcher_starts_ranks_on_all_nodes_and_none_beside_itself(job: MakeJob) -> None:
    """Trainer gives a job's variables to the launcher alone, and `-x` passes them on."""
    made = job(launcherPod="small")
    made.launcher.environment |= {"FROM_THE_JOB": "named", "NOT_NAMED": "x"}

    lines = made.run(["mpirun", "-x", "FROM_THE_JOB", "python3", "-c", _PROGRAM]).splitlines()

    reports = [json.loads(line) for line in lines if line.startswith("{")]
    reports.sort(key=itemgetter("rank"))
    assert _values(reports, "host") == [
        pod.name for pod in made.nodes for _ in range(RANKS_PER_NODE)
    ]
    _assert_world(reports)
    assert set(_values(reports, "FROM_THE_JOB")) == {"named"}
    _assert_bound(reports)


@both
def test_small_launcher_waits_for_the_checkpoints_of_evicted_ranks(job: MakeJob) -> None:
    """Its pod has none of them, and stays until the last has ended."""
    made = job(launcherPod="small", grace="40s")
    _began(made, _CHECKPOINT)

    made.delete()

    assert len(made.written("saved-*")) == NODES * RANKS_PER_NODE, made.log
    assert made.launcher.code == 0, made.log


@pytest.mark.parametrize("image", ["5"], indirect=True, ids=["openmpi-5.0.11"])
def test_ranks_of_an_early_open_mpi_5_share_a_socket(job: MakeJob) -> None:
    """What versions before 5.0.10 get starts the ranks in order; the machine has one socket."""
    made = job(libraries={"openmpi": "5.0.9"})

    lines = made.run(["mpirun", "python3", "-c", _PROGRAM]).splitlines()

    reports = [json.loads(line) for line in lines if line.startswith("{")]
    reports.sort(key=itemgetter("rank"))
    _assert_world(reports)
    assert len(set(map(tuple, _values(reports, "cores")))) == 1


def _assert_world(reports: list[dict[str, Any]]) -> None:
    """Check the numbers of the ranks, and what each of them knows about all."""
    ranks = range(NODES * RANKS_PER_NODE)
    assert _values(reports, "rank") == list(ranks)
    assert set(_values(reports, "size")) == {len(ranks)}
    assert set(_values(reports, "total")) == {sum(ranks)}


def _assert_bound(reports: list[dict[str, Any]]) -> None:
    """Check that the two ranks of each node have one core each, and not the same."""
    for one, two in zip(reports[::2], reports[1::2], strict=True):
        assert (len(one["cores"]), len(two["cores"])) == (1, 1)
        assert one["cores"] != two["cores"]


def _values(reports: list[dict[str, Any]], key: str) -> list[Any]:
    return [report[key] for report in reports]


_CHECKPOINT = """
trap 'sleep 3; echo saved > /tmp/saved-$OMPI_COMM_WORLD_RANK; exit 0' TERM
touch /tmp/began-$OMPI_COMM_WORLD_RANK
while :; do sleep 0.2; done
"""


def _began(job: Job, command: str) -> None:
    """Start ranks and wait until each runs."""
    job.start(["mpirun", "bash", "-c", command])
    assert waited(lambda: len(job.written("began-*")) == NODES * RANKS_PER_NODE, 60), job.log


@both
def test_evicted_ranks_write_a_checkpoint(job: MakeJob) -> None:
    """SIGTERM reaches every rank, none is killed early, and pods end with their ranks."""
    made = job(grace="40s")
    _began(made, _CHECKPOINT)

    seconds = made.delete()

    assert len(made.written("saved-*")) == NODES * RANKS_PER_NODE, made.log
    assert max(seconds.values()) < 30, seconds
    assert made.launcher.code == 0, made.log
    assert {node.code for node in made.nodes} == {143}


@both
def test_sigterm_on_one_node_signals_its_ranks_only(job: MakeJob) -> None:
    """When these ranks fail, the job ends with their exit code."""
    made = job(grace="40s")
    _began(made, _CHECKPOINT.replace("exit 0", "exit 75"))
    node = made.nodes[1]

    node.signal(signal.SIGTERM)

    assert waited(
        lambda: len(list((node.written / "tmp").glob("saved-*"))) == RANKS_PER_NODE, 30
    ), made.log
    assert waited(lambda: made.launcher.code is not None and node.code is not None, 30), made.log
    assert (made.launcher.code, node.code) == (75, 143), made.log


@both
def test_rank_that_ignores_sigterm_is_killed_after_the_grace_period(job: MakeJob) -> None:
    """Ranks that ignore SIGTERM keep their pods no longer than the grace."""
    made = job(grace="5s")
    _began(
        made, "trap '' TERM; touch /tmp/began-$OMPI_COMM_WORLD_RANK; while :; do sleep 0.2; done"
    )

    seconds = made.delete()

    assert {node.code for node in made.nodes}.isdisjoint({0, 143})
    assert all(5 <= seconds[node.name] < 10 for node in made.nodes), seconds


@both
def test_children_of_a_rank_are_not_signalled(job: MakeJob) -> None:
    """A rank ends its data loaders itself, after it has written its checkpoint."""
    made = job(grace="40s")
    loader = """python3 -c 'import time; open("/tmp/loads", "w"); time.sleep(120)' & loader=$!;"""
    checkpoint = _CHECKPOINT.replace("echo", "kill -0 $loader && echo")
    _began(made, loader + checkpoint.replace("exit", "kill $loader; exit"))

    made.delete()

    assert len(made.written("saved-*")) == NODES * RANKS_PER_NODE, made.log


@pytest.mark.parametrize("image", ["4"], indirect=True)
def test_node_without_ranks_ends_at_once(job: MakeJob) -> None:
    """A job that has ended, or has not started, occupies no node."""
    made = job(grace="40s")
    for node in made.nodes:
        node.start()
    assert waited(lambda: all(node.probe("startupProbe") for node in made.nodes), 60)

    seconds = [node.delete() for node in made.nodes]

    assert max(seconds) < 5, seconds
    assert {node.code for node in made.nodes} == {143}


_AGENT = """#!/usr/bin/python3
import os, signal, subprocess, sys
def worker(rank):
    environment = {**os.environ, "TORCHELASTIC_RUN_ID": "none", "RANK": str(rank)}
    return subprocess.Popen(["bash", "-c", sys.argv[1]], env=environment)
workers = [worker(0), worker(1)]
def end(*_):
    for worker in workers:
        worker.kill()
    sys.exit(1)
signal.signal(signal.SIGTERM, end)
sys.exit(max(worker.wait() for worker in workers))
"""
"""The end of torchrun: its ranks have its variable, and it kills them within the grace period."""


def test_ranks_of_torchrun_have_the_whole_grace_period(network: Network, tmp_path: Path) -> None:
    """The hook signals the ranks only, so torchrun, process 1, does not kill them early."""
    body = runtime(
        "kubernetes-1.36", {"launcher": "torchrun", "libraries": {"torch": "2.6"}, "ranks": None}
    )
    (replicated,) = body["spec"]["template"]["spec"]["replicatedJobs"]
    template = replicated["template"]["spec"]["template"]["spec"]
    (agent := tmp_path / "torchrun").write_text(_AGENT)
    agent.chmod(0o755)
    pod = Pod(network, images(cache_folder())["4"], template, "job-node-0-0", tmp_path / "pod")
    pod.mounts["/usr/bin/torchrun"] = agent
    pod.create()
    (container,) = template["containers"]
    pod.start([*container["command"], _CHECKPOINT.replace("OMPI_COMM_WORLD_RANK", "RANK")])
    try:
        assert waited(
            lambda: len(list((pod.written / "tmp").glob("began-*"))) == RANKS_PER_NODE, 60
        ), pod.log
        seconds = pod.delete()
    finally:
        pod.kill()

    assert len(list((pod.written / "tmp").glob("saved-*"))) == RANKS_PER_NODE, pod.log
    assert (pod.code, 3 <= seconds < 20) == (0, True), seconds
