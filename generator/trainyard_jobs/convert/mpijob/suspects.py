"""Find what only an MPIJob has, in its command and in the values of its variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainyard_jobs.convert.model import Kind
from trainyard_jobs.convert.scripts import Remark

_ELASTIC = r"discover_hosts\S*|host-discovery-script"
_NAMES = {
    _ELASTIC: "a TrainJob has a fixed number of nodes: no elastic training",
    r"(?<![\w${}().-])(?!--)[\w${}().-]*[A-Za-z0-9)}]-(?:worker|launcher)(?![A-Za-z])[\w.-]*": (
        "it looks like a pod of the MPIJob, which is not there: let the command read the nodes' "
        "names from /etc/mpi/hostfile"
    ),
    r"K_MPI_JOB_ROLE|kubexec\.sh": "only the MPI operator gives it",
    r"(?<![A-Za-z0-9_/-])/root(?![A-Za-z0-9_-])": "no container runs as root: use another folder",
}
_TEMPLATE = {
    r"\$\{[^{}]*\}|\{\{[^{}]*\}\}": "nothing puts a value in its place: render the template first",
}
_PROGRAMS = {
    r"(?<![\w-])(?:sudo|apt-get|yum|dnf|apk)(?![\w-])": (
        "no container runs as root: install it in the image"
    ),
    r"(?<![\w-])infinity(?![\w-])|tail -f /dev/null": (
        "the job would hold its nodes: nobody enters its pods, so write what it runs"
    ),
    r"(?<![\w-])(?:kubectl|oc)(?= )": "pods have no token of a service account",
}


def in_text(text: str) -> Iterator[Remark]:
    """Yield the names of pods, files and folders in a word or in the value of a variable."""
    return _found(text, _NAMES)


def in_value(text: str) -> Iterator[Remark]:
    """Yield what is wrong in a value that no shell reads."""
    yield from in_text(text)
    yield from in_template(text)


def in_template(text: str) -> Iterator[Remark]:
    """Yield the variable of a template, such as envsubst and Helm replace."""
    return _found(text, _TEMPLATE)


def in_command(text: str) -> Iterator[Remark]:
    """Yield the programs in a word that no pod of a TrainJob can run."""
    return _found(text, _PROGRAMS)


def _found(text: str, meanings: Mapping[str, str]) -> Iterator[Remark]:
    for pattern, meaning in meanings.items():
        if suspect := re.search(pattern, text):
            kind = Kind.REFUSED if pattern == _ELASTIC else Kind.CHOOSE
            yield kind, f"`{suspect[0]}`", meaning
