"""Every case: what is printed with its team and without, and that the TrainJobs start."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.jobs.convert.printed import compare, need_admitted, output
from trainyard.model.platform import Platform
from trainyard.model.tenant import Tenant
from trainyard_jobs.workflows.convert_slurm import convert_batch_scripts

Team = Callable[[str, str], Tenant]
HERE = Path(__file__).parent / "cases"
CASES = {
    path.name.partition(".")[0]: path
    for path in sorted(HERE.glob("*.sbatch"))
    if path.suffix != ".expected"
}
TEAMS = {"intel-mpi": ("science", "lab"), "lammps": ("science", "lab")}
"""Team and cluster of a case; `nlp` on `prod-east` by default."""
ALONE = ("torchrun", "lammps", "mpirun", "intel-mpi", "apptainer")
"""Cases that are printed without a team too."""


def submitter(case: str) -> tuple[str, str]:
    return TEAMS.get(case, ("nlp", "prod-east"))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("case", CASES)
def test_case_is_printed_as_expected(
    case: str, tenant: Team, capsys: pytest.CaptureFixture[str], update_golden: bool
) -> None:
    converted = convert_batch_scripts([Path(CASES[case].name)], tenant(*submitter(case)))

    compare(HERE / f"{case}.expected", output(converted, capsys), update=update_golden)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("case", ALONE)
def test_case_without_a_team_is_printed_as_expected(
    case: str, capsys: pytest.CaptureFixture[str], update_golden: bool
) -> None:
    converted = convert_batch_scripts([Path(CASES[case].name)], None)

    compare(HERE / f"{case}.alone.expected", output(converted, capsys), update=update_golden)


@pytest.mark.parametrize("case", CASES)
def test_converted_job_is_admitted(
    case: str, tenant: Team, manifests: Callable[[str], Any], platform: Platform
) -> None:
    """It fits without an edit; whether its image holds the program, nobody can judge."""
    owner = tenant(*submitter(case))

    need_admitted(convert_batch_scripts([CASES[case]], owner), owner, platform, manifests)
