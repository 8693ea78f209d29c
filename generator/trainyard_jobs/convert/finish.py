"""Turn a draft into a TrainJob: with the runtime of a team, or with the advice to choose one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trainyard.model.launcher import LAUNCHERS, OPENMPI
from trainyard.model.priority import Priority
from trainyard.model.quantity import counted
from trainyard.model.tenant import Tenant
from trainyard_jobs.convert.choice import Choice, choose
from trainyard_jobs.convert.differences import differences, undecided
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.forwarding import forwarded
from trainyard_jobs.convert.image import full, is_reference, profile_name, repository
from trainyard_jobs.convert.model import Body, Conversion, Kind, Remark
from trainyard_jobs.convert.trainjob import PLACEHOLDER, Form, filled, train_job


def finish(draft: Draft, tenant: Tenant | None) -> Conversion:
    """Return the TrainJob of a draft.

    Args:
        draft: with the notes of its converter.
        tenant: the team on its cluster, one of whose runtimes is chosen; None leaves a placeholder
            and a note that says which runtime to choose.
    """
    if not draft.unread and any(note.kind is Kind.REFUSED for note in draft.notes):
        return _refused(draft)
    if tenant is None:
        return _unchosen(draft)
    chosen = choose(draft, tenant)
    if isinstance(chosen, Remark):
        return _refused(replace(draft, notes=(*draft.notes, chosen)))
    return _chosen(draft, chosen)


def _refused(draft: Draft) -> Conversion:
    return Conversion(draft.title, draft.at, None, draft.notes)


def _unchosen(draft: Draft) -> Conversion:
    """Return the TrainJob with a placeholder as its runtime."""
    gpus = f" on nodes with {counted(draft.gpus, 'GPU')}" if draft.gpus else ""
    image = f" and the image {draft.image}" if is_reference(draft.image) else ""
    wanted = (
        f"write the name of a runtime with the launcher {draft.launcher}{gpus}{image} in place of "
        f"`{PLACEHOLDER}`, or give `--team`, which also sets the queue and the priority class"
    )
    chosen = Remark(draft.at, Kind.CHOOSE, "spec.runtimeRef.name", wanted)
    notes = [*draft.notes, chosen, *_unknown_image(draft), *undecided(draft)]
    if draft.volumes:
        older = "write them as podTemplateOverrides if the cluster has Trainer 2.1"
        notes.append(Remark(draft.place("volumes"), Kind.CHOOSE, "spec.runtimePatches", older))
    runtime = _profile(draft, ()) if is_reference(draft.image) else None
    job = train_job(draft, Form(LAUNCHERS[draft.launcher].roles))
    return Conversion(draft.title, draft.at, job, tuple(notes), runtime, draft.unread)


def _chosen(draft: Draft, choices: Sequence[Choice]) -> Conversion:
    """Return the TrainJob with the best of the runtimes that fit."""
    choice = choices[0]
    launch, space = choice.launch, choice.space
    node_class = launch.hardware.node_class
    draft = forwarded(draft, launch.runtime)
    final = replace(
        _with_priority(draft, space.priorities),
        name=shortened(draft.name, launch.longest_job_name),
        namespace=space.namespace,
        queue=draft.queue if space.leads(draft.queue, node_class) else node_class,
        nodes=choice.nodes,
        ranks=choice.ranks or launch.ranks,
    )
    cluster = space.cluster
    form = Form(
        choice.roles, launch.name, cluster.settings.domain, cluster.release.patches_runtimes
    )
    job = train_job(final, form)
    notes = (*draft.notes, *_image_notes(draft, choices), *differences(draft, final, choice))
    keeps = not is_reference(draft.image) or repository(launch.runtime.image) == repository(
        draft.image
    )
    runtime = None if keeps else _profile(final, launch.runtime.hardware)
    return Conversion(draft.title, draft.at, job, notes, runtime, draft.unread)


def _with_priority(draft: Draft, priorities: Sequence[Priority]) -> Draft:
    """Return a draft with a class that the team may use, by default the lowest, and its time."""
    if not priorities:
        return replace(draft, priority="")
    by_name = {priority.name: priority for priority in priorities}
    priority = by_name.get(draft.priority, priorities[0])
    times = (draft.deadline, priority.deadline)
    deadline = min(filter(None, times), default=0)
    return replace(draft, priority=priority.name, deadline=deadline)


def shortened(name: str, longest: int) -> str:
    """Return a name of at most so many characters; to a prefix the API server appends five."""
    if not name.endswith("-"):
        return name[:longest].rstrip("-")
    return name if len(name) + 5 <= longest else f"{name[: longest - 6].rstrip('-')}-"


def _image_notes(draft: Draft, choices: Sequence[Choice]) -> Iterator[Remark]:
    at, launch = draft.place("image"), choices[0].launch
    has = f"runtime {launch.name} has {repository(launch.runtime.image)}"
    if not draft.image:
        text = f"the source names none; {has}: it must hold the program"
        yield Remark(at, Kind.CHOOSE, "image", text)
    elif not is_reference(draft.image):
        yield from _unknown_image(draft)
    elif repository(launch.runtime.image) != repository(draft.image):
        others = ", ".join(choice.launch.name for choice in choices[1:])
        text = (
            f"{has}: put the program into that image, or give the job's own a runtime, "
            f"`profiles/runtimes/{profile_name(draft.image)}.yaml`"
        )
        also = f"; {others} would fit too" if others else ""
        yield Remark(at, Kind.CHOOSE, f"image {draft.image}", text + also)
    elif full(draft.image) not in {launch.runtime.image, launch.runtime.image.partition("@")[0]}:
        text = f"runtime {launch.name} has another version of it"
        yield Remark(at, Kind.CHANGED, f"image {draft.image}", text)


def _unknown_image(draft: Draft) -> Iterator[Remark]:
    """Yield that a source names no image, but what a tool puts one in place of."""
    if draft.image and not is_reference(draft.image):
        text = (
            "it is not a name of an image: write the one that a tool or a shell puts in its place, "
            "and convert the job again"
        )
        yield Remark(draft.place("image"), Kind.CHOOSE, f"image {draft.image}", text)


def _profile(draft: Draft, hardware: Sequence[str]) -> Body:
    """Return the profile of a runtime with the image of a job.

    Versions in the image, and hardware without a team, are not known; `trainyard validate` reports
    that they are missing.
    """
    launcher = "" if draft.launcher == OPENMPI.name else LAUNCHERS[draft.launcher].name
    return filled(
        {
            "version": 1,
            "image": full(draft.image),
            "launcher": launcher,
            "hardware": list(hardware),
            "sharedMemory": draft.shared_memory,
            "maxNodes": draft.nodes,
            "grace": f"{draft.grace}s" if draft.grace else "",
            "restarts": draft.restarts if "restarts" in draft.places else 0,
        }
    )
