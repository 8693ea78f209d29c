"""What a runtime, a queue and a namespace change of a job that is converted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from trainyard.model.launcher import LAUNCHERS, Launcher
from trainyard.model.lookup import value_at
from trainyard.model.quantity import (
    counted,
    format_amount,
    format_bytes,
    format_cpu,
    in_base_units,
)
from trainyard_jobs.convert import fetches, folder
from trainyard_jobs.convert.choice import Choice
from trainyard_jobs.convert.draft import LAUNCHER, LAUNCHER_RESOURCES, Draft
from trainyard_jobs.convert.fetches import fetch_in
from trainyard_jobs.convert.folder import relative_program
from trainyard_jobs.convert.model import Kind, Remark


def differences(draft: Draft, final: Draft, choice: Choice) -> Iterator[Remark]:
    """Yield what differs between a draft and the TrainJob that was made of it."""
    yield from _size(draft, final, choice)
    yield from _launcher(draft, final, choice)
    yield from _resources(draft, choice)
    yield from _names(draft, final)
    yield from _order(draft, final, choice)
    yield from _end(draft, choice)
    yield from _shared_memory(draft, choice)
    yield from _objects(draft, final, choice)
    yield from _folder(draft, choice.launch.runtime.launcher)
    if fetched := fetch_in([*draft.command, *draft.args], choice.space.cluster):
        yield Remark(draft.place("command"), Kind.CHOOSE, f"`{fetched}`", fetches.MEANING)


def _folder(draft: Draft, launcher: Launcher) -> Iterator[Remark]:
    """Yield a script that a job without MPI does not find, since it starts in another folder."""
    script = "" if launcher.mpi else relative_program([*draft.command, *draft.args])
    if script:
        yield Remark(draft.place("command"), Kind.CHOOSE, f"`{script}`", folder.MEANING)


def _size(draft: Draft, final: Draft, choice: Choice) -> Iterator[Remark]:
    idle = final.nodes * choice.launch.gpus - draft.nodes * (draft.gpus or 0)
    moved = draft.ranks and (draft.nodes, draft.ranks) != (final.nodes, final.ranks)
    if moved:
        text = (
            f"{counted(draft.nodes, 'pod')} with {counted(draft.ranks, 'rank')} each are "
            f"{counted(final.nodes, 'node')} with {counted(final.ranks, 'rank')} each"
        )
        yield Remark(draft.place("nodes"), Kind.CHANGED, "nodes", text)
    if draft.gpus == 0 and idle > 0:
        text = (
            f"the source asks for none, and the job occupies {counted(idle, 'GPU')}: choose a "
            "runtime on nodes without, unless the program uses them"
        )
        yield Remark(draft.place("gpus"), Kind.CHOOSE, "gpus", text)
    elif draft.gpus is not None and idle > 0:
        text = (
            f"the job occupies {counted(final.nodes * choice.launch.gpus, 'GPU')} and the source "
            f"asked for {draft.nodes * draft.gpus}: use all, or choose a runtime on other nodes"
        )
        yield Remark(draft.place("gpus"), Kind.CHANGED, "gpus", text)


def _launcher(draft: Draft, final: Draft, choice: Choice) -> Iterator[Remark]:
    """Yield what becomes of a launcher without ranks."""
    small = choice.launch.runtime.small_launcher
    if LAUNCHER in draft.places and not small:
        pods = f"{counted(final.nodes, 'pod')}, not {final.nodes + 1}"
        text = f"its pod has ranks too: the job has {pods}"
        yield Remark(draft.place(LAUNCHER), Kind.CHANGED, "Launcher", text)
    if LAUNCHER_RESOURCES in draft.places:
        own = choice.launch.hardware.launcher
        its = f"{format_cpu(own.cpu)} CPUs and {format_bytes(own.memory)}"
        has = its if small else "ranks, and what every pod has"
        text = f"the pod of the launcher has {has}"
        yield Remark(draft.place(LAUNCHER_RESOURCES), Kind.DROPPED, "Launcher: resources", text)


def _resources(draft: Draft, choice: Choice) -> Iterator[Remark]:
    if "resources" in draft.places:
        amounts = choice.launch.per_node.items()
        shown = (f"{name} {format_amount(name, n)}" for name, n in amounts if _is_usual(name))
        text = f"every pod has what {choice.launch.name} gives: {', '.join(shown)}"
        yield Remark(draft.place("resources"), Kind.CHANGED, "resources", text)


def _is_usual(resource: str) -> bool:
    return resource in {"cpu", "memory"} or resource.endswith("/gpu")


def _names(draft: Draft, final: Draft) -> Iterator[Remark]:
    if draft.name != final.name:
        text = f"`{final.name}`; a longer name is admitted and its pods are never made"
        yield Remark(draft.place("name"), Kind.CHANGED, f"name `{draft.name}`", text)
    if draft.namespace not in {"", final.namespace}:
        text = f"the team's is {final.namespace}"
        yield Remark(draft.place("namespace"), Kind.CHANGED, f"namespace `{draft.namespace}`", text)


def _order(draft: Draft, final: Draft, choice: Choice) -> Iterator[Remark]:
    if draft.queue not in {"", final.queue}:
        text = f"jobs with {choice.launch.name} belong into `{final.queue}`"
        yield Remark(draft.place("queue"), Kind.CHANGED, f"queue `{draft.queue}`", text)
    if draft.priority not in {"", final.priority}:
        known = ", ".join(priority.name for priority in choice.space.priorities) or "none"
        text = f"the team's classes are {known}; the job has {final.priority or 'no class'}"
        yield Remark(draft.place("priority"), Kind.CHOOSE, f"priority `{draft.priority}`", text)
    if draft.deadline != final.deadline:
        text = f"Kueue ends a job of class {final.priority} after {final.deadline} s"
        yield Remark(draft.place("deadline"), Kind.CHANGED, "deadline", text)


def _end(draft: Draft, choice: Choice) -> Iterator[Remark]:
    runtime, name = choice.launch.runtime, choice.launch.name
    if draft.restarts != runtime.restarts:
        text = f"{name} {_starts_again(runtime.restarts)}"
        yield Remark(draft.place("restarts"), Kind.CHANGED, _restarts(draft), text)
    if draft.grace > runtime.grace:
        text = f"{name} gives {runtime.grace} s between SIGTERM and SIGKILL, not {draft.grace} s"
        yield Remark(draft.place("grace"), Kind.CHANGED, "grace period", text)
    if runtime.deadline:
        text = f"{name} ends each attempt after {runtime.deadline} s"
        yield Remark(draft.place("deadline"), Kind.CHANGED, "deadline", text)


def _restarts(draft: Draft) -> str:
    return f"restarts ({draft.restarts} there)"


def _starts_again(number: int) -> str:
    if not number:
        return "never starts a failed job again"
    return f"starts a failed job again up to {counted(number, 'time')}, with all of its pods"


def undecided(draft: Draft) -> Iterator[Remark]:
    """Yield what only the platform decides, of a draft for which no runtime was chosen."""
    decides = "the runtime decides it"
    parts = {
        "queue": (draft.queue, f"queue `{draft.queue}`", "the namespace must have it"),
        "priority": (draft.priority, f"priority `{draft.priority}`", "the cluster must have it"),
        "restarts": (draft.restarts, _restarts(draft), decides),
        "grace": (draft.grace, f"grace period of {draft.grace} s", decides),
        "shared_memory": (draft.shared_memory, f"{draft.shared_memory} of shared memory", decides),
        "resources": ("resources" in draft.places, "resources", decides),
        LAUNCHER: (LAUNCHER in draft.places, "Launcher: its ranks and resources", decides),
    }
    for attribute, (value, what, meaning) in parts.items():
        if value:
            kind = Kind.CHANGED if meaning == decides else Kind.CHOOSE
            yield Remark(draft.place(attribute), kind, what, meaning)
    if draft.launcher:
        yield from _folder(draft, LAUNCHERS[draft.launcher])


def _shared_memory(draft: Draft, choice: Choice) -> Iterator[Remark]:
    has = int(choice.launch.runtime.shared_memory * choice.launch.part)
    if draft.shared_memory and in_base_units("memory", draft.shared_memory) > has:
        text = f"{choice.launch.name} has {format_bytes(has)}, not {draft.shared_memory}"
        yield Remark(draft.place("shared_memory"), Kind.CHANGED, "shared memory", text)


_REFERENCES = {
    "persistentVolumeClaim.claimName": "PersistentVolumeClaim",
    "secret.secretName": "Secret",
    "configMap.name": "ConfigMap",
    "valueFrom.secretKeyRef.name": "Secret",
    "valueFrom.configMapKeyRef.name": "ConfigMap",
}
"""Fields of volumes and variables that name an object, and its kind."""


def _objects(draft: Draft, final: Draft, choice: Choice) -> Iterator[Remark]:
    """Yield the objects that the namespace must have and the profiles do not promise."""
    space = choice.space
    known = {("PersistentVolumeClaim", claim.name) for claim in space.claims}
    known |= {("Secret", secret.name) for secret in space.secrets}
    text = f"create it in {final.namespace}: without it the pods hold their quota and wait"
    for member, (field, kind) in product((*draft.volumes, *draft.env), _REFERENCES.items()):
        name = value_at(member, field)
        if name and (kind, str(name)) not in known:
            known.add((kind, str(name)))
            at = draft.place(str(member["name"]))
            yield Remark(at, Kind.CHOOSE, f"{kind} `{name}`", text)
