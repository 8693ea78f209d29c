"""Variables of a job on their way from a launcher without ranks to the ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from trainyard.model.launcher import OPENMPI
from trainyard.model.runtime import Runtime
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.model import Kind, Remark

_FORWARDED = ("OMPI_", "PRTE_", "PMIX_")
"""Beginnings of the variables that Open MPI gives to each rank by itself."""


def forwarded(draft: Draft, runtime: Runtime) -> Draft:
    """Return a draft whose command gives the job's variables to the ranks.

    Trainer writes them into the launcher's pod alone, where that has no ranks
    (kubeflow/trainer:pkg/runtime/framework/plugins/jobset/builder.go@v2.3.0). Open MPI passes on
    what ``-x`` names, and Hydra everything (Intel MPI's developer reference, I_MPI_HYDRA_ENV).
    """
    names = list(_unnamed(draft))
    if not (runtime.small_launcher and runtime.launcher == OPENMPI and names):
        return draft
    if draft.command[-1:] == OPENMPI.command:
        return replace(draft, args=(*passed(names), *draft.args))
    text = "they reach the launcher alone: add `-x NAME` for each after `mpirun`"
    note = Remark(draft.place(names[0]), Kind.CHOOSE, f"variables {', '.join(names)}", text)
    return replace(draft, notes=(*draft.notes, note))


def passed(names: Iterable[str]) -> Iterator[str]:
    """Yield the options with which Open MPI gives variables to its ranks."""
    for name in names:
        yield from ("-x", name)


def _unnamed(draft: Draft) -> Iterator[str]:
    """Yield the variables that no ``-x`` names yet."""
    after = zip(draft.args, draft.args[1:], strict=False)
    named = {word.partition("=")[0] for option, word in after if option == "-x"}
    for variable in draft.env:
        name = str(variable["name"])
        if name not in named and not name.startswith(_FORWARDED):
            yield name
