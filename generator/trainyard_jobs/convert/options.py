"""Decide about each option of a call that starts ranks: the runtime gives hosts, ssh and slots."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from trainyard.model.launcher import INTEL_MPI
from trainyard.model.quantity import whole_number
from trainyard_jobs.convert.arguments import Line, Option
from trainyard_jobs.convert.foreign_variables import is_of_a_fabric, reason_to_drop
from trainyard_jobs.convert.model import Kind
from trainyard_jobs.convert.words import words

HOSTFILE: Final = "/etc/mpi/hostfile"
"""Of Trainer."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """What a job starts.

    Args:
        launcher: name of the launcher of its runtime.
        nodes: with ranks.
        slots: of each node.
    """

    launcher: str
    nodes: int
    slots: int

    @property
    def total(self) -> int:
        """Ranks of the job."""
        return self.nodes * self.slots


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of an option.

    Args:
        keep: whether it stays.
        meaning: of the note about it; empty for none.
    """

    keep: bool
    kind: Kind = Kind.DROPPED
    meaning: str = ""


KEPT: Final = Verdict(keep=True)
SAME: Final = Verdict(keep=False)
"""Of an option without which the job means the same."""


def dropped(meaning: str, kind: Kind = Kind.DROPPED) -> Verdict:
    """Return the verdict about an option that does not stay."""
    return Verdict(keep=False, kind=kind, meaning=meaning)


def judge(line: Line, option: Option, ranks: Ranks) -> Verdict:
    """Return what becomes of an option of ``mpirun`` or ``mpiexec``."""
    if option.name in _OF_JOB:
        return _of_job(line, option, ranks)
    if (number := _per_node(option)) is not None:
        return _of_node(number, ranks)
    if option.name in _DROPPED:
        return dropped(_DROPPED[option.name])
    if option.name in _OTHERS:
        return _OTHERS[option.name](line, option)
    return KEPT


_OF_JOB = frozenset({"c", "n", "np"})
_OF_NODE = frozenset({"N", "npernode", "perhost", "pernode", "ppn"})
_BY_NODE = re.compile(r"ppr:([0-9]+):node(?:$|:)")
"""A mapping of Open MPI that is a number of ranks of each node."""


def per_node(line: Line) -> int:
    """Return how many ranks a call starts on each node; 0 where it does not say so."""
    for option in line.options:
        if (number := _per_node(option)) is not None:
            return whole_number(number) or 0
    return 0


def _per_node(option: Option) -> str | None:
    """Return the ranks of each node that an option states; None for another option."""
    if option.name in _OF_NODE:
        return option.values[0] if option.values else "1"
    match = _BY_NODE.match(option.values[0]) if option.name == "map-by" else None
    return match[1] if match else None


HOSTS: Final = "Trainer names the nodes of the job"
SSH: Final = "the runtime reaches the sshd of its nodes in its own way"
GIVEN: Final = "Trainer sets it"
INTERFACE: Final = "the runtime names the interface of the pods"
_DROPPED = {
    **dict.fromkeys(words("H default-hostfile f host hostfile hosts machine machinefile"), HOSTS),
    **dict.fromkeys(words("bootstrap bootstrap-exec bootstrap-exec-args launch-agent"), SSH),
    **dict.fromkeys(words("launcher launcher-exec"), SSH),
    "allow-run-as-root": "no container runs as root",
    "iface": INTERFACE,
}


def may_stay(option: Option) -> bool:
    """Return whether an option that is left out would do no harm, such as Trainer's hostfile."""
    is_hosts = option.name in {"hostfile", "machinefile"}
    return option.name == "allow-run-as-root" or (is_hosts and option.values == (HOSTFILE,))


def _of_job(line: Line, option: Option, ranks: Ranks) -> Verdict:
    """Judge a number of ranks: without one a call starts as many as there are slots."""
    number = option.values[0]
    if ":" in line.rest:
        return KEPT
    shares = ranks.launcher == INTEL_MPI.name or any(map(_oversubscribes, line.options))
    return SAME if number == str(ranks.total) else kept_number(number, ranks, shares=shares)


_OVERSUBSCRIBES = re.compile(r"(?<!no)(?<!no_)oversubscribe(?!=(?:0|false))")


def _oversubscribes(option: Option) -> bool:
    """Return whether Open MPI may start more ranks than there are slots."""
    text = "=".join((option.name, *option.values)).lower()
    return _OVERSUBSCRIBES.search(text) is not None


def kept_number(number: str, ranks: Ranks, *, shares: bool = False) -> Verdict:
    """Return the verdict about a number of ranks that is not that of the slots.

    Args:
        number: as the call has it.
        ranks: of the job.
        shares: whether several ranks may have one slot: with Hydra always.
    """
    slots = f"the job has {ranks.nodes} x {ranks.slots} = {ranks.total} slots"
    if (wanted := whole_number(number)) is None:
        return Verdict(True, Kind.CHOOSE, f"{slots}; the number must not be larger")
    if wanted <= ranks.total:
        return Verdict(True, Kind.CHANGED, f"{slots}; the others stay empty")
    if shares:
        return Verdict(True, Kind.CHOOSE, f"{slots}: {_SHARED}")
    return Verdict(True, Kind.CHOOSE, f"{slots}: MPI refuses to start more ranks")


_SHARED = (
    "ranks share them, and a runtime that binds each rank to cores of its own may refuse: lower "
    "the number, or ask for more nodes"
)


def _of_node(number: str, ranks: Ranks) -> Verdict:
    if number == str(ranks.slots):
        return SAME
    text = f"each node starts {ranks.slots} ranks (numProcPerNode): write the program for them"
    return dropped(text, Kind.CHOOSE)


def _binding(line: Line, option: Option) -> Verdict:
    """Keep a binding beside its mapping: alone it contradicts the mapping of the runtime."""
    if _starts_other_numbers(option):
        text = "it states other numbers of ranks: the runtime fills the slots of each node"
        return dropped(text, Kind.CHOOSE)
    stay = {given.name for given in line.options if not _starts_other_numbers(given)}
    if {"bind-to", "map-by"} <= stay:
        return KEPT
    return dropped("the runtime maps and binds its ranks (`binding`)", Kind.CHANGED)


def _starts_other_numbers(option: Option) -> bool:
    """Return whether a mapping says how many ranks each socket, cache or node has."""
    is_mapping = option.name == "map-by" and option.values[0].startswith("ppr:")
    return is_mapping or option.name == "npersocket"


def _variable(_: Line, option: Option) -> Verdict:
    """Judge a variable of the ranks: one without a value has that of the job."""
    name, __, value = "=".join(option.values).partition("=")
    reason = variable(name, value) if value or is_of_a_fabric(name) else ""
    return dropped(reason) if reason else KEPT


_TCP = "it sends the messages of MPI over TCP; the runtime uses its rails"
_PARAMETERS = {
    **dict.fromkeys(words("orte_default_hostfile prte_default_hostfile"), HOSTS),
    **dict.fromkeys(words("orte_keep_fqdn_hostnames orte_set_default_slots"), GIVEN),
    **dict.fromkeys(words("plm plm_rsh_agent plm_rsh_args plm_ssh_agent plm_ssh_args"), SSH),
}
_TRANSPORT = "the runtime chooses what carries the messages of MPI"
_PATTERNS = {
    r"\w+_if_(?:in|ex)clude": INTERFACE,
    r"btl|mtl|oob|pml|mtl_\w+|(?:btl|oob)_(?:ofi|openib|ud|usnic)_\w+": _TRANSPORT,
}
_PREFIX = re.compile(r"(?:OMPI|PMIX|PRTE)_MCA_")


def parameter(name: str, value: str) -> str:
    """Return why a parameter of Open MPI does not stay; empty when it does."""
    if (name, value) == ("pml", "ucx"):
        return ""
    if (name, value) == ("pml", "ob1") or (name == "btl" and ("openib" in value or "tcp" in value)):
        return _TCP
    for pattern, reason in _PATTERNS.items():
        if re.fullmatch(pattern, name):
            return reason
    return _PARAMETERS.get(name, "")


def variable(name: str, value: str) -> str:
    """Return why a variable of a job does not stay; empty when it does."""
    if prefix := _PREFIX.match(name):
        return parameter(name[prefix.end() :], value)
    return reason_to_drop(name)


def _parameter(_: Line, option: Option) -> Verdict:
    meaning = parameter(*option.values)
    return dropped(meaning) if meaning else KEPT


_OTHERS: Mapping[str, Callable[[Line, Option], Verdict]] = {
    "bind-to": _binding,
    "env": _variable,
    "genv": _variable,
    **dict.fromkeys(words("gmca gpmixmca gprtemca mca omca pmixmca prtemca"), _parameter),
    "map-by": _binding,
    "npersocket": _binding,
    "x": _variable,
}
