"""Convert batch scripts of Slurm that files hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trainyard.handed_in import OBJECTS, content_of, shown
from trainyard.model.tenant import Tenant
from trainyard.yaml_io.source import Source
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.slurm.convert import read_batch_script
from trainyard_jobs.workflows.convert import Converted, drafts_converted


def convert_batch_scripts(files: Sequence[Path], tenant: Tenant | None) -> Converted:
    """Return batch scripts of Slurm as TrainJobs.

    Args:
        files: each one script; ``-`` is standard input.
        tenant: the team that submits the jobs; None when it is not known.

    Raises:
        TreeError: a file can't be read.
    """
    return drafts_converted(files, _read, tenant)


def _read(file: Path) -> tuple[Source, Sequence[Draft]]:
    content, text = content_of(file, OBJECTS)
    source = Source(shown(file), content)
    return source, read_batch_script(source.file, text)
