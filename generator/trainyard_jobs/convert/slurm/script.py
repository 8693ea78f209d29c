"""What a batch script consists of: variables, other programs, and the launch."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.remarks import Remarks
from trainyard_jobs.convert.slurm.expand import names_in
from trainyard_jobs.convert.slurm.parts import Parts
from trainyard_jobs.convert.slurm.shell import Statement
from trainyard_jobs.convert.slurm.variables import IN_EVERY_POD, JOB_ID, RANK
from trainyard_jobs.convert.words import words

SAME_ANYWHERE = words(
    """
    : [ [[ test true false cd pushd popd set shopt exit return break continue shift local function
    """
)
"""Commands of the shell that mean the same in every pod."""
OF_SLURM = re.compile(r"\b(scontrol|squeue|sacct|sinfo|srun)\b")
"""Programs that no pod has."""
OF_HOSTS = re.compile(r"\$\(\s*hostname|`\s*hostname|\$\{?SLURM\w*NODELIST|\$\{?SLURMD_NODENAME")
"""What names the hosts of a job."""
REPORTS = words(
    """
    echo date hostname pwd env printenv nvidia-smi which whoami uname lscpu free df printf
    id ibstat ibv_devinfo nproc uptime
    """
)
"""Programs that only print something."""


@dataclass(frozen=True, slots=True)
class Line:
    """A command that the job may run beside its launch.

    Args:
        text: as the script writes it.
        name: program; empty for an assignment.
        sets: variables that it assigns.
        exported: those of them that the ranks have.
        end: operator that joins it to the next command.
    """

    text: str
    at: Pointer
    name: str
    sets: frozenset[str] = frozenset()
    exported: frozenset[str] = frozenset()
    end: str = ""

    @property
    def reads(self) -> set[str]:
        """Names of the variables that it reads."""
        return names_in(self.text)

    @property
    def is_program(self) -> bool:
        """Return whether it runs a program, which may mean something else in another pod."""
        return self.name not in {"", LAUNCH, *SAME_ANYWHERE}

    @property
    def shown(self) -> str:
        """The command on one line."""
        first, more, _ = self.text.partition("\n")
        return f"`{first} ...`" if more else f"`{first}`"

    def refused(self, reason: str, way: str = "") -> RefusedError:
        """Return that the command can't be converted."""
        return RefusedError(self.at, self.shown, reason, way)


LAUNCH = "launch"
"""Name of a line with the place of a launch in it."""


def mark(number: int) -> str:
    """Return what stands in a line in place of a launch, which no script has."""
    return f"\ufdd0{number}\ufdd1"


def set_by(lines: Iterable[Line]) -> set[str]:
    """Return the names of the variables that commands assign."""
    return set().union(*(line.sets for line in lines))


def exported_by(lines: Iterable[Line]) -> set[str]:
    """Return the names of the variables that commands give to the ranks."""
    return set().union(*(line.exported for line in lines))


@dataclass(frozen=True, slots=True)
class Launch:
    """A command that starts ranks, in a script that has several or has it in a block.

    Args:
        call: the command.
        before: what stays before it: ``exec``, and assignments.
        sets: variables that these assign.
        is_in_function: whether a function has it, with parameters of its own.
    """

    call: Statement
    before: str = ""
    sets: frozenset[str] = frozenset()
    is_in_function: bool = False


@dataclass(slots=True)
class Script:
    """The commands of a script.

    Args:
        file: its name for messages.
        known: variables with a value before it runs, as it is at the launch.
        unsteady: variables that it assigns more than once, or perhaps; each assignment stays.
        exported: variables that the ranks have whenever they get a value.
        fixed: variables that are readonly.
        arrays: whether a variable is an array.
        parts: variables that hold a part of a command.
        env: variables with one value, which the ranks have, with their places.
        before, after: other commands, as seen from the launch.
        launch: the first command that starts ranks; None where no line of the script does.
        is_framed: whether launches stand in lines of the script, as `launches` has them.
        launches: all of a framed script, in their order.
        once: the program that Slurm runs once, where there is no launch.
    """

    file: str
    known: dict[str, str]
    remarks: Remarks
    unsteady: frozenset[str] = frozenset()
    exported: set[str] = field(default_factory=set)
    fixed: set[str] = field(default_factory=set)
    arrays: dict[str, bool] = field(default_factory=dict)
    parts: Parts = field(default_factory=Parts)
    env: dict[str, tuple[str, Pointer]] = field(default_factory=dict)
    before: list[Line] = field(default_factory=list)
    after: list[Line] = field(default_factory=list)
    launch: Statement | None = None
    is_framed: bool = False
    launches: list[Launch] = field(default_factory=list)
    once: Line | None = None

    @property
    def started(self) -> Pointer | None:
        """The place of the command that the job is for."""
        line = self.launch or self.once
        return line.at if line else None

    @property
    def set_by_slurm(self) -> set[str]:
        """Variables with values from Slurm's programs or hosts, by way of others too."""
        names: set[str] = set()
        for line in self.before:
            if OF_SLURM.search(line.text) or OF_HOSTS.search(line.text) or line.reads & names:
                names |= line.sets
        return names

    @property
    def values(self) -> dict[str, str | None]:
        """Value of each variable; None where it is known only when the script runs."""
        unknown = {*IN_EVERY_POD, *JOB_ID, *RANK, *self.exported, *set_by(self.before)}
        # A function may run its launch after what stands below it.
        unknown |= set_by(self.after) if self.is_framed else set()
        return {**dict.fromkeys(unknown), **self.known}

    @property
    def is_over(self) -> bool:
        """Return whether the launch takes the place of the shell."""
        is_last = self.launch is not None and self.launch.words[0].raw == "exec"
        return is_last and not self.is_framed

    @property
    def lines(self) -> list[Line]:
        """The commands on this side of the launch."""
        return self.before if self.launch is None else self.after

    @property
    def length(self) -> int:
        """The number of commands on both sides of the launch."""
        return len(self.before) + len(self.after)

    def is_seen(self, name: str) -> bool:
        """Return whether a command before what follows would see the value of a variable."""
        if name in self.unsteady:
            return True
        for line in self.before:
            if name in line.reads or (line.is_program and line.name not in REPORTS):
                return True
        return False
