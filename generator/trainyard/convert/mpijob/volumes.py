"""The volumes of an MPIJob that a TrainJob may have."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from trainyard.convert.model import Body, Kind
from trainyard.convert.mpijob.fields import Fields, Path
from trainyard.model.lookup import mapping

_KINDS = ("persistentVolumeClaim", "configMap", "secret", "emptyDir")
_OURS = frozenset(
    {"account", "dshm", "initializer", "mpi-hostfile", "mpi-ssh-auth", "ranks-home", "tools"}
)
_FOLDERS = (
    "/account",
    "/dev",
    "/etc/mpi",
    "/etc/passwd",
    "/home/mpiuser/.ssh",
    "/home/ranks",
    "/opt/trainyard",
    "/proc",
    "/sys",
    "/workspace",
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
        shared_memory: size of /dev/shm; empty when the source does not say.
        shared_at: where it says it.
    """

    volumes: dict[str, Body] = field(default_factory=dict)
    mounts: dict[str, Body] = field(default_factory=dict)
    shared_memory: str = ""
    shared_at: Path = ()


def volumes_of(fields: Fields, containers: list[Path]) -> Volumes:
    """Return the volumes of the ranks' containers.

    Args:
        fields: of the job.
        containers: of workers, then of the launcher: every pod has those of both.
    """
    found = Volumes()
    for container in containers:
        _add(found, fields, container)
    used = {mount["name"] for mount in found.mounts.values()}
    found.volumes = {name: each for name, each in found.volumes.items() if name in used}
    return found


def _add(found: Volumes, fields: Fields, container: Path) -> None:
    pod = container[:-2]
    bodies = {str(each.get("name")): (path, each) for path, each in fields.members(*pod, "volumes")}
    mounted: set[str] = set()
    for path, mount in fields.members(*container, "volumeMounts"):
        fields.take(*path)
        name = str(mount.get("name"))
        if name not in bodies:
            fields.note(Kind.DROPPED, path, f"mount of `{name}`", "the pod has no such volume")
            continue
        mounted.add(name)
        if _mount(found, fields, path, bodies[name]):
            at, volume = bodies[name]
            final = _final_name(found, name, volume)
            fields.take(*at)
            found.volumes[final] = {**_source(volume), "name": final}
            found.mounts[str(mount["mountPath"]).rstrip("/")]["name"] = final
    for name, (at, _) in bodies.items():
        if fields.take(*at) and name not in mounted:
            text = "the container of the ranks does not mount it"
            fields.note(Kind.DROPPED, at, f"volume `{name}`", text)


def _final_name(found: Volumes, name: str, volume: Body) -> str:
    """Return the name of a volume beside those of the runtime and of the other role."""
    final = f"job-{name}" if name in _OURS else name
    other = found.volumes.get(final)
    same = other is None or other == {**_source(volume), "name": final}
    return final if same else f"{final}-launcher"


def _source(volume: Body) -> Body:
    """Return what a volume is, without the empty values that keep a TrainJob from starting."""
    (kind,) = (each for each in _KINDS if each in volume)
    own = mapping(volume, kind)
    return {"name": "", kind: {key: each for key, each in own.items() if each not in _EMPTY}}


_EMPTY: tuple[object, ...] = (None, False, "", [], {})


def _mount(found: Volumes, fields: Fields, path: Path, volume: tuple[Path, Body]) -> bool:
    """Add a mount, and return whether a TrainJob may have it."""
    mount: Body = fields.peek(*path)
    folder = str(mount.get("mountPath", "")).rstrip("/")
    at, body = volume
    if folder == "/dev/shm":  # noqa: S108 - the ranks' own
        found.shared_memory = str(mapping(body, "emptyDir").get("sizeLimit", ""))
        found.shared_at = at
        fields.note(Kind.DROPPED, at, "volume at /dev/shm", "the runtime has one (`sharedMemory`)")
        return False
    if reason := _unfit(body, folder, str(mount.get("subPath", "x"))):
        kind, text = reason
        fields.note(kind, at, f"volume `{body.get('name')}` at {folder}", text)
        return False
    if found.mounts.get(folder, {}).get("name", body["name"]) != body["name"]:
        text = "launcher and workers mount different volumes there; the workers' was kept"
        fields.note(Kind.CHOOSE, path, f"mount at {folder}", text)
        return False
    for name in _UNKNOWN:
        if mount.get(name):
            text = "the admission policies refuse it: mount the volume itself"
            fields.note(Kind.CHOOSE, (*path, name), f"{name} at {folder}", text)
    found.mounts[folder] = _plain(mount, folder)
    return True


def _plain(mount: Body, folder: str) -> Body:
    rest = {key: mount[key] for key in ("readOnly", "subPath") if mount.get(key)}
    return {"name": mount["name"], "mountPath": folder, **rest}


def _unfit(volume: Body, folder: str, below: str) -> tuple[Kind, str] | None:
    """Return why a TrainJob can't have a mount; None when it can."""
    path = str(mapping(volume, "hostPath").get("path", ""))
    if path.startswith("/dev/"):
        return Kind.DROPPED, "the runtime gives pods their devices"
    if path:
        return Kind.CHOOSE, "pods can't mount folders of a node: use the team's storage"
    if sum(kind in volume for kind in _KINDS) != 1:
        kinds = ", ".join(_KINDS)
        return Kind.CHOOSE, f"a TrainJob mounts only {kinds}: use the team's storage"
    if any(_overlap(folder, own) for own in _FOLDERS):
        return Kind.CHOOSE, "the runtime has files of its own there: mount it elsewhere"
    if not _FOLDER.fullmatch(folder) or not _BELOW.fullmatch(below):
        return Kind.CHOOSE, "the admission policies permit plain paths only: mount it elsewhere"
    return None


def _overlap(folder: str, own: str) -> bool:
    return folder == own or folder.startswith(f"{own}/") or own.startswith(f"{folder}/")
