"""Find paths and variables of a Slurm site's file systems in what a TrainJob would run."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SYSTEM = r"(?:usr|bin|sbin|opt|etc|dev|tmp|proc|sys|lib|lib64|workspace)(?![\w-])"
_PATH = re.compile(
    rf"(?<![\w.}}/:$-])(?:/(?!{_SYSTEM})[\w.-]+(?:/[^\s'\";:,=&|)]*)?"
    r"|\$\{?(?:HOME|SCRATCH|WORK|WORKDIR|PROJECT|DATA|TMPDIR)\b\}?[^\s'\";:,&|)]*|~/[^\s'\";:,]*)"
)
MEANING = "no pod has this path: put the files into the image, or mount a claim of the team there"


def paths_in(text: str) -> Iterator[str]:
    """Yield the paths of a text that no image has by itself, each once."""
    yield from dict.fromkeys(_PATH.findall(text))
