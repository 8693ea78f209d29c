"""What SageMaker gives a program, and the reader of a TrainJob has to provide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainyard_jobs.convert.model import Kind, Remark
from trainyard_jobs.convert.sagemaker.request import Channel, Request
from trainyard_jobs.convert.scripts import logins

INPUT = "/opt/ml/input/data"
"""Folder of the channels."""
_CHECKPOINTS = "/opt/ml/checkpoints"
_OWN = re.compile(r"\bSM_[A-Z][A-Z0-9_]*|/opt/ml(?:/[\w./-]*)?")
_HOST = re.compile(r"\balgo-[0-9]+\b")
_MOUNT = "mount a claim of the team at {0} (spec.runtimePatches, as in the team's samples)"


def notes_of(request: Request, words: Sequence[str]) -> Iterator[Remark]:
    """Yield what the reader has to provide."""
    yield from map(_channel, request.channels)
    folder = request.get("checkpoint_folder", _CHECKPOINTS)
    meanings = {
        "checkpoints": (Kind.CHOOSE, f"{_MOUNT.format(folder)}, and read the checkpoint there"),
        "output": (Kind.DROPPED, "nothing is uploaded at the end: write to a claim or a bucket"),
        "spot": (Kind.CHOOSE, "give a low priority class: a preempted job is queued again"),
    }
    if not request.get("checkpoints"):
        meanings["checkpoint_folder"] = meanings["checkpoints"]
    for name, (kind, meaning) in meanings.items():
        if request.get(name):
            yield Remark(request.place(name), kind, name, meaning)
    if "entrypoint" in request.fields:
        for name, value in request.hyperparameters.items():
            meaning = "SageMaker writes it to /opt/ml/input/config: give it as an argument"
            yield Remark(value.at, Kind.CHOOSE, f"hyperparameter {name}", meaning)
    yield from _own(request, words)


def _own(request: Request, words: Sequence[str]) -> Iterator[Remark]:
    """Yield SageMaker's own variables and folders that the command reads."""
    values = (str(value.value) for value in request.environment.values())
    text = "\n".join([*words, *values])
    for name in sorted(set(_HOST.findall(text))):
        meaning = "no pod has this name: torchrun and mpirun find the nodes themselves"
        yield Remark(request.at, Kind.CHOOSE, f"`{name}`", meaning)
    for kind, what, meaning in logins(text):
        yield Remark(request.at, kind, what, meaning)
    for name in sorted(set(_OWN.findall(text))):
        meaning = "only SageMaker sets or makes it: give a variable or mount a claim"
        yield Remark(request.at, Kind.CHOOSE, f"`{name}`", meaning)


def _channel(channel: Channel) -> Remark:
    folder = f"{INPUT}/{channel.name}"
    mode = "" if channel.mode == "File" else f"; {channel.mode} mode does not stream here"
    source = f" with the content of {channel.source}" if channel.source else ""
    meaning = f"{_MOUNT.format(folder)}{source}, or fetch it with `initialize` of a runtime{mode}"
    return Remark(channel.at, Kind.CHOOSE, f"channel {channel.name}", meaning)
