"""The command of an MPIJob's launcher as that of a TrainJob."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, product

from trainyard.model.launcher import INTEL_MPI, LAUNCHERS
from trainyard_jobs.convert.fabric_variables import MEANING, is_of_a_fabric
from trainyard_jobs.convert.launch import ONE_DASH, Call, program_of, rewrite, starts_ranks
from trainyard_jobs.convert.model import Kind
from trainyard_jobs.convert.mpijob.fields import Fields, Path
from trainyard_jobs.convert.options import Ranks, kept_number
from trainyard_jobs.convert.shell import one_call, script_of


@dataclass(frozen=True, slots=True)
class Words:
    """The command and args of a container.

    Args:
        places: of each word.
        command: how many of them are the command; the others are args.
    """

    words: tuple[str, ...] = ()
    places: tuple[Path, ...] = field(default=())
    command: int = 0


def words_of(fields: Fields, container: Path) -> Words:
    """Return the command and args of a container."""
    words: list[str] = []
    places: list[Path] = []
    for part in ("command", "args"):
        fields.take(*container, part)
        for index, word in enumerate(fields.sequence(*container, part)):
            words.append(str(word))
            places.append((*container, part, index))
    return Words(tuple(words), tuple(places), len(fields.sequence(*container, "command")))


def call_of(fields: Fields, container: Path, ranks: Ranks) -> Call:
    """Return the command of a launcher, and note what it means there.

    Args:
        fields: of the job.
        container: the main one of the launcher.
        ranks: that the job starts.
    """
    source = words_of(fields, container)
    folder = fields.text(*container, "workingDir")
    if not source.words or (not source.command and not starts_ranks(source.words[0])):
        text = "the image's entry point starts the job: write what it runs as `command`"
        fields.note(Kind.REFUSED, container, "Launcher: command", text)
        return Call((), ())
    if not source.command:
        text = "the image's entry point does not run before it"
        fields.note(Kind.CHANGED, source.places[0], "Launcher: args", text)
    if script := script_of(list(source.words)):
        return _of_script(fields, source, script, folder, ranks)
    if (begin := _begin(source.words)) is not None:
        words, places = source.words[begin:], source.places[begin:]
        call = _rewritten(fields, words, places, folder, ranks)
        return replace(call, command=(*source.words[:begin], *call.command))
    return _other(fields, source, folder, ranks)


_AROUND = frozenset(
    {"dumb-init", "env", "nice", "nohup", "nsys", "numactl", "stdbuf", "time", "timeout", "tini"}
)
"""Programs that run the program after their options."""


def _begin(words: Sequence[str]) -> int | None:
    """Return the index of the program that starts the ranks; None where it may be another."""
    last = len(words) if program_of(words[0]) in _AROUND else 1
    for index, word in enumerate(words[:last]):
        if starts_ranks(word):
            return index
    return None


def _rewritten(
    fields: Fields, words: Sequence[str], places: Sequence[Path], folder: str, ranks: Ranks
) -> Call:
    call = rewrite(words, ranks)
    for index, kind, what, meaning in call.remarks:
        fields.note(kind, places[min(index, len(places) - 1)], what, meaning)
    kept = [word in {*call.command, *call.args} for word in words]
    _note_suspects(fields, compress(zip(words, places, strict=True), kept))
    return replace(call, args=("-wdir", folder, *call.args)) if folder else call


def _of_script(fields: Fields, source: Words, script: int, folder: str, ranks: Ranks) -> Call:
    """Return the call in a shell's script; a script that is more than a call stays as it is."""
    text, at = source.words[script], source.places[script]
    below, words = one_call(text)
    if words and starts_ranks(words[0]):
        inside = below if below.startswith("/") or not folder else f"{folder}/{below}".rstrip("/")
        return _rewritten(fields, words, [at] * len(words), inside, ranks)
    _note_suspects(fields, [(text, at)])
    for kind, what, meaning in _remarks(text, ranks):
        fields.note(kind, at, what, meaning)
    kept = f"cd {shlex.quote(folder)} || exit 1\n{text}" if folder else text
    changed = (*source.words[:script], kept, *source.words[script + 1 :])
    return _split(changed, source.command)


def _other(fields: Fields, source: Words, folder: str, ranks: Ranks) -> Call:
    """Return a command that starts the ranks in a way of its own."""
    own = " ".join(LAUNCHERS[ranks.launcher].command)
    text = f"it runs once, in the pod of the launcher: it must call {own} itself"
    fields.note(Kind.CHOOSE, source.places[0], f"`{source.words[0]}`", text)
    _note_suspects(fields, zip(source.words, source.places, strict=True))
    if folder:
        return Call(("/bin/bash", "-c"), ('cd "$0" && exec "$@"', folder, *source.words))
    return _split(source.words, source.command)


def _split(words: Sequence[str], command: int) -> Call:
    return Call(tuple(words[:command]), tuple(words[command:]))


_NUMBER = re.compile(r"(?<!\S)--?np?[ =]+(\S+)")
_CONSTANT = re.compile(r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9_]+")
_SHORT = re.compile(rf"(?<!\S)-(?:{'|'.join(sorted(ONE_DASH))})(?!\S)")
_TCP = re.compile(r"--?mca\s+(?:pml\s+ob1|btl\s+\S*openib)")


def _remarks(script: str, ranks: Ranks) -> Iterator[tuple[Kind, str, str]]:
    """Yield what a script does although the runtime decides it."""
    number = _NUMBER.search(script)
    if number and number[1] != str(ranks.total):
        verdict = kept_number(number[1], ranks)
        yield verdict.kind, f"`{number[0].strip()}`", verdict.meaning
    for option in _TCP.findall(script):
        text = "leave it out: it sends the messages of MPI over TCP"
        yield Kind.CHOOSE, f"`{' '.join(option.split())}`", text
    for option in _SHORT.findall(script):
        text = "write it with two dashes: Open MPI 5 does not know it with one"
        yield Kind.CHOOSE, f"`{option}`", text
    for name in sorted(filter(is_of_a_fabric, _CONSTANT.findall(script))):
        yield Kind.CHOOSE, name, f"leave it out: {MEANING}"
    if "horovodrun" in script:
        text = "write mpirun in its place: Trainer gives it the nodes and their slots"
        yield Kind.CHOOSE, "horovodrun", text
    if ranks.launcher == INTEL_MPI.name:
        (own,) = INTEL_MPI.command
        yield Kind.CHOOSE, "the script", f"it must call {own} in place of mpirun or mpiexec"


_ELASTIC = r"discover_hosts\S*|host-discovery-script"
_SUSPECTS = {
    _ELASTIC: "a TrainJob has a fixed number of nodes: no elastic training",
    r"[\w${}().-]*[A-Za-z0-9)}]-(?:worker|launcher)(?:-\d+)?(?![A-Za-z])[\w.]*": (
        "it looks like a pod of the MPIJob: read the nodes' names from /etc/mpi/hostfile"
    ),
    r"K_MPI_JOB_ROLE|kubexec\.sh": "only the MPI operator gives it",
    r"(?<![A-Za-z0-9_/-])/root(?![A-Za-z0-9_-])": ("no container runs as root: use another folder"),
    r"(?<![\w-])(?:sudo|apt-get|yum|dnf|apk)(?![\w-])": (
        "no container runs as root: install it in the image"
    ),
    r"(?<![\w-])infinity(?![\w-])|tail -f /dev/null": (
        "the job would hold its nodes: nobody enters its pods, so write what it runs"
    ),
    r"(?<![\w-])(?:kubectl|oc)(?= )": "pods have no token of a service account",
}


def _note_suspects(fields: Fields, words: Iterable[tuple[str, Path]]) -> None:
    """Note words that name what only an MPIJob has."""
    for (word, at), (pattern, text) in product(words, _SUSPECTS.items()):
        if suspect := re.search(pattern, word):
            kind = Kind.REFUSED if pattern == _ELASTIC else Kind.CHOOSE
            fields.note(kind, at, f"`{suspect[0]}`", text)
