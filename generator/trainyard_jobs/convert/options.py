"""Decide about each option of a call that starts ranks: the runtime gives hosts, ssh and slots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from trainyard.model.quantity import whole_number
from trainyard_jobs.convert.arguments import Line, Option
from trainyard_jobs.convert.fabric_variables import MEANING, is_of_a_fabric
from trainyard_jobs.convert.model import Kind
from trainyard_jobs.convert.words import words


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
    if option.name in _OF_NODE:
        return _of_node(option, ranks)
    if option.name in _DROPPED:
        return dropped(_DROPPED[option.name])
    if option.name in _OTHERS:
        return _OTHERS[option.name](line, option)
    return KEPT


_OF_JOB = frozenset({"c", "n", "np"})
_OF_NODE = frozenset({"N", "npernode", "perhost", "pernode", "ppn"})

HOSTS: Final = "Trainer names the nodes of the job"
SSH: Final = "the runtime reaches the sshd of its nodes in its own way"
INTERFACE: Final = "the runtime names the interface of the pods"
_DROPPED = {
    **dict.fromkeys(words("H default-hostfile f host hostfile hosts machine machinefile"), HOSTS),
    **dict.fromkeys(words("bootstrap bootstrap-exec bootstrap-exec-args launch-agent"), SSH),
    **dict.fromkeys(words("launcher launcher-exec"), SSH),
    "allow-run-as-root": "no container runs as root",
    "iface": INTERFACE,
}


def _of_job(line: Line, option: Option, ranks: Ranks) -> Verdict:
    """Judge a number of ranks: without one a call starts as many as there are slots."""
    number = option.values[0]
    if ":" in line.rest:
        return KEPT
    return SAME if number == str(ranks.total) else kept_number(number, ranks)


def kept_number(number: str, ranks: Ranks) -> Verdict:
    """Return the verdict about a number of ranks that is not that of the slots."""
    slots = f"the job has {ranks.nodes} x {ranks.slots} = {ranks.total} slots"
    if (wanted := whole_number(number)) is None:
        return Verdict(True, Kind.CHOOSE, f"{slots}; the number must not be larger")
    if wanted > ranks.total:
        return Verdict(True, Kind.CHOOSE, f"{slots}: MPI refuses to start more ranks")
    return Verdict(True, Kind.CHANGED, f"{slots}; the others stay empty")


def _of_node(option: Option, ranks: Ranks) -> Verdict:
    number = option.values[0] if option.values else "1"
    if number == str(ranks.slots):
        return SAME
    text = f"each node starts {ranks.slots} ranks (numProcPerNode): write the program for them"
    return dropped(text, Kind.CHOOSE)


def _binding(line: Line, option: Option) -> Verdict:
    """Keep a binding beside its mapping: alone it contradicts the mapping of the runtime."""
    names = {given.name for given in line.options}
    if {"bind-to", "map-by"} <= names and not option.values[0].startswith("ppr"):
        return KEPT
    return dropped("the runtime maps and binds its ranks (`binding`)", Kind.CHANGED)


def _variable(_: Line, option: Option) -> Verdict:
    name = option.values[0].partition("=")[0]
    return dropped(MEANING) if is_of_a_fabric(name) else KEPT


_TCP = "it sends the messages of MPI over TCP; the runtime uses its rails"
_PARAMETERS = {
    **dict.fromkeys(words("btl_tcp_if_exclude btl_tcp_if_include"), INTERFACE),
    **dict.fromkeys(words("oob_tcp_if_exclude oob_tcp_if_include"), INTERFACE),
    **dict.fromkeys(words("orte_default_hostfile prte_default_hostfile"), HOSTS),
    **dict.fromkeys(words("orte_keep_fqdn_hostnames orte_set_default_slots"), "Trainer sets it"),
    **dict.fromkeys(words("plm_rsh_agent plm_rsh_args plm_ssh_agent plm_ssh_args"), SSH),
}
_PREFIX = "OMPI_MCA_"


def parameter(name: str, value: str) -> str:
    """Return why a parameter of Open MPI does not stay; empty when it does."""
    if (name, value) == ("pml", "ob1") or (name == "btl" and "openib" in value):
        return _TCP
    return _PARAMETERS.get(name, "")


def variable(name: str, value: str) -> str:
    """Return why a variable of a job does not stay; empty when it does."""
    if is_of_a_fabric(name):
        return MEANING
    if name.startswith("OMPI_ALLOW_RUN_AS_ROOT"):
        return _DROPPED["allow-run-as-root"]
    return parameter(name.removeprefix(_PREFIX), value) if name.startswith(_PREFIX) else ""


def _parameter(_: Line, option: Option) -> Verdict:
    meaning = parameter(*option.values)
    return dropped(meaning) if meaning else KEPT


_OTHERS: Mapping[str, Callable[[Line, Option], Verdict]] = {
    "bind-to": _binding,
    "env": _variable,
    "genv": _variable,
    "gmca": _parameter,
    "map-by": _binding,
    "mca": _parameter,
    "prtemca": _parameter,
    "x": _variable,
}
