"""The cluster of a team's jobs, which the user names only where the team is on several."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import REPOSITORY, Ended, edit
from tests.jobs.cli.admitted import need_admitted
from trainyard.cli.exits import Exit

Call = Callable[..., Ended]
COMMAND = ("--", "python", "train.py")
SAMPLE = str(REPOSITORY / "overlays/prod-east/samples/vision/openmpi-cuda.yaml")
MPIJOB = str(REPOSITORY / "tests/jobs/convert/mpijob/cases/kueue.yaml")


def test_team_on_one_of_two_clusters_needs_no_name(trainyard: Call, repository: Path) -> None:
    made = trainyard("job", "--team", "vision", *COMMAND)
    judged = trainyard("fit", SAMPLE, "--team", "vision")
    converted = trainyard("convert", "mpijob", MPIJOB, "--team", "vision")

    assert repository.is_dir()
    assert made.code == converted.code == Exit.FINE
    assert made.out.startswith("# A job of team vision on prod-east, which ")
    need_admitted(judged, "team-vision/vision-openmpi-cuda")
    assert "\n  namespace: team-vision\n" in converted.out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ("--team", "nlp"),
            "team nlp is on several clusters; name a `--cluster`: lab, prod-east",
        ),
        (("--team", "visoin"), "there is no team `visoin`; did you mean `vision`?"),
        (
            ("--team", "vision", "--cluster", "lab"),
            "there is no team `vision` on lab; it is on prod-east",
        ),
        (
            ("--team", "vision", "--cluster", "lap"),
            "there is no cluster `lap`; did you mean `lab`?",
        ),
    ],
)
def test_wrong_team_or_cluster_is_a_wrong_use(
    trainyard: Call, repository: Path, arguments: tuple[str, ...], reason: str
) -> None:
    assert repository.is_dir()
    for call in (
        ("job", *arguments, *COMMAND),
        ("fit", SAMPLE, *arguments),
        ("convert", "mpijob", MPIJOB, *arguments),
    ):
        ended = trainyard(*call)
        assert (ended.code, ended.out) == (Exit.USAGE, "")
        assert f"error: {reason}" in ended.err


def test_findings_are_reported_before_the_question_for_a_cluster(
    trainyard: Call, repository: Path
) -> None:
    edit(repository / "profiles" / "teams" / "nlp.yaml", "nodes: 8, borrow", "nodes: 80, borrow")

    ended = trainyard("job", "--team", "nlp", *COMMAND)

    assert (ended.code, ended.out) == (Exit.FINDINGS, "")
    assert "error[capacity/oversubscribed]" in ended.err


def test_fit_takes_the_team_of_the_job(trainyard: Call, repository: Path) -> None:
    ended = trainyard("fit", SAMPLE)

    assert repository.is_dir()
    assert not ended.err
    need_admitted(ended, "team-vision/vision-openmpi-cuda")


@pytest.mark.parametrize(
    ("namespaces", "reason"),
    [
        (["elsewhere"], "no team owns the namespace of a job; name the `--team`"),
        ([None], "no team owns the namespace of a job; name the `--team`"),
        (
            ["team-vision", "team-nlp"],
            "the jobs belong to several teams, name one `--team`: nlp, vision",
        ),
    ],
    ids=["of nobody", "none", "of two teams"],
)
def test_fit_asks_for_the_team_that_no_namespace_tells(
    trainyard: Call, repository: Path, namespaces: list[str | None], reason: str
) -> None:
    job = Path(SAMPLE).read_text("utf-8")
    places = [f"  namespace: {each}\n" if each else "" for each in namespaces]
    jobs = [job.replace("  namespace: team-vision\n", each, 1) for each in places]
    file = repository / "jobs.yaml"
    file.write_text("---\n".join(jobs), "utf-8")
    ended = trainyard("fit", str(file))

    assert (ended.code, ended.out) == (Exit.USAGE, "")
    assert f"error: {reason}" in ended.err
