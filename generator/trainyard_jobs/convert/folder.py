"""Find the programs that a job without MPI looks up in the folder in which it starts.

Its runtime starts it in an empty folder that the job may write to, and not in the image's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainyard.render.environment import RANKS_HOME
from trainyard_jobs.convert.shell import script_of
from trainyard_jobs.convert.torchrun import calls_in, read_call, starter

_CHANGES_FOLDER = re.compile(r"(?<![\w./-])(?:cd|pushd)\s+\S")
_PYTHON = re.compile(r"(?:.*/)?python[\d.]*")
_OF_MODULE = frozenset({"-m", "--module"})
MEANING = (
    f"the job starts in {RANKS_HOME}, an empty folder, and not in the image's working folder: "
    "write the whole path"
)


def relative_program(words: Sequence[str]) -> str:
    """Return a script that a job looks up in the folder in which it starts; empty for none.

    A script of a shell that changes its folder has none, nor has one that it writes before.

    Args:
        words: command and arguments of a job without MPI.
    """
    return next(_scripts(list(words)), "")


def _scripts(words: list[str]) -> Iterator[str]:
    at = script_of(words)
    if at:
        yield from _of_text(words[at])
        return
    program = words[read_call(words).program :] if starter(words) else words
    if program != words and script_of(program):
        yield from _scripts(program)
    else:
        yield from filter(_is_relative, _without_python(program)[:1])


def _is_relative(word: str) -> bool:
    """Return whether a word names a script by a path without its first folder."""
    return word.endswith((".py", ".sh")) and not word.startswith(("/", "~", "$", "-"))


def _without_python(words: list[str]) -> list[str]:
    """Return a script and its arguments; nothing for a module, which the image has installed."""
    if not words or not _PYTHON.fullmatch(words[0]):
        return words
    for index, word in enumerate(words[1:], start=1):
        if word in _OF_MODULE or word == "-c":
            return []
        if not word.startswith("-"):
            return words[index:]
    return []


def _of_text(text: str) -> Iterator[str]:
    """Yield the scripts that a shell's script calls by a path without its folder."""
    if _CHANGES_FOLDER.search(text):
        return
    for words in calls_in(text):
        for found in _scripts(words):
            if not re.search(rf">\s*[\"']?{re.escape(found)}", text):
                yield found
