"""The volumes of an MPIJob that a TrainJob may have."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from trainyard.model.lookup import mapping
from trainyard_jobs.convert.model import Body, Kind
from trainyard_jobs.convert.mpijob.fields import NOTHING, Fields, Path
from trainyard_jobs.convert.words import words

_KINDS = ("persistentVolumeClaim", "configMap", "secret", "emptyDir")
OURS = words("account dshm initializer mpi-hostfile mpi-ssh-auth ranks-home tools")
FOLDERS = words(
    """
    /account /dev /etc/mpi /etc/passwd /home/mpiuser/.ssh /home/ranks /opt/trainyard /proc /sys
    /workspace
    """
)
"""Names of volumes, and folders, that the runtime has; the admission policies refuse others' use
of them."""
_FOLDER = re.compile(r"(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+")
_BELOW = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")
_UNKNOWN = ("mountPropagation", "recursiveReadOnly", "subPathExpr")


@dataclass(slots=True)
class Volumes:
    """Volumes and mounts of the ranks.

    Args:
        volumes: by name.
        mounts: by folder.
        places: of the volumes, by name.
        shared_memory: size of /dev/shm; empty when the source does not say.
        shared_at: where it says it.
    """

    volumes: dict[str, Body] = field(default_factory=dict)
    mounts: dict[str, Body] = field(default_factory=dict)
    places: dict[str, Path] = field(default_factory=dict)
    shared_memory: str = ""
    shared_at: Path = ()


def volumes_of(fields: Fields, containers: list[Path]) -> Volumes:
    """Return the volumes of the ranks' containers.

    Args:
        fields: of the job.
        containers: of workers, then of the launcher: every pod has those of both.
    """
    volumes = Volumes()
    for container in containers:
        _add(volumes, fields, container)
    return volumes


def _add(volumes: Volumes, fields: Fields, container: Path) -> None:
    """Add what one container mounts."""
    members = fields.members(*container[:-2], "volumes")
    bodies = {str(body.get("name")): (path, body) for path, body in members}
    mounted: set[str] = set()
    for path, mount in fields.members(*container, "volumeMounts"):
        fields.take(*path)
        name = str(mount.get("name"))
        mounted.add(name)
        if name not in bodies:
            fields.note(Kind.DROPPED, path, f"mount of `{name}`", "the pod has no such volume")
        elif _can_mount(volumes, fields, path, bodies[name]):
            _mount(volumes, fields, path, bodies[name])
    for name, (at, _) in bodies.items():
        fields.take(*at)
        if name not in mounted:
            text = "the container of the ranks does not mount it"
            fields.note(Kind.DROPPED, at, f"volume `{name}`", text)


def _mount(volumes: Volumes, fields: Fields, path: Path, volume: tuple[Path, Body]) -> None:
    """Add a mount and its volume, unless the workers mount another one there."""
    at, body = volume
    mount: Body = fields.peek(*path)
    folder = _folder(mount)
    source = _source(body)
    name = _final_name(volumes, str(body["name"]), source)
    plain = {**_plain(mount, folder), "name": name}
    if volumes.mounts.get(folder, plain) != plain:
        text = "launcher and workers mount different volumes there; the workers' is mounted"
        fields.note(Kind.CHOOSE, path, f"mount at {folder}", text)
        return
    for unknown in _UNKNOWN:
        if mount.get(unknown):
            text = "the admission policies refuse it; the volume is mounted without it"
            fields.note(Kind.CHOOSE, (*path, unknown), f"{unknown} at {folder}", text)
    volumes.mounts[folder] = plain
    volumes.volumes[name] = {"name": name, **source}
    volumes.places[name] = at


def _folder(mount: Body) -> str:
    return str(mount.get("mountPath", "")).rstrip("/")


def _final_name(volumes: Volumes, name: str, source: Body) -> str:
    """Return the name of a volume beside those of the runtime and of the other role."""
    final = f"job-{name}" if name in OURS else name
    is_free = volumes.volumes.get(final, source | {"name": final}) == source | {"name": final}
    return final if is_free else f"{final}-launcher"


def _source(volume: Body) -> Body:
    """Return what a volume is, without the empty values that keep a TrainJob from starting."""
    (kind,) = filter(volume.__contains__, _KINDS)
    own = mapping(volume, kind)
    return {kind: {key: value for key, value in own.items() if value not in NOTHING}}


def _can_mount(volumes: Volumes, fields: Fields, path: Path, volume: tuple[Path, Body]) -> bool:
    """Return whether a TrainJob may have a mount; note why not."""
    mount: Body = fields.peek(*path)
    folder = _folder(mount)
    at, body = volume
    if folder == "/dev/shm":  # noqa: S108 - the ranks' own
        volumes.shared_memory = str(mapping(body, "emptyDir").get("sizeLimit", ""))
        volumes.shared_at = at
        fields.note(Kind.DROPPED, at, "volume at /dev/shm", "the runtime has one (`sharedMemory`)")
        return False
    what = f"volume `{body.get('name')}` at {folder}"
    if reason := _unfit_volume(body):
        fields.note(reason[0], at, what, reason[1])
        return False
    if text := _unfit_folder(folder, str(mount.get("subPath", "x"))):
        fields.note(Kind.CHOOSE, path, what, text)
        return False
    return True


def _plain(mount: Body, folder: str) -> Body:
    rest = {key: mount[key] for key in ("readOnly", "subPath") if mount.get(key)}
    return {"name": "", "mountPath": folder, **rest}


def _unfit_volume(volume: Body) -> tuple[Kind, str] | None:
    """Return why a TrainJob can't have a volume; None when it can."""
    path = str(mapping(volume, "hostPath").get("path", ""))
    if path.startswith("/dev/"):
        return Kind.DROPPED, "the runtime gives pods their devices"
    if path:
        return Kind.CHOOSE, "pods can't mount folders of a node: use the team's storage"
    if sum(kind in volume for kind in _KINDS) != 1:
        kinds = ", ".join(_KINDS)
        return Kind.CHOOSE, f"a TrainJob mounts only {kinds}: use the team's storage"
    return None


def _unfit_folder(folder: str, below: str) -> str:
    """Return why a TrainJob can't mount something in a folder; empty when it can."""
    if any(_overlap(folder, own) for own in FOLDERS):
        return "the runtime has files of its own there: mount it elsewhere"
    if not _FOLDER.fullmatch(folder) or not _BELOW.fullmatch(below):
        return "the admission policies permit plain paths only: mount it elsewhere"
    return ""


def _overlap(folder: str, own: str) -> bool:
    return folder == own or folder.startswith(f"{own}/") or own.startswith(f"{folder}/")
