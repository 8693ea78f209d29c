"""The command of an MPIJob's launcher as that of a TrainJob."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

from trainyard.model.launcher import LAUNCHERS
from trainyard_jobs.convert.launch import Call, of_slots, program_of, rewrite, starts_ranks
from trainyard_jobs.convert.model import Kind
from trainyard_jobs.convert.mpijob.fields import Fields, Path
from trainyard_jobs.convert.mpijob.suspects import in_command, in_text
from trainyard_jobs.convert.options import Ranks
from trainyard_jobs.convert.scripts import logins, remarks_of, slots_of
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
    note_suspects(fields, compress(zip(words, places, strict=True), kept))
    return replace(call, args=("-wdir", folder, *call.args)) if folder else call


def _of_script(fields: Fields, source: Words, script: int, folder: str, ranks: Ranks) -> Call:
    """Return the call in a shell's script; a script that is more than a call stays as it is."""
    text, at = source.words[script], source.places[script]
    below, words = one_call(text)
    if words and starts_ranks(words[0]):
        inside = below if below.startswith("/") or not folder else f"{folder}/{below}".rstrip("/")
        return _rewritten(fields, words, [at] * len(words), inside, ranks)
    note_suspects(fields, [(text, at)])
    slots = _note_script(fields, text, at, ranks)
    kept = f"cd {shlex.quote(folder)} || exit 1\n{text}" if folder else text
    changed = (*source.words[:script], kept, *source.words[script + 1 :])
    return replace(_split(changed, source.command), slots=slots)


def _note_script(fields: Fields, text: str, at: Path, ranks: Ranks) -> int:
    """Note what a script does although the runtime decides it; return the slots of each node."""
    slots = slots_of(text, ranks) or ranks.slots
    stated = [of_slots(slots, ranks)] if slots != ranks.slots else []
    for remark in (*remarks_of(text, replace(ranks, slots=slots)), *stated):
        fields.note_remark(at, remark)
    return slots


def _other(fields: Fields, source: Words, folder: str, ranks: Ranks) -> Call:
    """Return a command that starts the ranks in a way of its own."""
    own = " ".join(LAUNCHERS[ranks.launcher].command)
    text = f"it runs once, in the pod of the launcher: it must call {own} itself"
    fields.note(Kind.CHOOSE, source.places[0], f"`{source.words[0]}`", text)
    note_suspects(fields, zip(source.words, source.places, strict=True))
    if folder:
        return Call(("/bin/bash", "-c"), ('cd "$0" && exec "$@"', folder, *source.words))
    return _split(source.words, source.command)


def _split(words: Sequence[str], command: int) -> Call:
    return Call(tuple(words[:command]), tuple(words[command:]))


def note_suspects(fields: Fields, words: Iterable[tuple[str, Path]]) -> None:
    """Note words that name what only an MPIJob has, or that log in to a pod."""
    texts = list(words)
    if not texts:
        return
    for word, at in texts:
        for remark in (*in_text(word), *in_command(word)):
            fields.note_remark(at, remark)
    script = texts[0][0] if len(texts) == 1 else shlex.join(word for word, _ in texts)
    for remark in logins(script):
        fields.note_remark(texts[0][1], remark)
