"""Images that a script names, and the commands that run in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.remarks import Remarks
from trainyard_jobs.convert.slurm.getopt import Option
from trainyard_jobs.convert.slurm.shell import Token, written
from trainyard_jobs.convert.words import words

_PROGRAMS = frozenset({"apptainer", "singularity"})
_NEEDED = words(
    """
    -B --bind --mount -H --home --env --env-file --pwd --cwd -W --workdir -S --scratch -o
    --overlay --fakeroot-uid --network --hostname --app --security --keep-privs --add-caps
    """
)
"""Options with a value of Apptainer, from memory."""
_BINDS = frozenset({"-B", "--bind", "--mount"})
_MOUNTS = (
    "mount a claim of the team at that path (spec.runtimePatches, as in the team's samples), or "
    "put the files into the image"
)


@dataclass(frozen=True, slots=True)
class Image:
    """An image and where the script names it; empty for none."""

    name: str
    at: Pointer


def image_of(name: str, at: Pointer, remarks: Remarks) -> Image | None:
    """Return an image of a registry; a file is noted, and has to be pushed there."""
    text = name.removeprefix("docker://").removeprefix("dockerd://").replace("#", "/", 1)
    is_file = text.startswith(("/", ".", "$", "~")) or text.endswith((".sif", ".sqsh", ".simg"))
    if is_file or not text:
        meaning = "a pod runs an image of a registry: push this one, and name it in a runtime"
        remarks.choose(at, f"image `{name}`", meaning)
        return None
    return Image(text, at)


def image_of_options(options: Sequence[Option], remarks: Remarks) -> Image | None:
    """Return the image of ``--container-image``, and note what it mounts."""
    image = None
    for option in options:
        if option.name == "container-image":
            image = image_of(option.value, option.at, remarks) or image
        elif option.name == "container-mounts":
            remarks.choose(option.at, option.shown, _MOUNTS)
        elif option.name == "container":
            meaning = "push the bundle as an image to a registry, and name it in a runtime"
            remarks.choose(option.at, option.shown, meaning)
    return image


def unwrapped(words: Sequence[Token], remarks: Remarks) -> tuple[Sequence[Token], Image | None]:
    """Return the command inside of ``singularity exec IMAGE COMMAND``, and the image."""
    at = _image_index(words)
    if not at:
        return words, None
    for index in range(2, at):
        option, equals, _ = words[index].text.partition("=")
        if option in _BINDS:
            shown = written(words[index : index + 1 + (not equals)])
            remarks.choose(words[index].at, f"`{shown}`", _MOUNTS)
    return words[at + 1 :], image_of(words[at].text, words[at].at, remarks)


def _image_index(words: Sequence[Token]) -> int:
    """Return the index of the image in a call of a container program; 0 for another command."""
    if len(words) < 3 or words[0].text.rpartition("/")[2] not in _PROGRAMS:
        return 0
    if words[1].text not in {"exec", "run"}:
        return 0
    at = 2
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in _NEEDED else 1
    return at if at < len(words) else 0
