"""What the acceptance tests find in the output of mpirun, perftest, nccl-tests and OSU."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.render.acceptance import Stage, mac
from trainyard.model.acceptance import TESTS
from trainyard.render.folder import script

OK = "ok"
UNKNOWN = "no threshold known"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


@pytest.mark.parametrize("test", TESTS)
def test_script_is_bash_that_kubelet_leaves_alone(test: str) -> None:
    """kubelet reads two dollars as one, and $(NAME) as a variable of the container."""
    done = subprocess.run(["bash", "-n", "-c", script(test)], capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, b"")
    assert "$$" not in script(test)
    assert len(script(test)) < 16384


def _gpus(stage: Stage, number: int) -> None:
    for index in range(number):
        (stage.folder / f"nvidia{index}").touch()


def test_ranks_are_counted(stage: Stage) -> None:
    _gpus(stage, 2)
    ended = stage.run("ranks", gpus="2", whole="yes")

    assert ended.code == 0, ended.log
    assert ended.rows == [
        ["ranks", "the job", "4", "4", OK],
        ["hosts", "the job", "2", "2", OK],
        ["nodes", "the job", "2", "2", OK],
        ["ranks of a host", "job-node-0-0", "2", "2", OK],
        ["GPUs", "job-node-0-0", "2", "2", OK],
        ["ranks of a host", "job-node-0-1", "2", "2", OK],
        ["GPUs", "job-node-0-1", "2", "2", OK],
    ]
    assert ended.log.count("trainyard-rank ") == 4


def test_ranks_that_are_missing_or_together_fail(stage: Stage) -> None:
    stage.environment["ABSENT"] = "2 3"
    stage.nodes = ("one", "one")
    ended = stage.run("ranks", gpus="1", whole="yes", bound="yes")

    assert ended.code == 1
    assert ended.verdicts("ranks") == ["FAILED", OK, "FAILED"]
    assert ended.verdicts("nodes") == ["FAILED"]
    assert ended.verdicts("GPUs") == ["FAILED", "FAILED"]
    assert ended.verdicts("sets of cores") == ["FAILED", "FAILED"]


def test_pods_of_shares_may_be_on_one_node(stage: Stage) -> None:
    stage.nodes = ("one", "one")

    assert stage.run("ranks").code == 0


PERFTEST = """echo ' WARNING: BW peak won'"'"'t be measured in this run.'
echo '                    RDMA_Write BW Test'
echo ' Dual-port       : OFF		Device         : mlx5_0'
echo ' Mtu             : 4096[B]'
echo ' Link type       : IB'
echo ' remote address: LID 0x1922 QPN 0x0855 PSN 0xc6797b RKey 0x1fffb9 VAddr 0x007f71dddd9000'
echo ' #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]'
echo "Conflicting CPU frequency values detected: 2428.573000 != 3004.218000."
printf ' 65536      3702216        0.00               %s   \\t\\t   0.748106\\n' "$FIGURE"
"""
MEASURED = "-s 8388608 -F --report_gbits -D 5 --perform_warm_up"
SERVES = "last=${*: -1}\n[[ $last == job-* ]] || exit 0\n"
RAILS = {"rails": "2", "link": "InfiniBand", "gbps": "360", "two": "--map-by ppr:1:node -np 2"}


@pytest.mark.parametrize(
    ("figure", "code", "verdict"),
    [
        ("392.17", 0, OK),
        ("360", 0, OK),
        ("359.99", 1, "FAILED"),
        ("-17.2", 1, "FAILED: no figure"),
        ("", 1, "FAILED: no figure"),
    ],
)
def test_each_rail_has_its_bandwidth(stage: Stage, figure: str, code: int, verdict: str) -> None:
    stage.rail(0, "mlx5_0")
    stage.rail(1, "rocep26s0f0v1")
    stage.environment["FIGURE"] = figure
    stage.tool("ib_write_bw", SERVES + 'echo "asked: $*" >&2\n' + PERFTEST)
    ended = stage.run("fabric", **RAILS)

    assert ended.code == code, ended.log
    assert ended.verdicts("rail") == [verdict] * 4
    assert [row[1] for row in ended.rows[::2]] == [
        "job-node-0-0 to job-node-0-1",
        "job-node-0-1 to job-node-0-0",
    ]
    asked = f"asked: -d rocep26s0f0v1 -p 18516 {MEASURED} job-node-0-1.job"
    assert asked in ended.log


def test_three_hosts_are_three_pairs(stage: Stage) -> None:
    """No host is in two pairs of a round; the last pair has a round of its own."""
    stage.hosts = 3
    stage.rail(0, "mlx5_0")
    stage.environment["FIGURE"] = "390.0"
    stage.tool("ib_write_bw", SERVES + PERFTEST)
    ended = stage.run("fabric", **{**RAILS, "rails": "1"})

    assert ended.code == 0, ended.log
    assert [row[1] for row in ended.rows] == [
        "job-node-0-0 to job-node-0-1",
        "job-node-0-1 to job-node-0-2",
        "job-node-0-2 to job-node-0-0",
    ]


def test_rail_of_another_link_or_without_device_fails(stage: Stage) -> None:
    stage.rail(0, "mlx5_0", "Ethernet")
    stage.environment["FIGURE"] = "390.0"
    stage.tool("ib_write_bw", SERVES + 'echo "asked: $*" >&2\n' + PERFTEST)
    ended = stage.run("fabric", **RAILS)

    assert ended.code == 1
    assert ended.verdicts("rail 0") == ["FAILED: the rail's device", OK] * 2
    assert ended.verdicts("rail 1") == ["FAILED: the rail's device", "FAILED: no figure"] * 2
    assert f"{MEASURED} -x 3 job-node-0-1.job" in ended.log


def test_each_rail_runs_on_the_cpus_beside_its_card(stage: Stage) -> None:
    """Also where the rank that starts it is bound to another CPU."""
    last = len(os.sched_getaffinity(0)) - 1
    stage.rail(0, "mlx5_0", cpus=str(last))
    stage.rail(1, "mlx5_1", cpus="0-999")
    stage.environment["FIGURE"] = "390.0"
    allowed = r"sed -n 's/^Cpus_allowed_list:\s*//p' /proc/self/status"
    stage.tool("ib_write_bw", SERVES + f'echo "$2 on $({allowed})" >&2\n' + PERFTEST)
    stage.slots = 1
    ended = stage.run("fabric", **RAILS, bound="0")

    every = f"0-{last}" if last else "0"
    assert ended.log.count(f"mlx5_0 on {last}\n") == 2
    assert ended.log.count(f"mlx5_1 on {every}\n") == 2


CUDA = '[[ $* != --help ]] || { echo "      --use_cuda=<cuda device id>"; exit 1; }\n'
DMABUF = CUDA.replace("exit", 'echo "      --use_cuda_dmabuf"; exit')


@pytest.mark.parametrize(
    ("perftest", "module", "option"),
    [
        (CUDA, False, "--use_cuda=%d"),
        (DMABUF, False, "--use_cuda=%d --use_cuda_dmabuf"),
        (DMABUF, True, "--use_cuda=%d"),
    ],
    ids=["peermem-only", "dmabuf", "peermem-loaded"],
)
def test_memory_of_the_gpu_beside_each_rail(
    stage: Stage, perftest: str, module: bool, option: str
) -> None:
    stage.rail(0, "mlx5_0")
    stage.rail(1, "mlx5_1")
    if module:
        (stage.folder / "module/nvidia_peermem").mkdir(parents=True)
    body = 'case "$*" in *--use_cuda=6*) FIGURE=180 ;; *) FIGURE=390 ;; esac\n'
    asked = 'echo "asked: $* in $CUDA_DEVICE_ORDER" >&2\n'
    stage.tool("ib_write_bw", perftest + SERVES + asked + body + PERFTEST)
    ended = stage.run("fabric", **RAILS, gpus="5 6")

    assert ended.code == 1, ended.log
    assert [row[0] for row in ended.rows] == [
        name for number in (0, 1) for name in (f"rail {number}", f"rail {number}, GPU memory")
    ] * 2
    assert [row[-1] for row in ended.rows] == [OK, OK, OK, "FAILED"] * 2
    for gpu in (5, 6):
        assert f"{MEASURED} {option % gpu} job-node-0-1.job in PCI_BUS_ID" in ended.log


def test_perftest_without_cuda_measures_no_gpu(stage: Stage) -> None:
    """The package of a distribution has none."""
    stage.rail(0, "mlx5_0")
    stage.environment["FIGURE"] = "390.0"
    stage.tool("ib_write_bw", SERVES + PERFTEST)
    ended = stage.run("fabric", **{**RAILS, "rails": "1"}, gpus="0")

    assert ended.code == 0, ended.log
    assert ended.verdicts("rails, GPU") == ["not measured: perftest of the image has no CUDA"]


ROCE = {**RAILS, "link": "Ethernet", "tclass": "106"}


def _roce(stage: Stage, hosts: int) -> None:
    stage.hosts = hosts
    for number in (0, 1):
        stage.rail(number, f"mlx5_{number}", "Ethernet")
    for host in range(hosts):
        others = [each for each in range(hosts) if each != host]
        answers = {(each, number): mac(each, number) for each in others for number in (0, 1)}
        stage.neighbours(host, answers)
    stage.environment["FIGURE"] = "390.0"
    stage.tool("ib_write_bw", SERVES + 'echo "asked: $*" >&2\n' + PERFTEST)


def test_roce_has_its_traffic_class_and_fills_the_queues(stage: Stage) -> None:
    """All hosts write to the first one at once; no figure of a good switch is known."""
    _roce(stage, 3)
    ended = stage.run("fabric", **ROCE)

    assert ended.code == 0, ended.log
    assert ended.verdicts("neighbours") == [OK] * 6
    queues = [row for row in ended.rows if "all to one" in row[0]]
    assert queues == [
        [f"rail {number}, all to one", "job-node-0-0", "780 Gb/s", UNKNOWN] for number in (0, 1)
    ]
    sent = [line for line in ended.log.splitlines() if line.startswith("asked: ")]
    assert len(sent) == 6 + 4
    assert all(f"{MEASURED} --tclass=106 -x 3 job-node" in line for line in sent)
    ports = [line.split()[4] for line in sent if line.endswith("job-node-0-0.job")]
    assert len(ports) == 2 + 4


def test_two_hosts_have_no_queue_to_fill(stage: Stage) -> None:
    _roce(stage, 2)
    ended = stage.run("fabric", **ROCE)

    assert ended.code == 0, ended.log
    assert not [row for row in ended.rows if "all to one" in row[0]]


def test_address_that_another_rail_answers_for_fails(stage: Stage) -> None:
    """ARP flux: the first rail's address resolves to the second rail's port."""
    _roce(stage, 2)
    stage.neighbours(1, {(0, 0): mac(0, 1), (0, 1): mac(0, 1)})
    ended = stage.run("fabric", **ROCE)

    assert ended.code == 1
    found = [row for row in ended.rows if row[0].startswith("neighbours")]
    assert [row[1:] for row in found] == [
        ["job-node-0-0", "1", "1", OK],
        ["job-node-0-0", "1", "1", OK],
        ["job-node-0-1", "0", "1", "FAILED"],
        ["job-node-0-1", "1", "1", OK],
    ]


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("packet_seq_err", "FAILED: packets were sent again"),
        ("local_ack_timeout_err", "FAILED: packets were sent again"),
        ("out_of_sequence", UNKNOWN),
        ("np_cnp_sent", UNKNOWN),
    ],
)
def test_counters_are_compared_before_and_after(stage: Stage, name: str, verdict: str) -> None:
    """What was counted before the test does not matter."""
    _roce(stage, 2)
    names = ("packet_seq_err", "local_ack_timeout_err", "out_of_sequence", "np_cnp_sent")
    for each in names:
        stage.counter(0, "mlx5_0", each, 700)
        stage.counter(1, "mlx5_1", each, 7)
    counter = f"{stage.folder}/job-node-0-1/class/infiniband/mlx5_1/ports/1/hw_counters/{name}"
    stage.tool("ib_write_bw", f"echo 12 > {counter}\n" + SERVES + PERFTEST)
    ended = stage.run("fabric", **ROCE)

    found = {row[0]: row[2:] for row in ended.rows if row[0] in names}
    assert found.pop(name) == ["5", verdict]
    assert set(map(tuple, found.values())) == {("0", OK), ("0", UNKNOWN)}
    assert ended.code == (1 if verdict.startswith("FAILED") else 0)


def test_port_without_counters_is_no_proof(stage: Stage) -> None:
    _roce(stage, 2)
    ended = stage.run("fabric", **ROCE)

    assert ended.verdicts("packet_seq") == ["not measured: the port has no such counter"]


OSU = {
    "5": "# OSU MPI Latency Test v5.9\\n# Size          Latency (us)\\n8                  1.65",
    "7": "\\n# OSU MPI Latency Test v7.4\\n# Datatype: MPI_CHAR.\\n"
    "# Size       Avg Latency(us)\\n8                       1.65",
}
UCX = "[1624984398.08] [h:22453:0]  ucp_worker.c:1720 UCX  INFO  ep_cfg[1]: tag(%s);\\n"


@pytest.mark.parametrize("version", OSU)
def test_latency_is_shown_where_the_image_has_the_benchmark(stage: Stage, version: str) -> None:
    stage.rail(0, "mlx5_0")
    stage.environment["FIGURE"] = "390.0"
    stage.tool("ib_write_bw", SERVES + PERFTEST)
    line = UCX % "self/memory rc_mlx5/mlx5_0:1"
    first = "[[ $OMPI_COMM_WORLD_RANK == 0 ]] || exit 0\n"
    stage.tool("osu_latency", f"{first}printf '{line}{OSU[version]}\\n'")
    ended = stage.run("fabric", **{**RAILS, "rails": "1"})

    assert ended.code == 0, ended.log
    assert ended.rows[-1] == ["latency, 8 bytes", "two hosts", "1.65 us", UNKNOWN]


@pytest.mark.parametrize("transports", ["tcp/eth0", "sysv/memory tcp/ib0"])
def test_mpi_over_tcp_fails(stage: Stage, transports: str) -> None:
    stage.rail(0, "mlx5_0")
    stage.environment["FIGURE"] = "390.0"
    stage.tool("ib_write_bw", SERVES + PERFTEST)
    stage.tool("osu_latency", f"printf '{UCX % transports}{OSU['5']}\\n'")
    ended = stage.run("fabric", **{**RAILS, "rails": "1"})

    assert ended.code == 1
    assert ended.rows[-1] == ["transport of MPI", "two hosts", "TCP", "FAILED: not the rails"]


IB = (
    "h:7:9 [6] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB/SHARP [1]mlx5_1:1/IB/SHARP [RO]; "
    "OOB eth0:10.1.2.3<0>\\nh:7:9 [6] NCCL INFO Using network IBext_v8\\n"
)
DIRECT = "h:7:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA\\n"
THROUGH = "h:7:9 [0] NCCL INFO Channel 01/0 : 8[0] -> 0[0] [receive] via NET/IB/4\\n"
NO_IB = (
    "h:7:9 [0] NCCL INFO NET/IB : No device found.\\nh:7:9 [0] NCCL INFO Using network Socket\\n"
)
SOCKET = "h:7:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/Socket/0\\n"
END = "# Out of bounds values : 0 OK\\n# Avg bus bandwidth    : %s \\n#\\n"
TWO = {
    "bytes": "16G",
    "gpus": "1",
    "one": "460",
    "more": "314",
    "rails": "2",
    "direct": "yes",
    "nvlink": "",
}


def _nccl(stage: Stage, log: str, end: str = END % "471.33") -> None:
    first = '[[ $OMPI_COMM_WORLD_RANK == 0 ]] || exit 0\necho "asked: $NCCL_ALGO $*" >&2\n'
    stage.tool("all_reduce_perf", f"{first}printf '{log}{end}'")


def test_all_reduce_runs_on_more_and_more_hosts(stage: Stage) -> None:
    """Two hosts use the ring: a tree would give more than the network has."""
    stage.hosts = 5
    _nccl(stage, IB + DIRECT)
    ended = stage.run("nccl", **TWO)

    assert ended.code == 0, ended.log
    reduced = [row for row in ended.rows if row[0] == "all-reduce"]
    assert [row[1] for row in reduced] == [f"{number} of 5 hosts" for number in (1, 2, 4, 5)]
    assert reduced[0][2:] == ["471.33 GB/s", "460 GB/s", OK]
    assert reduced[1][2:] == ["471.33 GB/s", "314 GB/s", OK]
    assert ended.verdicts("devices of NCCL") == [OK] * 3
    assert ended.log.count("asked: RING -b 16G -e 16G -g 1 -n 20") == 1


@pytest.mark.parametrize(
    ("log", "end", "what", "verdict"),
    [
        (IB + DIRECT, END % "312.9", "all-reduce", "FAILED"),
        (IB + DIRECT, END.replace("0 OK", "4 FAILED") % "471.3", "values", "FAILED: NCCL computed"),
        (IB + DIRECT, "", "all-reduce", "FAILED: no figure"),
        ("\\x1b[31m|%%q|\\n", "# Avg bus bandwidth : nan\\n", "all-reduce", "FAILED: no figure"),
        (NO_IB + SOCKET, END % "471.3", "network of NCCL", "FAILED: not the fabric"),
        (IB + SOCKET, END % "471.3", "network of NCCL", "FAILED: not the fabric"),
        (IB.replace("[1]mlx5_1:1/IB/SHARP ", ""), END % "471.3", "devices of NCCL", "FAILED"),
        (IB + DIRECT + THROUGH, END % "471.3", "GPUDirect RDMA", "FAILED: through the host's"),
    ],
    ids=["slow", "wrong", "truncated", "garbage", "tcp", "part-tcp", "lost-device", "no-gdr"],
)
def test_bad_networks_are_found(stage: Stage, log: str, end: str, what: str, verdict: str) -> None:
    _nccl(stage, log, end)
    ended = stage.run("nccl", **TWO)

    assert ended.code == 1, ended.out
    assert ended.verdicts(what)[-1].startswith(verdict)


EFA = (
    "h:7:9 [0] NCCL INFO NET/OFI Selected provider is efa, fabric is efa-direct (found %s nics)\\n"
    "h:7:9 [0] NCCL INFO Using network Libfabric\\n"
)
THROUGH_EFA = "h:7:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/Libfabric/0%s\\n"


@pytest.mark.parametrize(
    ("log", "what", "verdict"),
    [
        (EFA % 32 + THROUGH_EFA % "/GDRDMA", "devices of NCCL", OK),
        (EFA.replace("provider", "Provider") % 32, "devices of NCCL", OK),
        (EFA % 31 + THROUGH_EFA % "/GDRDMA", "devices of NCCL", "FAILED"),
        (EFA % 32 + THROUGH_EFA % "", "GPUDirect RDMA", "FAILED: through the host's"),
        (SOCKET, "devices of NCCL", "FAILED"),
        (SOCKET, "network of NCCL", "FAILED: not the fabric"),
    ],
)
def test_efa_is_found_in_the_log_of_its_plugin(
    stage: Stage, log: str, what: str, verdict: str
) -> None:
    """As aws-ofi-nccl writes it; an image without it falls back to sockets."""
    _nccl(stage, log)
    ended = stage.run("nccl", **{**TWO, "rails": "32"})

    assert ended.verdicts(what)[-1].startswith(verdict), ended.out


@pytest.mark.parametrize(
    ("log", "verdicts"),
    [
        (IB + "h:7:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 4[0] via P2P/MNNVL/CE\\n", []),
        (IB + DIRECT, ["FAILED: not in one NVLink domain"]),
    ],
    ids=["domain", "fabric"],
)
def test_nvlink_between_hosts_is_found(stage: Stage, log: str, verdicts: list[str]) -> None:
    """As NCCL writes it (NVIDIA/nccl:src/transport/p2p.cc); without it NCCL uses the fabric."""
    _nccl(stage, log, END % "471.3")
    ended = stage.run("nccl", **{**TWO, "nvlink": "yes"})

    assert ended.verdicts("NVLink between hosts")[-1:] == verdicts, ended.out


def test_sockets_are_right_without_rails(stage: Stage) -> None:
    """Nor is any figure known then."""
    _nccl(stage, NO_IB + SOCKET, END % "3.1")
    ended = stage.run("nccl", **{**TWO, "rails": "0", "direct": "", "one": "", "more": ""})

    assert ended.code == 0, ended.log
    assert ended.verdicts("all-reduce") == [UNKNOWN, UNKNOWN]


@pytest.mark.parametrize(
    ("test", "tool", "package"),
    [("fabric", "ib_write_bw", "perftest"), ("nccl", "all_reduce_perf", "nccl-tests")],
)
def test_missing_tool_is_named(stage: Stage, test: str, tool: str, package: str) -> None:
    ended = stage.run(test, **(RAILS if test == "fabric" else TWO))

    assert (ended.code, ended.out) == (69, "")
    assert f"trainyard: the image has no {tool}: " in ended.log
    assert package in ended.log


def test_storage_is_written_and_read_by_the_next_host(stage: Stage) -> None:
    home, scratch = stage.folder / "home", stage.folder / "scratch"
    home.mkdir()
    scratch.mkdir()
    ended = stage.run("storage", mounts=f"{home} {scratch}", megabytes="3")

    assert ended.code == 0, ended.log
    assert len(ended.rows) == 12
    assert ended.verdicts("content") == [OK] * 4
    assert set(ended.verdicts("write") + ended.verdicts("read")) == {UNKNOWN}
    assert all(row[2].endswith(" MB/s") for row in ended.rows if row[0].startswith("w"))
    assert not list(home.iterdir())
    assert not list(scratch.iterdir())


def test_mount_that_is_missing_or_not_shared_fails(stage: Stage) -> None:
    """Each host has a folder of its own in place of the shared one."""
    (folder := stage.folder / "home").mkdir()
    stage.tool(
        "dd", '/usr/bin/dd "$@"; for x in "$@"; do case $x in of=/*) : > "${x#of=}";; esac; done'
    )
    ended = stage.run("storage", mounts=f"{folder} /proc/nowhere", megabytes="1")

    assert ended.code == 1
    assert ended.verdicts(f"content {folder}") == ["FAILED: other content"] * 2
    assert ended.verdicts("content /proc/nowhere") == ["FAILED: other content"] * 2
    assert ended.verdicts("write /proc/nowhere") == ["FAILED: no figure"] * 2
