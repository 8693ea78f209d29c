"""Convert batch scripts of Slurm that files hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trainyard.handed_in import OBJECTS, content_of, shown
from trainyard.model.tenant import Tenant
from trainyard.yaml_io.source import Source
from trainyard_jobs.convert.finish import finish
from trainyard_jobs.convert.model import Conversion
from trainyard_jobs.convert.slurm.convert import read_batch_script
from trainyard_jobs.workflows.convert import Converted, in_order


def convert_batch_scripts(files: Sequence[Path], tenant: Tenant | None) -> Converted:
    """Return batch scripts of Slurm as TrainJobs.

    Args:
        files: each one script; ``-`` is standard input.
        tenant: the team that submits the jobs; None when it is not known.

    Raises:
        TreeError: a file can't be read.
    """
    conversions: list[Conversion] = []
    sources: dict[str, Source] = {}
    for file in files:
        content, text = content_of(file, OBJECTS)
        source = sources[shown(file)] = Source(shown(file), content)
        drafts = read_batch_script(source.file, text)
        conversions += [in_order(finish(draft, tenant), source) for draft in drafts]
    return Converted(tuple(conversions), sources)
