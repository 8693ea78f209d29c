"""What a command prints about a case, compared with what is committed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainyard.model.platform import Platform
from trainyard.model.tenant import Tenant
from trainyard_jobs.cli.convert.printing import printed
from trainyard_jobs.fit.verdict import Standing
from trainyard_jobs.fit.walk import judge
from trainyard_jobs.workflows.convert import Converted
from trainyard_jobs.workflows.fit import ground_of


def compare(file: Path, text: str, *, update: bool) -> None:
    """Compare with what is committed; read what `--update-golden` writes."""
    if update:
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def output(converted: Converted, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what the command prints: exit code, standard error and output."""
    code = printed(converted)
    shown = capsys.readouterr()
    return f"exit code {code}\n\n{shown.err}\n{shown.out}"


def need_admitted(
    converted: Converted,
    owner: Tenant,
    platform: Platform,
    manifests: Callable[[str], Any],
) -> None:
    """Require that each TrainJob fits without an edit."""
    (site,) = (each for each in platform.sites if each.name == owner.cluster.name)
    jobs = [each.job for each in converted.conversions if each.job is not None]
    ground = ground_of(site, owner, manifests(site.name), None)
    for job, judged in zip(jobs, judge(ground, jobs), strict=True):
        admitted = {Standing.ADMITTED, Standing.IN_PART}  # the latter without the evaluator
        assert judged.verdict.standing in admitted, (job, judged.verdict.checks)
