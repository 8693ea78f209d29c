"""Read the options of sbatch and srun as GNU getopt does.

Source of the tables: SchedMD/slurm:src/common/slurm_opt.c@slurm-26-05-3-1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.model import RefusedError

Value = TypeVar("Value")


def unreadable_script(file: str, reason: str, way: str = "") -> RefusedError:
    """Return that a script as a whole can't be converted."""
    return RefusedError(Pointer(file, line=1, column=1), "the script", reason, way)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a line, without its quotes, and where it begins."""

    text: str
    at: Pointer


@dataclass(frozen=True, slots=True)
class Option:
    """An option by its long name; the value of a flag is empty."""

    name: str
    value: str
    at: Pointer

    @property
    def shown(self) -> str:
        """The option as one would write it."""
        return f"--{self.name}={self.value}" if self.value else f"--{self.name}"

    def read(self, parse: Callable[[str], Value], way: str = "") -> Value:
        """Return its value.

        Args:
            parse: returns the value of a text.
            way: what to do about another text.

        Raises:
            RefusedError: it has another form.
        """
        try:
            return parse(self.value)
        except ValueError as error:
            raise self.refused(str(error), way) from error

    def refused(self, reason: str, way: str = "") -> RefusedError:
        """Return that a job with this option can't be converted."""
        return RefusedError(self.at, self.shown, reason, way)


@dataclass(frozen=True, slots=True)
class Syntax:
    """The options of a program.

    Args:
        needed: long names of options with a value.
        optional: long names of options whose value, if any, follows ``=``.
        flags: long names of options without a value.
        short: letter -> long name.
        same: long name -> the name that means the same.
    """

    needed: frozenset[str]
    optional: frozenset[str]
    flags: frozenset[str]
    short: Mapping[str, str]
    same: Mapping[str, str]

    @property
    def names(self) -> frozenset[str]:
        """The long names of all options."""
        return self.needed | self.optional | self.flags

    def name(self, word: Word, text: str) -> str:
        """Return the long name of an option, which may be cut off where no other begins so.

        It is empty where there is none, so that only a plugin of the site can have it.

        Raises:
            RefusedError: there are several.
        """
        if text in self.names:
            return text
        near = sorted(name for name in self.names if name.startswith(text))
        if len(near) > 1:
            which = f"it is one of {', '.join(near)} in Slurm 26.05"
            raise RefusedError(word.at, f"option --{text}", which)
        return near[0] if near else ""


def syntax(needed: str, optional: str, flags: str, same: Mapping[str, str]) -> Syntax:
    """Return the options of a program.

    Each long name is followed by ``=`` and its letter if it has one.

    Args:
        needed: options with a value.
        optional: options whose value, if any, follows ``=``.
        flags: options without a value.
        same: long name -> the name that means the same.
    """
    short: dict[str, str] = {}

    def names(text: str) -> frozenset[str]:
        kind = set()
        for word in text.split():
            name, has_letter, letter = word.partition("=")
            kind.add(name)
            if has_letter:
                short[letter] = name
        return frozenset(kind)

    return Syntax(names(needed), names(optional), names(flags), short, same)


def take(words: Iterable[Word], known: Syntax) -> tuple[list[Option], Sequence[Word]]:
    """Return the options that a line begins with, and its other words.

    Raises:
        RefusedError: an option is unknown, or has no value where it needs one.
    """
    rest = list(words)
    options: list[Option] = []
    while rest and rest[0].text.startswith("-") and rest[0].text != "-":
        word = rest.pop(0)
        if word.text == "--":
            break
        read = _long if word.text.startswith("--") else _short
        options += read(word, rest, known)
    return options, rest


def _long(word: Word, rest: list[Word], known: Syntax) -> list[Option]:
    text, has_value, value = word.text[2:].partition("=")
    name = known.name(word, text)
    if not name:
        return [_of_plugin(word, rest, known)]
    if name in known.flags and has_value:
        raise RefusedError(word.at, word.text, f"--{name} takes no value")
    if name in known.needed and not has_value:
        value = _next(word, rest)
    return [Option(known.same.get(name, name), value, word.at)]


def _of_plugin(word: Word, rest: list[Word], known: Syntax) -> Option:
    """Return an option that only a plugin of the site (SPANK) can have.

    Raises:
        RefusedError: what follows may be its value, or the program; of sbatch only on its line.
    """
    name, has_value, value = word.text[2:].partition("=")
    follows = bool(rest) and (known is SRUN or rest[0].at.line == word.at.line)
    if follows and not has_value and not rest[0].text.startswith("-"):
        reason = "Slurm 26.05 has no such option, so the next word may be its value or not"
        way = (
            "If a plugin of the site (SPANK) has it, write the value after `=`; else leave it out."
        )
        raise RefusedError(word.at, f"option --{name}", reason, way)
    return Option(name, value, word.at)


def _short(word: Word, rest: list[Word], known: Syntax) -> list[Option]:
    """Return the options of a word such as ``-N4`` or ``-lu``."""
    options = []
    letters = word.text[1:]
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter not in known.short:
            raise RefusedError(word.at, f"option -{letter}", "there is no such option")
        name, value = known.short[letter], ""
        if name not in known.flags:
            value, letters = letters, ""
            if name in known.needed and not value:
                value = _next(word, rest)
        options.append(Option(known.same.get(name, name), value, word.at))
    return options


def _next(word: Word, rest: list[Word]) -> str:
    if not rest:
        raise RefusedError(word.at, word.text, "its value is missing")
    return rest.pop(0).text


SAME = {"tasks-per-node": "ntasks-per-node", "cpu_bind": "cpu-bind", "cluster": "clusters"}

SBATCH = syntax(
    """
    account=A acctg-freq array=a autocomplete batch bb bbf begin=b chdir=D cluster
    cluster-constraint clusters=M comment constraint=C container container-id container-image
    container-mounts container-workdir container-name container-env context core-spec=S
    cores-per-socket cpu-freq cpus-per-gpu cpus-per-task=c deadline delay-boot dependency=d
    distribution=m error=e exclude=x export export-file extra extra-node-info=B gid gpu-bind
    gpu-freq gpus=G gpus-per-node gpus-per-socket gpus-per-task gres gres-flags hint input=i
    job-name=J kill-on-invalid-dep licenses=L mail-type mail-user mcs-label mem mem-bind
    mem-per-cpu mem-per-gpu mem-update mincpus network nodefile=F nodelist=w nodes=N ntasks=n
    ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket ntasks-per-tres open-mode
    output=o partition=p prefer priority profile qos=q reservation resources runtime segment signal
    sockets-per-node switches tasks-per-node thread-spec threads-per-core time=t time-min tmp
    tres-bind tres-per-task uid wait-all-nodes wckey wrap
    """,
    "exclusive nice no-kill=k oom-kill-step propagate requeue resv-ports",
    """
    consolidate-segments contiguous external get-user-env help=h hold=H ignore-pbs no-requeue
    overcommit=O oversubscribe=s parsable quiet=Q reboot spread-job spread-segments stepmgr
    test-only usage use-min-nodes verbose=v version=V wait=W container-mount-home
    no-container-mount-home container-writable container-readonly container-remap-root
    no-container-remap-root container-entrypoint no-container-entrypoint
    """,
    SAME,
)
"""Options of sbatch, and of the plugin pyxis, which begin with ``container-`` and are from
memory."""

SRUN = syntax(
    """
    accel-bind account=A acctg-freq autocomplete bb bbf bcast-exclude begin=b chdir=D cluster
    cluster-constraint clusters=M comment constraint=C container container-id container-image
    container-mounts container-workdir container-name container-save container-env context
    core-spec=S cores-per-socket cpu-bind cpu-freq cpu_bind cpus-per-gpu cpus-per-task=c deadline
    delay-boot dependency=d distribution=m epilog error=e exclude=x export extra
    extra-node-info=B gpu-bind gpu-freq gpus=G gpus-per-node gpus-per-socket gpus-per-task gres
    gres-flags het-group hint ignore-signals input=i job-name=J jobid licenses=L mail-type
    mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mem-update mincpus mpi msg-timeout
    network nodefile=F nodelist=w nodes=N ntasks=n ntasks-per-core ntasks-per-gpu ntasks-per-node
    ntasks-per-socket ntasks-per-tres open-mode output=o pack-group partition=p prefer priority
    profile prolog qos=q relative=r reservation resources runtime segment signal slurmd-debug
    sockets-per-node switches task-epilog task-prolog tasks-per-node thread-spec threads=T
    threads-per-core time=t time-min tmp treewidth tres-bind tres-per-task wait=W wckey
    """,
    """
    bcast compress exclusive external-launcher immediate=I kill-on-bad-exit=K nice no-kill=k
    oom-kill-step overlap propagate pty resv-ports send-libs x11
    """,
    """
    async consolidate-segments contiguous debugger-test disable-status=X exact help=h hold=H
    interactive label=l multi-prog no-allocate=Z overcommit=O oversubscribe=s parsable
    preserve-env=E quiet=Q quit-on-interrupt reboot spread-job spread-segments stepmgr test-only
    unbuffered=u usage use-min-nodes verbose=v version=V wait-for-children whole
    container-mount-home no-container-mount-home container-writable container-readonly
    container-remap-root no-container-remap-root container-entrypoint no-container-entrypoint
    """,
    SAME,
)
"""Options of srun, and of pyxis."""

KNOWN = SBATCH.names | SRUN.names
"""Options that a plugin of a site does not have."""
