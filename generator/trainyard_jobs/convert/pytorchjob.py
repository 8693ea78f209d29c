"""A PyTorchJob of Kubeflow's training operator as a draft of a TrainJob.

Sources: kubeflow/training-operator:pkg/apis/kubeflow.org/v1/pytorch_types.go@2f18ab7a and
pkg/controller.v1/pytorch/envvar.go@1417bbc3.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

from trainyard.diagnostics import Pointer
from trainyard.model.launcher import TORCHRUN
from trainyard.model.quantity import whole_number
from trainyard.model.tenant import Tenant
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.finish import finish
from trainyard_jobs.convert.model import Body, Conversion, Kind
from trainyard_jobs.convert.mpijob import pods, policy
from trainyard_jobs.convert.mpijob.command import Words, note_suspects, words_of
from trainyard_jobs.convert.mpijob.fields import PYTORCHJOB, Fields, Path
from trainyard_jobs.convert.mpijob.job import beside, named, note_left, with_volumes
from trainyard_jobs.convert.scripts import calls_mpi
from trainyard_jobs.convert.shell import one_call, script_of
from trainyard_jobs.convert.torchrun import GIVEN, read_torchrun, starter

_LAUNCHER = re.compile(
    r"\b(torchrun|torch\.distributed\.(run|launch)|accelerate +launch|deepspeed) "
)
_OF_POD = (
    "export MASTER_ADDR=$PET_MASTER_ADDR MASTER_PORT=$PET_MASTER_PORT RANK=$PET_NODE_RANK "
    "WORLD_SIZE=$PET_NNODES\n"
)
"""What the operator sets in each pod, by what Trainer sets."""
_RESERVED = frozenset({"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK"})


def is_pytorchjob(body: Body) -> bool:
    """Return whether an object is a PyTorchJob, of whatever version."""
    is_ours = str(body.get("apiVersion", "")).startswith("kubeflow.org/")
    return is_ours and body.get("kind") == PYTORCHJOB.name


def converted_pytorchjob(body: Body, at: Pointer, tenant: Tenant | None) -> Conversion:
    """Return a PyTorchJob as a TrainJob.

    Args:
        body: a PyTorchJob.
        at: its place.
        tenant: the team that submits it; None when it is not known.
    """
    return beside(finish(draft_of_pytorchjob(body, at), tenant), body, at)


def draft_of_pytorchjob(body: Body, at: Pointer) -> Draft:
    """Return a PyTorchJob as a draft; its notes name each field that the draft lacks.

    Args:
        body: a PyTorchJob.
        at: its place.
    """
    fields = Fields(body, at, PYTORCHJOB)
    policy.skip_what_the_server_writes(fields)
    draft = replace(named(fields), launcher=TORCHRUN.name)
    if first := _first_role(fields):
        master = pods.main_container(fields, first)
        has_workers = fields.mapping(*fields.role("Worker", "template", "spec"))
        worker = pods.main_container(fields, "Worker") if has_workers else master
        draft = _sized(fields, draft, master)
        draft = _with_program(fields, draft, master, worker)
        draft = with_volumes(fields, draft, master, worker)
        draft = policy.with_metadata(fields, draft)
        draft = policy.with_limits(fields, draft, (master[:-2], worker[:-2]))
        _note_roles(fields, master, worker)
        note_left(fields)
    return replace(draft, notes=tuple(fields.notes))


def _first_role(fields: Fields) -> str:
    """Return the role whose command is that of the job; empty for a job that can't be read."""
    fields.take("kind")
    version = fields.text("apiVersion")
    if version != "kubeflow.org/v1":
        text = "only v1 is read: write the job as v1"
        fields.note(Kind.REFUSED, ("apiVersion",), f"apiVersion {version}", text)
        return ""
    for role in PYTORCHJOB.roles:
        if fields.mapping(*fields.role(role, "template", "spec")):
            return role
    at = fields.role("")[:2]
    fields.note(Kind.REFUSED, at, "Master", "there is no pod template of the master or a worker")
    return ""


def _sized(fields: Fields, draft: Draft, master: Path) -> Draft:
    """Return a draft with its image and numbers: a pod of any role is a node."""
    nodes = 0
    for role in PYTORCHJOB.roles:
        if fields.mapping(*fields.role(role, "template", "spec")):
            nodes += fields.number(1, *fields.role(role, "replicas"))
    sizes = {
        "nodes": fields.role("Worker", "replicas"),
        "ranks": ("spec", "nprocPerNode"),
        "gpus": (*master, "resources"),
        "image": (*master, "image"),
        "launcher": master,
    }
    if fields.mapping(*master, "resources"):
        sizes["resources"] = (*master, "resources")
    fields.take("spec", "nprocPerNode")
    _note_elastic(fields)
    pods.note_devices(fields, master)
    return replace(
        draft,
        nodes=max(1, nodes),
        image=fields.text(*master, "image"),
        gpus=pods.gpus(fields, master),
        places={**draft.places, **fields.places(sizes)},
    )


def _note_elastic(fields: Fields) -> None:
    """Note what an elastic job has and a TrainJob lacks."""
    elastic: Path = ("spec", "elasticPolicy")
    limits = [fields.peek(*elastic, name) for name in ("minReplicas", "maxReplicas")]
    if limits[0] != limits[1]:
        text = "a TrainJob has a fixed number of nodes: no elastic training"
        fields.note(Kind.CHOOSE, elastic, "elasticPolicy", text)
        fields.take(*elastic)
    if restarts := fields.take(*elastic, "maxRestarts"):
        text = "the runtime decides how often a job starts again; torchrun has `--max-restarts`"
        what = f"elasticPolicy.maxRestarts {restarts}"
        fields.note(Kind.CHANGED, (*elastic, "maxRestarts"), what, text)


def _with_program(fields: Fields, draft: Draft, master: Path, worker: Path) -> Draft:
    """Return a draft with the command of each pod, and the variables of the ranks."""
    words = words_of(fields, master)
    folder = fields.text(*master, "workingDir")
    places: dict[str, Pointer] = {}
    variables: list[Body] = []
    for name, (path, variable) in pods.environment(fields, [worker, master]).items():
        places[name] = fields.place(*path)
        if name in _RESERVED or name.startswith("PET_"):
            fields.note(Kind.DROPPED, path, f"variable {name}", "Trainer and torchrun give it")
        else:
            variables.append(variable)
    if not words.command:
        text = "the image's entry point starts the job: write what it runs as `command`"
        fields.note(Kind.REFUSED, master, "Master: command", text)
        return draft
    note_suspects(fields, zip(words.words, words.places, strict=True))
    draft = _with_call(fields, draft, words, folder)
    return replace(draft, env=tuple(variables), places={**places, **draft.places})


def _with_call(fields: Fields, draft: Draft, words: Words, folder: str) -> Draft:
    """Return a draft with the words that each pod runs: a launcher, or a program that is a rank."""
    own, at = list(words.words), words.places[0]
    script = script_of(own)
    below, call = one_call(own[script]) if script == len(own) - 1 else ("", [])
    if starter(call) == "torchrun":
        return _of_torchrun(fields, draft, call, at, below or folder)
    if script and _LAUNCHER.search(f"{own[script]} "):
        return _of_script(fields, draft, own, script, folder)
    if starter(own) == "torchrun":
        return _of_torchrun(fields, draft, own, at, folder)
    _need_rank(fields, own, at)
    _note_gpus(fields, draft, own[0], at)
    call = ["--no-python", *_in_folder(own, folder)]
    return replace(draft, ranks=_ranks(fields, 1), command=TORCHRUN.command, args=tuple(call))


def _need_rank(fields: Fields, words: list[str], at: Path) -> None:
    """Refuse a program that is not a rank."""
    if starter(words) or calls_mpi(shlex.join(words)):
        text = "it starts other pods or ranks itself: give the program, or start it with torchrun"
        fields.note(Kind.REFUSED, at, f"`{words[0]}`", text)


def _note_gpus(fields: Fields, draft: Draft, program: str, at: Path) -> None:
    """Note which GPUs a program sees that is a rank."""
    if (draft.gpus or 0) > 1:
        text = f"each pod is one rank, which has {draft.gpus} GPUs there"
        fields.note(Kind.CHANGED, at, f"`{program}`", text)
    else:
        text = "ranks of a node see all of its GPUs: the program must choose by LOCAL_RANK"
        fields.note(Kind.CHOOSE, at, f"`{program}`", text)


def _in_folder(words: list[str], folder: str) -> list[str]:
    if not folder:
        return words
    return ["/bin/bash", "-c", 'cd "$0" && exec "$@"', folder, *words]


def _of_torchrun(fields: Fields, draft: Draft, words: list[str], at: Path, folder: str) -> Draft:
    """Return a draft with a call of torchrun, without what Trainer gives."""
    call = read_torchrun(words)
    if call.unknown >= 0:
        option = words[call.unknown]
        fields.note(Kind.REFUSED, at, f"`{option}`", "torchrun has no such option")
        return draft
    if not call.takes(draft.nodes):
        text = f"it waits for {call.nodes[0]} nodes, and the job has {draft.nodes}"
        fields.note(Kind.REFUSED, at, f"`--nnodes {call.nodes[0]}`", text)
    fields.note(Kind.DROPPED, at, "nodes, ranks and rendezvous of torchrun", GIVEN)
    ranks = whole_number(call.ranks[0]) or _ranks(fields, draft.gpus or 1)
    kept = call.words_kept(words)
    if folder:
        command, args = ("/bin/bash", "-c"), ('cd "$0" && exec torchrun "$@"', folder, *kept)
        return replace(draft, ranks=ranks, command=command, args=args)
    return replace(draft, ranks=ranks, command=TORCHRUN.command, args=tuple(kept))


def _ranks(fields: Fields, default: int) -> int:
    """Return the ranks of each pod that the job states."""
    stated = fields.text("spec", "nprocPerNode")
    older = fields.text("spec", "elasticPolicy", "nProcPerNode")
    return whole_number(stated) or whole_number(older) or default


def _of_script(fields: Fields, draft: Draft, words: list[str], script: int, folder: str) -> Draft:
    """Return a draft with a script that starts the ranks of its pod."""
    text = (
        "the pod of every node runs it, with MASTER_ADDR, RANK and WORLD_SIZE as the operator set "
        "them: see that its numbers of nodes and ranks are those of the TrainJob"
    )
    at = fields.role("Master") if fields.peek(*fields.role("Master")) else fields.role("Worker")
    fields.note(Kind.CHOOSE, at, "the script", text)
    enter = f"cd {shlex.quote(folder)} || exit 1\n" if folder else ""
    words[script] = f"{_OF_POD}{enter}{words[script]}"
    ranks = _ranks(fields, draft.gpus or 1)
    return replace(draft, ranks=ranks, command=tuple(words[:script]), args=tuple(words[script:]))


def _note_roles(fields: Fields, master: Path, worker: Path) -> None:
    """Note what the pods of the two roles have apart, and a TrainJob has for both."""
    fields.take(*master, "name")
    fields.take(*master, "resources")
    fields.take(*master, "ports")
    if worker == master:
        return
    for name in ("name", "resources", "ports"):
        fields.take(*worker, name)
    for name in ("image", "command", "args", "workingDir"):
        theirs, ours = fields.take(*worker, name), fields.take(*master, name)
        if theirs != ours:
            text = "every pod has what the master has"
            fields.note(Kind.CHOOSE, (*worker, name), f"Worker: {name}", text)
