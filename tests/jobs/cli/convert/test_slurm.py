"""``trainyard convert slurm``: what it reads, what it prints where, and its exit codes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from tests.cli.calls import REPOSITORY, Ended, edit
from tests.jobs.cli.admitted import need_admitted
from trainyard.cli.exits import Exit
from trainyard.yaml_io.manifests import parse_manifests

Call = Callable[..., Ended]
CASES = REPOSITORY / "tests" / "jobs" / "convert" / "slurm" / "cases"
WHERE = ("--team", "nlp", "--cluster", "prod-east")


@pytest.fixture
def script(repository: Path) -> Path:
    return Path(shutil.copy(CASES / "array.sbatch", repository / "array.sbatch"))


def test_result_is_what_fit_admits(trainyard: Call, script: Path) -> None:
    """What one command prints is a file for the other, with a job for each index."""
    ended = trainyard("convert", "slurm", script.name, *WHERE)
    script.with_name("result.yaml").write_text(ended.out, "utf-8")
    judged = trainyard("fit", "result.yaml", *WHERE)

    assert ended.code == Exit.FINE
    assert ended.err.splitlines()[-1] == "3 jobs converted"
    need_admitted(judged, *(f"team-nlp/sweep-{index}-xxxxx" for index in (0, 2, 4)))


def test_standard_input_is_read(trainyard: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    content = (CASES / "mpirun.sbatch").read_bytes()
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(content)))

    ended = trainyard("convert", "slurm", "-")

    assert ended.code == Exit.FINE
    assert "standard input:12:46: changed: `--bind-to none`: " in ended.err
    assert len(parse_manifests(ended.out)) == 1


def test_one_refused_script_does_not_stop_the_others(trainyard: Call, script: Path) -> None:
    for name in ("hetjob.sbatch", "background.sbatch"):
        shutil.copy(CASES / name, script.with_name(name))

    ended = trainyard("convert", "slurm", "hetjob.sbatch", "background.sbatch", "array.sbatch")

    assert ended.code == Exit.FINDINGS
    assert "background.sbatch:3:1: refused: `srun ... &`: " in ended.err
    expected = "3 jobs converted, 1 job in part, without a command, 1 job not converted"
    assert ended.err.splitlines()[-1] == expected
    assert len(parse_manifests(ended.out)) == 4


def test_job_in_part_fails_until_its_command_is_written(trainyard: Call, script: Path) -> None:
    """All reasons are there at once, and the lines to write the command from."""
    shutil.copy(CASES / "many-refusals.sbatch", script.with_name("many.sbatch"))

    ended = trainyard("convert", "slurm", "many.sbatch", *WHERE)
    (first, _) = parse_manifests(ended.out)

    refused = [line for line in ended.err.splitlines() if ": refused: " in line]
    assert [int(line.split(":")[1]) for line in refused] == [5, 6, 8, 9]
    assert ended.code == Exit.FINDINGS
    assert "exit 64" in first["spec"]["trainer"]["args"][0]
    assert "\n#   srun --pty bash\n" in ended.out


def test_edits_of_a_script_change_the_job_and_their_revert_restores_it(
    trainyard: Call, script: Path
) -> None:
    first = trainyard("convert", "slurm", script.name).out
    edit(script, "--gpus=8", "--gpus=4")
    second = trainyard("convert", "slurm", script.name).out
    edit(script, "--gpus=4", "--gpus=8")

    assert "numProcPerNode: 4" in second
    assert trainyard("convert", "slurm", script.name).out == first


def test_lines_of_windows_are_read(trainyard: Call, script: Path) -> None:
    unix = trainyard("convert", "slurm", script.name).out
    script.write_bytes(script.read_bytes().replace(b"\n", b"\r\n"))

    assert trainyard("convert", "slurm", script.name).out == unix


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (b"\xff\xfe", Exit.IO, "it is not UTF-8"),
        (b"", Exit.FINDINGS, "refused: the script: it starts no program"),
    ],
)
def test_what_is_no_script(
    trainyard: Call, here: Path, content: bytes, code: Exit, message: str
) -> None:
    (here / "x.sbatch").write_bytes(content)

    ended = trainyard("convert", "slurm", "x.sbatch")

    assert (ended.code, ended.out) == (code, "")
    assert message in ended.err


def test_unknown_team_is_a_wrong_use(trainyard: Call, script: Path) -> None:
    ended = trainyard("convert", "slurm", script.name, "--team", "nl", "--cluster", "prod-east")

    assert ended.code == Exit.USAGE
    assert "did you mean `nlp`?" in ended.err
