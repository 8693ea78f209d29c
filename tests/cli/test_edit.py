from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from generator.cli.commands import add
from generator.edit.team import Added
from tests.cli.calls import Ended, edit

Call = Callable[..., Ended]


def test_new_repository_grows_to_a_tree(here: Path, trainyard: Call) -> None:
    """From an empty folder to a team's files, each step tells what it wrote and what comes next."""
    begun = trainyard("init")
    assert begun.code == 0
    written = [line.removeprefix("wrote ") for line in begun.out.splitlines()]
    assert sorted(written) == sorted(str(path.relative_to(here)) for path in here.rglob("*") if path.is_file())
    assert begun.err.startswith("Next: adapt the profiles to your cluster, then run `trainyard add team NAME`")

    added = trainyard("add", "team", "audio", "--nodes", "2")
    assert added.code == 0
    assert added.out.startswith("wrote profiles/teams/audio.yaml\nwrote profiles/allocations.yaml\nteam audio has 2 ")
    assert " for ever\n" in added.out
    assert added.err == "Next: fill in profiles/teams/audio.yaml, run `trainyard generate` and commit both.\n"
    assert trainyard("generate").code == 0


@pytest.mark.usefixtures("here")
def test_init_elsewhere_names_the_folder(trainyard: Call) -> None:
    """Whoever began elsewhere is told to go there."""
    begun = trainyard("init", "new")

    assert begun.code == 0
    assert "wrote new/profiles/trainyard.yaml\n" in begun.out
    assert begun.err.startswith("Next: in new adapt ")


@pytest.mark.usefixtures("repository")
def test_init_leaves_profiles_that_are_there(trainyard: Call) -> None:
    """Nothing is written over."""
    message = "error: profiles is there already; `trainyard init` only begins where there is none\n"
    assert trainyard("init") == Ended(5, "", message)


@pytest.mark.usefixtures("repository")
def test_team_that_is_there_is_refused(trainyard: Call) -> None:
    """The finding stands at the team that has the name."""
    ended = trainyard("add", "team", "nlp", "--cluster", "prod-east")

    assert (ended.code, ended.err) == (1, "")
    assert ended.out.startswith("error[names/team-exists]: ")
    assert " --> profiles/teams/nlp.yaml:" in ended.out


def test_team_is_not_added_to_broken_profiles(repository: Path, trainyard: Call) -> None:
    """What the profiles say must be known before a number is given away."""
    edit(repository / "profiles" / "teams" / "nlp.yaml", "contact:", "contct:")
    ended = trainyard("add", "team", "audio")

    assert ended.code == 1
    assert "error[shape/unknown-key]" in ended.out
    assert not (repository / "profiles" / "teams" / "audio.yaml").exists()


@pytest.mark.usefixtures("repository")
def test_unknown_place_of_a_team_is_told(trainyard: Call) -> None:
    """A cluster or pool that there is not is a finding with what there is."""
    ended = trainyard("add", "team", "audio", "--cluster", "west", "--pool", "a100")

    assert ended.code == 1
    assert "there is no cluster `west`" in ended.out
    assert "there is: lab, prod-east" in ended.out


def test_team_on_nodes_without_fabric_keeps_nothing() -> None:
    """Where nothing was given away for ever, nothing is said of it."""
    added = Added((Path("profiles/teams/audio.yaml"),), "east", "cpu", None, "")

    assert add._told(added, "audio", 2) == (
        "wrote profiles/teams/audio.yaml\nteam audio has 2 nodes of pool cpu on cluster east"
    )
