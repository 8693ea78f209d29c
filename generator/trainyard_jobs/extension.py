"""The commands for jobs, as Trainyard's command line finds them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.cli.extension import Extension, Need

_COMMANDS = {
    "fit": "Tell whether a TrainJob would start, and why not.",
    "job": "Print a TrainJob for a command, of the right size and queue for a team.",
    "convert": "Turn jobs of other systems into TrainJobs, and name what is lost.",
}
_NOT_BUILT = (
    "not built, so `fit` does not judge admission policies; run `trainyard fit --build`, or "
    "without Go install the wheel `trainyard-evaluator` of this version"
)


def _needs() -> Iterator[Need]:
    # A list of commands is shown without this import.
    from trainyard_jobs.admission.evaluator import is_built  # noqa: PLC0415

    yield Need("evaluator", "built" if is_built() else _NOT_BUILT)


EXTENSION = Extension(
    "Commands for jobs",
    _COMMANDS,
    {name: f"trainyard_jobs.cli.commands.{name}" for name in _COMMANDS},
    needs=_needs,
)
