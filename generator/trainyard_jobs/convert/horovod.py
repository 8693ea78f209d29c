"""The options of ``horovodrun`` as variables, or as options of ``mpirun``."""

from __future__ import annotations

from trainyard.model.quantity import whole_number
from trainyard_jobs.convert.arguments import Line, Option
from trainyard_jobs.convert.model import Kind
from trainyard_jobs.convert.options import (
    HOSTS,
    INTERFACE,
    KEPT,
    SAME,
    SSH,
    Ranks,
    Verdict,
    dropped,
    kept_number,
)
from trainyard_jobs.convert.words import words

_ELASTIC = words(
    """
    blacklist-cooldown-range host-discovery-script max-np max-num-proc min-np min-num-proc
    reset-limit slots slots-per-host
    """
)
_NUMBERS = frozenset({"np", "num-proc"})
_DROPPED = {
    **dict.fromkeys(words("H hostfile hosts"), HOSTS),
    **dict.fromkeys(words("i p ssh-identity-file ssh-port"), SSH),
    **dict.fromkeys(words("network-interface network-interfaces nics"), INTERFACE),
    "tcp": "the runtime chooses the transport",
    "binding-args": "the runtime maps and binds its ranks (`binding`)",
    "start-timeout": "the launcher starts when every node is ready",
}
_VARIABLES = {
    "autotune": "HOROVOD_AUTOTUNE",
    "autotune-log-file": "HOROVOD_AUTOTUNE_LOG",
    "cache-capacity": "HOROVOD_CACHE_CAPACITY",
    "cycle-time-ms": "HOROVOD_CYCLE_TIME",
    "hierarchical-allgather": "HOROVOD_HIERARCHICAL_ALLGATHER",
    "hierarchical-allreduce": "HOROVOD_HIERARCHICAL_ALLREDUCE",
    "log-level": "HOROVOD_LOG_LEVEL",
    "num-nccl-streams": "HOROVOD_NUM_NCCL_STREAMS",
    "timeline-filename": "HOROVOD_TIMELINE",
    "timeline-mark-cycles": "HOROVOD_TIMELINE_MARK_CYCLES",
}
"""Source: horovod/horovod:horovod/runner/common/util/config_parser.py@v0.28.1."""
_THRESHOLD = "fusion-threshold-mb"


def judge(option: Option, ranks: Ranks) -> Verdict:
    """Return what becomes of an option; one that stays is one of ``mpirun`` too."""
    if option.name in _ELASTIC:
        text = "a TrainJob has a fixed number of nodes: no elastic training"
        return dropped(text, Kind.REFUSED)
    if option.name in _NUMBERS:
        return _number(option.values[0], ranks)
    if option.name in _DROPPED:
        return dropped(_DROPPED[option.name])
    if option.name == "gloo":
        text = "MPI starts and connects the ranks: the image's Horovod must be built with MPI"
        return dropped(text, Kind.CHANGED)
    if option.name == "output-filename":
        return KEPT
    is_same = option.name in {*_VARIABLES, _THRESHOLD, "mpi", "mpi-args"}
    return SAME if is_same else dropped("mpirun has no such option")


def _number(number: str, ranks: Ranks) -> Verdict:
    return SAME if number == str(ranks.total) else kept_number(number, ranks)


def environment(line: Line) -> dict[str, str]:
    """Return the options that are variables of Horovod."""
    variables: dict[str, str] = {}
    for option in line.options:
        if option.name in _VARIABLES:
            variables[_VARIABLES[option.name]] = option.values[0] if option.values else "1"
        elif option.name == _THRESHOLD:
            variables["HOROVOD_FUSION_THRESHOLD"] = _bytes(option.values[0])
    return variables


def _bytes(megabytes: str) -> str:
    number = whole_number(megabytes)
    return megabytes if number is None else str(number << 20)
