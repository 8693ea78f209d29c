"""Read a dump of a cluster's jobs, as ``kubectl get workloads -A -o json`` prints it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from trainyard.diagnostics import Step, TreeError
from trainyard.handed_in import Body, listed, shown
from trainyard.model.lookup import text, value_at
from trainyard.model.workload import (
    GROUP,
    TRAINJOB,
    VERSIONS,
    Dump,
    Workload,
    is_finished,
    named,
    workload_of,
)

_COMMAND = "kubectl get workloads.kueue.x-k8s.io,trainjobs.trainer.kubeflow.org -A -o json"
_RUNTIME = "ClusterTrainingRuntime"

Listed = tuple[tuple[Step, ...], Body]
"""An object of a file, with its path."""


def read_dump(file: Path) -> Dump:
    """Return the jobs of a cluster that have not ended; objects of other kinds are passed over.

    Args:
        file: with Workloads; TrainJobs in it show which runtime each job has.

    Raises:
        TreeError: it can't be read, or is not a dump of Workloads.
    """
    return dump_of(shown(file), listed(file))


def dump_of(name: str, found: Sequence[Listed]) -> Dump:
    """Return the jobs among the objects of a file.

    Args:
        name: of the file, for messages.
        found: its objects.

    Raises:
        TreeError: none of them is a Workload, or one is broken.
    """
    runtimes = _runtimes(name, found)
    workloads = [each for each in found if _is_workload(each[1])]
    if found and not workloads:
        raise TreeError(
            f"{name} has no Workload of {' or '.join(VERSIONS)}; make it with `{_COMMAND}`"
        )
    jobs = (_workload(name, *each, runtimes) for each in workloads)
    return Dump(name, tuple(job for job in jobs if job is not None))


def _runtimes(name: str, found: Sequence[Listed]) -> dict[tuple[str, str], str]:
    """Return the runtime of each TrainJob, by its namespace and name."""
    return {
        _name(name, path, body): _runtime(body)
        for path, body in found
        if (body.get("apiVersion"), body["kind"]) == TRAINJOB
    }


def _workload(
    name: str, path: tuple[Step, ...], body: Body, runtimes: Mapping[tuple[str, str], str]
) -> Workload | None:
    """Return a job; None for one that has ended, or that somebody has deactivated."""
    if body["apiVersion"] not in VERSIONS:
        known = " or ".join(VERSIONS)
        raise _wrong(name, path, f"its apiVersion is {str(body['apiVersion'])[:60]!r}, not {known}")
    try:
        workload = workload_of(body, runtimes)
    except ValueError as error:
        raise _wrong(name, path, str(error)) from error
    waits = value_at(body, "spec.active") is not False and not is_finished(body)
    return workload if workload.has_quota or waits else None


def _is_workload(body: Body) -> bool:
    return body["kind"] == "Workload" and str(body.get("apiVersion")).startswith(f"{GROUP}/")


def _runtime(job: Body) -> str:
    """Return the name of a TrainJob's ClusterTrainingRuntime; empty where it has another kind."""
    kind = value_at(job, "spec.runtimeRef.kind")
    return text(job, "spec", "runtimeRef", "name") if kind in {None, _RUNTIME} else ""


def _name(file: str, path: tuple[Step, ...], body: Body) -> tuple[str, str]:
    try:
        return named(body)
    except ValueError as error:
        raise _wrong(file, path, str(error)) from error


def _wrong(file: str, path: tuple[Step, ...], message: str) -> TreeError:
    place = f"items[{path[-1]}]" if len(path) > 1 else f"document {path[0]}"
    return TreeError(f"{file}: {place}: {message}")
