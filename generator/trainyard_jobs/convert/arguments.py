"""Read the options of the programs that start ranks: those of Open MPI, Hydra and Horovod.

Each accepts one dash or two, and a value after a space or, with two dashes, after ``=``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Option:
    """An option.

    Args:
        name: without dashes and value.
        values: that follow it.
        words: as they were written.
        index: of its first word.
    """

    name: str
    values: tuple[str, ...]
    words: tuple[str, ...]
    index: int


@dataclass(frozen=True, slots=True)
class Line:
    """A call of a program that starts ranks.

    Args:
        program: as it was written, maybe with a folder.
        options: up to the program of the ranks.
        rest: that program and its arguments; also what follows an unknown option.
        start: index of the first word of the rest.
        unknown: the option at which reading ended; empty when all were known.
    """

    program: str
    options: tuple[Option, ...]
    rest: tuple[str, ...]
    start: int
    unknown: str = ""

    @property
    def name(self) -> str:
        """Name of the program without its folder."""
        return PurePosixPath(self.program).name


def _arities(none: str, one: str, two: str = "") -> dict[str, int]:
    """Return how many values each option takes, from names by that number."""
    arities = dict.fromkeys(none.split(), 0)
    arities |= dict.fromkeys(one.split(), 1)
    return arities | dict.fromkeys(two.split(), 2)


OPEN_MPI = _arities(
    none="""allow-run-as-root bycore bynode byslot bysocket bind-to-core bind-to-none
        bind-to-socket display-allocation display-map do-not-launch enable-recovery
        merge-stderr-to-stdout no-ompi-prefix nolocal nooversubscribe novm oversubscribe pernode q
        quiet report-bindings tag-output timestamp-output use-hwthread-cpus v verbose xml""",
    one="""H N app bind-to c cpu-list cpu-set cpus-per-proc cpus-per-rank default-hostfile display
        dvm-uri host hostfile launch-agent machinefile map-by max-restarts n np npernode
        npersocket output output-filename path personality prefix preload-files prtemca-file
        rank-by rankfile report-uri rf runtime-options stdin timeout tmpdir tune wd wdir x""",
    two="gmca gpmixmca gprtemca mca omca pmixmca prtemca",
)
"""Sources: orterun of open-mpi/ompi@v4.1.6 (orte/tools/orterun), prterun of Open MPI 5."""

HYDRA = _arities(
    none="""debug enable-x disable-x envall envnone genvall genvnone l localonly nolocal
        order-nodes prepend-rank print-all-exitcodes print-rank-map silent-abort v verbose""",
    one="""bind-to binding bootstrap bootstrap-exec bootstrap-exec-args branch-count configfile
        demux envlist f genvlist host hostfile hosts iface info-key launcher launcher-exec
        machine machinefile map-by n np outfile-pattern perhost pmi-connect pmi-port ppn rmk rr s
        tmpdir topolib umask usize wdir""",
    two="env genv",
)
"""Sources: mpiexec.hydra of Intel MPI 2021 and MPICH 4."""

HOROVODRUN = _arities(
    none="""autotune cpu disable-cache gloo hierarchical-allgather hierarchical-allreduce jsrun mpi
        no-autotune no-hierarchical-allgather no-hierarchical-allreduce tcp
        timeline-mark-cycles verbose""",
    one="""H autotune-log-file binding-args blacklist-cooldown-range cache-capacity config-file
        cycle-time-ms fusion-threshold-mb gloo-timeout-seconds host-discovery-script hostfile hosts
        i log-level max-np max-num-proc min-np min-num-proc mpi-args mpi-threads-disable
        network-interface network-interfaces nics np num-proc num-nccl-streams output-filename p
        reset-limit slots slots-per-host ssh-identity-file ssh-port start-timeout
        timeline-filename""",
)
"""Source: horovod/horovod:horovod/runner/launch.py@v0.28.1."""


def read_line(words: Sequence[str], arities: Mapping[str, int]) -> Line:
    """Return the options of a call, up to the program of the ranks.

    Args:
        words: of the call, without a shell's quotes.
        arities: how many values each option takes.
    """
    options: list[Option] = []
    at = 1
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "--":
            at += 1
            break
        option = _option(words, at, arities)
        if option is None:
            return Line(words[0], tuple(options), tuple(words[at:]), at, words[at])
        options.append(option)
        at += len(option.words)
    return Line(words[0], tuple(options), tuple(words[at:]), at)


def _option(words: Sequence[str], at: int, arities: Mapping[str, int]) -> Option | None:
    """Return the option that a word begins; None when it is unknown or lacks a value."""
    name, equals, value = words[at].lstrip("-").partition("=")
    if name not in arities:
        return None
    if equals:
        return Option(name, (value,), (words[at],), at) if arities[name] == 1 else None
    end = at + 1 + arities[name]
    values = tuple(words[at + 1 : end])
    if len(values) < arities[name]:
        return None
    return Option(name, values, tuple(words[at:end]), at)
