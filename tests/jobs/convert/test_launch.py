"""Calls of mpirun, mpiexec and horovodrun for a runtime."""

from __future__ import annotations

import shlex

import pytest

from trainyard_jobs.convert.arguments import HOROVODRUN, HYDRA, OPEN_MPI, read_line
from trainyard_jobs.convert.launch import Call, rewrite
from trainyard_jobs.convert.model import Kind
from trainyard_jobs.convert.options import Ranks

OPEN = Ranks("openmpi", 2, 8)
INTEL = Ranks("intel-mpi", 2, 8)


def called(text: str, ranks: Ranks = OPEN) -> Call:
    return rewrite(shlex.split(text), ranks)


def shown(call: Call) -> str:
    return shlex.join((*call.command, *call.args))


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("mpirun -np 16 ./a -np 4", "mpirun ./a -np 4"),
        ("mpirun --np=16 ./a", "mpirun ./a"),
        ("mpirun -n 8 ./a", "mpirun -n 8 ./a"),
        ("mpirun -np $N ./a", "mpirun -np '$N' ./a"),
        ("mpirun -bind-to none -map-by slot ./a", "mpirun --bind-to none --map-by slot ./a"),
        ("mpirun --bind-to core ./a", "mpirun ./a"),
        ("mpirun -rank-by slot ./a -rank-by slot", "mpirun --rank-by slot ./a -rank-by slot"),
        ("mpirun --map-by ppr:8:node --bind-to none ./a", "mpirun ./a"),
        ("mpirun --map-by ppr:4:node:PE=2 -np 8 ./a", "mpirun ./a"),
        ("mpirun -N 4 -npersocket 2 -np 8 ./a", "mpirun ./a"),
        ("mpirun --map-by ppr:2:socket ./a", "mpirun ./a"),
        ("mpirun --mca btl tcp,self -mca btl_tcp_if_exclude lo ./a", "mpirun ./a"),
        ("mpirun --gmca mtl psm2 --mca oob_tcp_if_include ib0 ./a", "mpirun ./a"),
        ("mpirun -mca btl_vader_single_copy_mechanism none ./a",) * 2,
        ("mpirun -x PATH -x LD_LIBRARY_PATH=/opt/x ./a", "mpirun -x PATH ./a"),
        (
            "mpirun -x NCCL_IB_PKEY=1 -x UCX_IB_PKEY -x NCCL_IB_QPS=2 ./a",
            "mpirun -x NCCL_IB_QPS=2 ./a",
        ),
        ("mpirun -x OMPI_MCA_btl_openib_if_include=mlx5_0 -x TP_SOCKET_IFNAME ./a", "mpirun ./a"),
        ("mpirun -npernode 8 ./a", "mpirun ./a"),
        ("mpirun -pernode ./a", "mpirun ./a"),
        ("mpirun -H a:8,b:8 --hostfile /etc/mpi/hostfile ./a", "mpirun ./a"),
        ("mpirun -mca pml ucx -mca btl ^openib,tcp ./a", "mpirun -mca pml ucx ./a"),
        ("mpirun -x A=B -x NCCL_IB_HCA ./a", "mpirun -x A=B ./a"),
        ("mpirun -np 8 ./a : -np 8 ./b", "mpirun -np 8 ./a : -np 8 ./b"),
        ("mpirun --unheard of ./a", "mpirun --unheard of ./a"),
        ("mpirun -- ./a", "mpirun ./a"),
        ("/opt/mpi/bin/mpirun -np 16 ./a", "mpirun ./a"),
        ("mpiexec -n 16 ./a", "mpirun ./a"),
    ],
)
def test_call_of_open_mpi_keeps_what_the_runtime_does_not_decide(text: str, result: str) -> None:
    assert shown(called(text)) == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("mpirun -n 16 -ppn 8 ./a", "./a"),
        ("mpirun -bind-to core -map-by l3 ./a -map-by", "-bind-to core -map-by l3 ./a -map-by"),
        (
            "mpiexec.hydra -f hosts -iface ib0 -genv OMP_NUM_THREADS 2 ./a",
            "-genv OMP_NUM_THREADS 2 ./a",
        ),
        ("/opt/intel/mpiexec -genv I_MPI_FABRICS shm:ofi -perhost 4 ./a", "./a"),
    ],
)
def test_call_of_intel_mpi_runs_the_script_of_the_runtime(text: str, result: str) -> None:
    assert shown(called(text, INTEL)) == f"/opt/trainyard/mpirun {result}"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("mpirun -np 8 ./a", Kind.CHANGED),
        ("mpirun -np 32 ./a", Kind.CHOOSE),
        ("mpirun -np $N ./a", Kind.CHOOSE),
        ("mpirun -npernode 4 ./a", Kind.CHANGED),
        ("mpirun --map-by ppr:2:socket ./a", Kind.CHOOSE),
        ("mpirun --bind-to core ./a", Kind.CHANGED),
        ("mpirun --allow-run-as-root ./a", Kind.DROPPED),
        ("/opt/mpi/bin/mpirun ./a", Kind.CHANGED),
        ("mpirun --unheard of ./a", Kind.CHOOSE),
        ("mpirun -np 8 ./a : ./b", Kind.CHOOSE),
        ("mpirun -np", Kind.CHOOSE),
        ("mpirun -q", Kind.REFUSED),
        ("horovodrun --min-np 2 ./a", Kind.REFUSED),
    ],
)
def test_what_is_lost_or_changed_is_remarked(text: str, kind: Kind) -> None:
    assert kind in {each for _, each, _, _ in called(text).remarks}


@pytest.mark.parametrize("text", ["mpirun -np 16 ./a", "mpirun -x A ./a", "mpirun -npernode 8 ./a"])
def test_what_means_the_same_is_not_remarked(text: str) -> None:
    assert called(text).remarks == ()


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        *(("mpirun -npernode 4 ./a", 4), ("mpirun -N 2 ./a", 2), ("mpirun -pernode ./a", 1)),
        *(("mpirun --map-by ppr:4:node:PE=3 ./a", 4), ("mpirun --map-by ppr:4:socket ./a", 0)),
        *(("mpirun -np 4 ./a", 0), ("mpirun -npernode $N ./a", 0)),
    ],
)
def test_call_states_the_ranks_of_each_node(text: str, slots: int) -> None:
    assert called(text).slots == slots


@pytest.mark.parametrize(
    "options",
    [
        *("--oversubscribe", "--map-by slot:OVERSUBSCRIBE", "-mca rmaps_base_oversubscribe 1"),
        "--prtemca rmaps_default_mapping_policy :oversubscribe",
    ],
)
def test_mpi_refuses_no_ranks_that_may_share_slots(options: str) -> None:
    meanings = [meaning for *_, meaning in called(f"mpirun {options} -np 32 ./a").remarks]

    assert any("ranks share them" in meaning for meaning in meanings)
    assert not any("refuses to start" in meaning for meaning in meanings)


@pytest.mark.parametrize(
    "options",
    [
        "",
        "--nooversubscribe",
        "--map-by slot:NOOVERSUBSCRIBE",
        "-mca rmaps_base_no_oversubscribe 1",
    ],
)
def test_mpi_refuses_more_ranks_than_slots(options: str) -> None:
    meanings = [meaning for *_, meaning in called(f"mpirun {options} -np 32 ./a").remarks]

    assert any("refuses to start" in meaning for meaning in meanings)


def test_hydra_gives_one_slot_to_several_ranks() -> None:
    ((_, _, what, meaning),) = called("mpirun -n 32 ./a", INTEL).remarks

    assert what == "`-n 32`"
    assert "ranks share them" in meaning


def test_remark_names_the_place_of_its_word() -> None:
    ((index, _, what, _),) = called("mpirun -x A --allow-run-as-root ./a").remarks

    assert (index, what) == (3, "`--allow-run-as-root`")


def test_options_of_horovodrun_become_variables_and_options() -> None:
    call = called(
        "horovodrun -np 16 --fusion-threshold-mb 32 --cycle-time-ms=3.5 --autotune --verbose "
        "--output-filename logs --mpi-args='-x A=1 --oversubscribe' python x.py"
    )

    assert shown(call) == "mpirun --output-filename logs -x A=1 --oversubscribe python x.py"
    assert call.env == {
        "HOROVOD_FUSION_THRESHOLD": "33554432",
        "HOROVOD_CYCLE_TIME": "3.5",
        "HOROVOD_AUTOTUNE": "1",
    }


def test_options_in_a_quote_that_is_not_closed_are_left_to_the_reader() -> None:
    call = rewrite(["horovodrun", "--mpi-args=-x 'A", "./a"], OPEN)

    assert shown(call) == "mpirun ./a"
    assert [(kind, what) for _, kind, what, _ in call.remarks][1:] == [
        (Kind.CHOOSE, "`--mpi-args`")
    ]


def test_option_without_its_value_ends_the_reading() -> None:
    assert read_line(["mpirun", "-mca", "pml"], OPEN_MPI).unknown == "-mca"
    assert read_line(["mpirun", "--mca=pml", "ucx"], OPEN_MPI).unknown == "--mca=pml"


def test_tables_of_options_name_each_once() -> None:
    for table in (OPEN_MPI, HYDRA, HOROVODRUN):
        assert set(table.values()) <= {0, 1, 2}
        assert not [name for name in table if name.startswith("-")]
