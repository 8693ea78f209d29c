"""An MPIJob as a draft of a TrainJob."""

from __future__ import annotations

import re
from dataclasses import replace

from trainyard.diagnostics import Pointer
from trainyard.model.lookup import value_at
from trainyard.model.tenant import Tenant
from trainyard_jobs.convert.draft import LAUNCHER, LAUNCHER_RESOURCES, Draft
from trainyard_jobs.convert.finish import finish
from trainyard_jobs.convert.model import Body, Conversion, Kind, Remark
from trainyard_jobs.convert.mpijob import pods, policy
from trainyard_jobs.convert.mpijob.command import call_of, words_of
from trainyard_jobs.convert.mpijob.fields import MPIJOB, Fields, Path
from trainyard_jobs.convert.mpijob.implementation import implementation
from trainyard_jobs.convert.mpijob.meanings import meaning_of, shown
from trainyard_jobs.convert.mpijob.suspects import in_template
from trainyard_jobs.convert.mpijob.volumes import volumes_of
from trainyard_jobs.convert.options import Ranks
from trainyard_jobs.convert.shell import script_of

_GROUP = "kubeflow.org/"
_BY_EXEC = ("kubeflow.org/v1alpha2", "kubeflow.org/v1")
"""Versions whose operator started the ranks by `kubectl exec`."""
_VERSIONS = (*_BY_EXEC, "kubeflow.org/v2beta1")


def is_mpijob(body: Body) -> bool:
    """Return whether an object is an MPIJob, of whatever version."""
    return body.get("kind") == MPIJOB.name and str(body.get("apiVersion", "")).startswith(_GROUP)


def converted(body: Body, at: Pointer, tenant: Tenant | None) -> Conversion:
    """Return an MPIJob as a TrainJob.

    Args:
        body: an MPIJob of any version.
        at: its place.
        tenant: the team that submits it; None when it is not known.
    """
    return beside(finish(draft_of(body, at), tenant), body, at)


def beside(conversion: Conversion, body: Body, at: Pointer) -> Conversion:
    """Return a conversion with a note if source and TrainJob can't exist at the same time."""
    name = value_at(body, "metadata.name")
    if conversion.job is None or not name or value_at(conversion.job, "metadata.name") != name:
        return conversion
    if value_at(conversion.job, "metadata.namespace") != value_at(body, "metadata.namespace"):
        return conversion
    kind = body.get("kind")
    meaning = f"delete the {kind} before you create the TrainJob: both have a Service of this name"
    collision = Remark(at.below(("metadata", "name")), Kind.CHOOSE, f"name {name}", meaning)
    return replace(conversion, notes=(*conversion.notes, collision))


def draft_of(body: Body, at: Pointer) -> Draft:
    """Return an MPIJob as a draft; its notes name each field that the draft lacks.

    Args:
        body: an MPIJob of any version.
        at: its place.
    """
    fields = Fields(body, at, MPIJOB)
    policy.skip_what_the_server_writes(fields)
    draft = named(fields)
    if _is_convertible(fields):
        launcher = pods.main_container(fields, "Launcher")
        has_workers = fields.mapping(*fields.role("Worker", "template", "spec"))
        worker = pods.main_container(fields, "Worker") if has_workers else launcher
        draft = _sized(fields, draft, launcher, worker)
        draft = _with_program(fields, draft, launcher, worker)
        draft = with_volumes(fields, draft, launcher, worker)
        draft = policy.with_metadata(fields, draft)
        draft = policy.with_limits(fields, draft, (launcher[:-2], worker[:-2]))
        _note_roles(fields, launcher, worker)
        note_left(fields)
    return replace(draft, notes=tuple(fields.notes))


def note_left(fields: Fields) -> None:
    """Note each field that was not read."""
    for path in fields.left():
        kind, meaning = meaning_of(path)
        fields.note(kind, path, shown(path), meaning)


def named(fields: Fields) -> Draft:
    """Return the draft of a job with its name and namespace."""
    namespace = fields.text("metadata", "namespace")
    name = fields.text("metadata", "name")
    prefix = fields.text("metadata", "generateName").rstrip("-")
    for key in ("name", "namespace", "generateName"):
        for kind, what, meaning in in_template(str(fields.peek("metadata", key) or "")):
            fields.note(kind, ("metadata", key), f"{key} {what}", meaning)
    shown_name = "/".join(filter(None, (namespace, name or prefix)))
    return Draft(
        title=f"{fields.kind.name} {shown_name}",
        at=fields.at,
        name=name or f"{prefix or fields.kind.name.lower()}-",
        launcher="",
        nodes=0,
        namespace=namespace,
        places={
            "name": fields.place("metadata", "name" if name else "generateName"),
            "namespace": fields.place("metadata", "namespace"),
        },
    )


def _is_convertible(fields: Fields) -> bool:
    """Return whether a job has a form that can be read; note why not."""
    fields.take("kind")
    version = fields.text("apiVersion")
    if version not in _VERSIONS:
        text = "only v2beta1, v1 and v1alpha2 are read: write the job as v2beta1"
        fields.note(Kind.REFUSED, ("apiVersion",), f"apiVersion {version}", text)
        return False
    if not fields.mapping(*fields.role("Launcher", "template", "spec")):
        text = "there is no pod template of the launcher"
        fields.note(Kind.REFUSED, fields.role("Launcher")[:2], "Launcher", text)
        return False
    if version in _BY_EXEC:
        text = (
            "there `kubectl exec` started the ranks and here ssh does: the image needs sshd, ssh "
            "and bash"
        )
        fields.note(Kind.CHOOSE, ("apiVersion",), f"apiVersion {version}", text)
    return True


def _sized(fields: Fields, draft: Draft, launcher: Path, worker: Path) -> Draft:
    """Return a draft with its launcher, image and numbers."""
    image = fields.text(*worker, "image") or fields.text(*launcher, "image")
    program = next(iter(words_of(fields, launcher).words), "")
    sizes = {
        "nodes": fields.role("Worker", "replicas"),
        "ranks": ("spec", "slotsPerWorker"),
        "gpus": (*worker, "resources"),
        "image": (*worker, "image"),
        "launcher": ("spec", "mpiImplementation"),
    }
    if fields.mapping(*worker, "resources"):
        sizes["resources"] = (*worker, "resources")
    if worker != launcher:
        sizes |= _of_launcher(fields, launcher)
    pods.note_devices(fields, worker)
    return replace(
        draft,
        launcher=implementation(fields, image, program),
        nodes=_nodes(fields),
        image=image,
        gpus=pods.gpus(fields, worker),
        ranks=fields.number(1, "spec", "slotsPerWorker"),
        places={**draft.places, **fields.places(sizes)},
    )


def _of_launcher(fields: Fields, launcher: Path) -> dict[str, Path]:
    """Return the places of a launcher beside workers, and of its requests."""
    places: dict[str, Path] = {}
    if fields.peek("spec", "runLauncherAsWorker") is not True:
        places[LAUNCHER] = fields.role("Launcher")
    if fields.mapping(*launcher, "resources"):
        places[LAUNCHER_RESOURCES] = (*launcher, "resources")
    return places


def _nodes(fields: Fields) -> int:
    """Return the pods with ranks; the launcher's is one of them here, with the first ranks."""
    path = fields.role("Worker", "replicas")
    workers = fields.number(0, *path)
    if fields.take("spec", "runLauncherAsWorker") is True:
        return workers + 1
    return max(1, workers)


def _with_program(fields: Fields, draft: Draft, launcher: Path, worker: Path) -> Draft:
    call = call_of(fields, launcher, Ranks(draft.launcher, draft.nodes, draft.ranks))
    variables: dict[str, Body] = {}
    places: dict[str, Pointer] = {}
    for name, (path, variable) in pods.environment(fields, [worker, launcher]).items():
        places[name] = fields.place(*path)
        if name not in call.env:
            variables[name] = variable
    for name, value in call.env.items():
        variables[name] = {"name": name, "value": value}
    return replace(
        draft,
        ranks=call.slots or draft.ranks,
        command=call.command,
        args=call.args,
        env=tuple(variables.values()),
        places={**places, **draft.places},
    )


def with_volumes(fields: Fields, draft: Draft, launcher: Path, worker: Path) -> Draft:
    """Return a draft with the volumes of both roles."""
    volumes = volumes_of(fields, [worker, launcher])
    shared = fields.place(*volumes.shared_at)
    first = fields.place(*worker[:-2], "volumes")
    own = {**fields.places(volumes.places), **draft.places}
    return replace(
        draft,
        volumes=tuple(volumes.volumes.values()),
        mounts=tuple(volumes.mounts.values()),
        shared_memory=volumes.shared_memory,
        places={**own, "volumes": first, "shared_memory": shared},
    )


def _note_roles(fields: Fields, launcher: Path, worker: Path) -> None:
    """Note what the pods of the two roles have apart, and a TrainJob has for both."""
    fields.take(*launcher, "name")
    fields.take(*worker, "name")
    fields.take(*fields.role("Launcher", "replicas"))
    if worker == launcher:
        fields.take(*launcher, "resources")
        return
    image = fields.text(*launcher, "image")
    if image != fields.text(*worker, "image"):
        text = "launcher and ranks have one image, that of the runtime"
        fields.note(Kind.CHOOSE, (*launcher, "image"), f"Launcher: image {image}", text)
    fields.take(*worker, "resources")
    fields.take(*launcher, "resources")
    _note_preparation(fields, worker)


_WAITS = re.compile(r"(?:(?:exec|mkdir -p) )?\S*sshd\b|service ssh\b|ssh-keygen -A|sleep\b")


def _note_preparation(fields: Fields, worker: Path) -> None:
    """Note a command of the workers, unless it only waits for ranks."""
    own = words_of(fields, worker)
    script = script_of(list(own.words))
    text = own.words[script] if script else " ".join(own.words)
    steps = filter(None, map(str.strip, re.split(r"&&|;|\n", text)))
    if not all(map(_WAITS.match, steps)):
        text = "it does not run: the runtime starts its sshd; move preparations into the command"
        fields.note(Kind.CHOOSE, own.places[0], "Worker: command", text)
