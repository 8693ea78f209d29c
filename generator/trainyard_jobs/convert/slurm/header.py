"""Read the ``#SBATCH`` lines of a batch script as sbatch does.

Source: get_argument and _opt_batch_script in SchedMD/slurm:src/sbatch/opt.c@slurm-26-05-3-1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.slurm.getopt import SBATCH, Option, Word, take

_MAGIC = ("#SBATCH", "#SLURM")
_SPACE = " \t\n\r\v\f"


@dataclass(frozen=True, slots=True)
class Header:
    """The options of a script.

    Args:
        options: in their order; a later one of the same name counts.
        late: places of ``#SBATCH`` lines after the first command, which Slurm ignores.
        end: index of the line of the first command.
    """

    options: tuple[Option, ...]
    late: tuple[Pointer, ...]
    end: int

    def last(self, name: str) -> Option | None:
        """Return the option of a name that counts, which is the last one."""
        for option in reversed(self.options):
            if option.name == name:
                return option
        return None


def read_header(file: str, lines: Sequence[str]) -> Header:
    """Return the options of a script.

    Args:
        file: its name for messages.
        lines: of the script.

    Raises:
        RefusedError: sbatch refuses a line, or the job has several parts.
    """
    end = len(list(takewhile(_is_no_command, lines)))
    words: list[Word] = []
    late: list[Pointer] = []
    for number, line in enumerate(lines, start=1):
        at = Pointer(file, line=number, column=1)
        if line.startswith(_MAGIC) and number > end:
            late.append(at)
        elif line.startswith(_MAGIC):
            words += _words(line, at)
    options, rest = take(words, SBATCH)
    if rest:
        what = f"`{rest[0].text}`"
        raise RefusedError(rest[0].at, what, "it is not an option: sbatch refuses it")
    return Header(tuple(options), tuple(late), end)


def _is_no_command(line: str) -> bool:
    text = line.strip(_SPACE)
    return not text or text.startswith("#")


def _words(line: str, at: Pointer) -> Iterator[Word]:
    """Yield the words of a line after its magic word."""
    start = len(_MAGIC[0] if line.startswith(_MAGIC[0]) else _MAGIC[1])
    rest = line[start:].strip(_SPACE)
    if rest.split()[:1] in (["hetjob"], ["packjob"]) or rest.startswith(":"):
        reason = "a TrainJob has one kind of node (kubeflow/trainer#4064)"
        way = "Split the script into one job for each part."
        raise RefusedError(at, "a heterogeneous job", reason, way)
    for match in _WORD.finditer(line, start):
        if match["comment"]:
            return
        place = Pointer(at.file, line=at.line, column=match.start() + 1)
        if match["open"]:
            what = f"a {match['open']} that is not closed"
            raise RefusedError(place, what, "sbatch refuses the script")
        yield Word(_PART.sub(_plain, match[0]), place)


_WORD = re.compile(
    r"""(?P<comment>\#)|(?:[^\s"'\\#]|\\.|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')+"""
    r"""|(?P<open>["'])"""
)
_PART = re.compile(r"""\\(.)|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'""")


def _plain(part: re.Match[str]) -> str:
    """Return a part of a word without its quotes or its backslash."""
    if part[1] is not None:
        return part[1]
    return re.sub(r"\\(.)", r"\1", part[2] if part[2] is not None else part[3])
