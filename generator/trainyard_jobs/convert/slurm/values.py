"""Read the values of Slurm's options: times, numbers of nodes, GPUs, memory, indexes of an array.

Source: time_str2secs, verify_node_count and the manual of sbatch in
SchedMD/slurm@slurm-26-05-3-1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.model.quantity import whole_number

_TIMES = {
    r"([0-9]{1,9})-([0-9]{1,9})(?::([0-9]{1,9}))?(?::([0-9]{1,9}))?": (86400, 3600, 60, 1),
    r"([0-9]{1,9}):([0-9]{1,9}):([0-9]{1,9})": (3600, 60, 1),
    r"([0-9]{1,9})(?::([0-9]{1,9}))?": (60, 1),
}
"""Forms of a time, and the seconds of each of its parts."""
_NODES = re.compile(r"([0-9]{1,9})([kKmM]?)(?:-([0-9]{1,9})([kKmM]?))?")
_FACTOR = {"": 1, "k": 1024, "m": 1024 * 1024}
_GPU = re.compile(r"(?:gres[:/])?gpu(?::([A-Za-z_][\w.-]*))?(?:[:=]([0-9]{1,9}))?(?:\([^)]*\))?")
_COUNT = re.compile(r"(?:([A-Za-z_][\w.-]*):)?([0-9]{1,9})")
_INDEXES = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?")
MOST_INDEXES = 256
"""TrainJobs of one array: more belong into a loop that creates them."""


def seconds(text: str) -> int | None:
    """Return the seconds of a time limit; None without a limit.

    Raises:
        ValueError: it is not a time of Slurm.
    """
    if text.upper() in {"-1", "INFINITE", "UNLIMITED"} or text == "0":
        return None
    for pattern, units in _TIMES.items():
        if match := re.fullmatch(pattern, text):
            parts = zip(match.groups(default="0"), units, strict=True)
            return sum(int(number) * unit for number, unit in parts)
    raise ValueError(f"{text!r} is none of M, M:S, H:M:S, D-H, D-H:M and D-H:M:S")


def node_range(text: str) -> tuple[int, int]:
    """Return the smallest and the largest number of nodes.

    Raises:
        ValueError: it is neither a number nor a range.
    """
    match = _NODES.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is neither a number of nodes nor a range such as 2-4")
    least = int(match[1]) * _FACTOR[match[2].lower()]
    most = int(match[3]) * _FACTOR[match[4].lower()] if match[3] else least
    if not 1 <= least <= most:
        raise ValueError(f"{text!r} is not a number of nodes above 0")
    return least, most


def number(text: str) -> int:
    """Return a whole number above 0.

    Raises:
        ValueError: it is none.
    """
    if not (count := whole_number(text)):
        raise ValueError(f"{text!r} is not a whole number above 0")
    return count


def gres_gpus(text: str) -> tuple[int, str]:
    """Return the GPUs of ``--gres``, 0 for none, and their type or an empty one.

    Raises:
        ValueError: it asks for GPUs of several types, or in a form that is not known.
    """
    asked = [word for word in text.split(",") if "gpu" in word]
    if not asked:
        return 0, ""
    match = _GPU.fullmatch(asked[0])
    if len(asked) > 1 or not match:
        raise ValueError(f"{text!r} is none of gpu, gpu:N and gpu:TYPE:N")
    return int(match[2] or 1), match[1] or ""


def other_gres(text: str) -> list[str]:
    """Return what ``--gres`` asks for beside GPUs."""
    return [word for word in text.split(",") if word not in {"", "none"} and "gpu" not in word]


def count_of_type(text: str) -> tuple[int, str]:
    """Return the number and the type in ``8``, ``h100:8``; the type may be empty.

    Raises:
        ValueError: it is neither, or several types.
    """
    match = _COUNT.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is neither N nor TYPE:N")
    return int(match[2]), match[1] or ""


def indexes(text: str) -> tuple[list[int], str]:
    """Return the indexes of an array, sorted, and how many may run at once; empty for any number.

    Raises:
        ValueError: it is not an array, or a very large one.
    """
    members, _, limit = text.partition("%")
    numbers = sorted(set(_members(members)))
    if len(numbers) > MOST_INDEXES:
        raise ValueError(f"{len(numbers)} indexes are more than {MOST_INDEXES}")
    return numbers, limit


def _members(text: str) -> Iterator[int]:
    for member in text.split(","):
        match = _INDEXES.fullmatch(member)
        if not match:
            raise ValueError(f"{member!r} is none of N, N-M and N-M:STEP")
        first, step = int(match[1]), int(match[3] or 1)
        last = int(match[2] or first)
        if last - first > MOST_INDEXES * step:
            raise ValueError(f"{member!r} has more than {MOST_INDEXES} indexes")
        yield from range(first, last + 1, step or 1)
