from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended, edit
from trainyard.cli.options import PRESETS, RELEASES

Call = Callable[..., Ended]


def test_new_repository_grows_to_a_tree(here: Path, trainyard: Call) -> None:
    """From an empty folder to a tree, each command prints what it wrote and the next step."""
    begun = trainyard("init")
    assert begun.code == 0
    written = [line.removeprefix("wrote ") for line in begun.out.splitlines()]
    assert sorted(written) == sorted(
        str(path.relative_to(here)) for path in here.rglob("*") if path.is_file()
    )
    assert begun.err.startswith("Next, replace the placeholders, each marked with a comment:\n")
    assert "\n  profiles/clusters/lab.yaml:4: your nodes; quota holds with one down\n" in begun.err
    assert "\nThen run `trainyard add team NAME` and `trainyard generate`.\n" in begun.err

    added = trainyard("add", "team", "audio", "--nodes", "2")
    assert added.code == 0
    assert added.out.startswith(
        "wrote profiles/teams/audio.yaml\nwrote profiles/allocations.yaml\nteam audio has 2 "
    )
    assert " permanently\n" in added.out
    assert (
        added.err
        == "Next: fill in profiles/teams/audio.yaml, run `trainyard generate` and commit both.\n"
    )
    assert trainyard("generate").code == 0


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("preset", PRESETS)
def test_init_names_the_page_that_says_what_a_first_sync_does(
    here: Path, trainyard: Call, release: str, preset: str
) -> None:
    """Nobody applies the tree over workloads without having been told."""
    begun = trainyard("init", "new", "--release", release, "--hardware", preset)
    assert "The first sync takes over Kueue and the pools' nodes, also from workloads" in begun.err
    (page,) = re.findall(r"read the first section of (\S+) before it", begun.err)
    paths = ("--profiles", "new/profiles", "--output", "new/overlays")
    assert trainyard("generate", *paths).code == 0
    text = (here / page).read_text("utf-8")
    section = text.split("\n## ")[1]

    assert section.startswith("What the first sync does to workloads that are there\n")
    assert ("get pods" in section) == (preset != "cpu-node")


@pytest.mark.usefixtures("here")
def test_placeholders_are_short_below_an_error(here: Path, trainyard: Call) -> None:
    """Two paragraphs: of the domain, which is permanent, and of the others."""
    trainyard("init")
    trainyard("add", "team", "audio")
    team = here / "profiles/teams/audio.yaml"
    team.write_text(team.read_text("utf-8").replace("runtimes: [", "runtimes: [nope, "), "utf-8")
    shown = trainyard("validate").out.split("\n\n")
    paragraphs = [each for each in shown if "delivery/placeholder-left" in each]

    assert shown[0].startswith("error[references/unknown-name]")
    assert len(paragraphs) == 2
    assert sum(len(each.splitlines()) for each in paragraphs) < 22


@pytest.mark.parametrize(
    ("file", "former", "written", "hint"),
    [
        (
            "teams/audio.yaml",
            "nodes: 2}",
            "nodes: 2.5}",
            'write a whole number, or "2.5" where the key takes text, as a version',
        ),
        ("teams/audio.yaml", "runtimes:", "fabric: x\nruntimes:", "Use one of: `state`, "),
        (
            "runtimes/openmpi.yaml",
            "maxNodes:",
            "ranks: 128\nmaxNodes:",
            "Set `ranks` to 104 or less, or `binding: none`: ranks that are not bound may be 208",
        ),
    ],
)
def test_help_names_what_the_site_can_write(
    here: Path, trainyard: Call, *, file: str, former: str, written: str, hint: str
) -> None:
    trainyard("init")
    trainyard("add", "team", "audio")
    edit(here / "profiles" / file, former, written)

    assert f"= help: {hint}" in trainyard("validate").out


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("preset", PRESETS)
def test_platform_of_one_node_runs_jobs_of_one_pod(trainyard: Call, preset: str) -> None:
    """The command that init names is one that works."""
    begun = trainyard("init", "--nodes", "1", "--hardware", preset)
    assert "run `trainyard add team NAME --nodes 1` and" in begun.err

    assert trainyard("add", "team", "audio", "--nodes", "1").code == 0
    assert trainyard("generate").code == 0
    assert "jobs up to 1 node" in trainyard("show", "audio").out


@pytest.mark.parametrize(
    ("amount", "runtimes"), [("1", "[torchrun]"), ("2", "[openmpi, torchrun]")]
)
def test_new_team_gets_the_runtimes_whose_jobs_fit(
    here: Path, trainyard: Call, amount: str, runtimes: str
) -> None:
    """One node is enough for torchrun, and not for MPI."""
    image = f"registry.corp.internal/ml/torch@sha256:{'1' * 64}"
    trainyard("init")
    trainyard("add", "runtime", "torchrun", "--launcher", "torchrun", "--image", image)

    assert trainyard("add", "team", "audio", "--nodes", amount).code == 0
    profile = (here / "profiles/teams/audio.yaml").read_text("utf-8")
    assert f"runtimes: {runtimes}\n" in profile


@pytest.mark.usefixtures("here")
def test_report_of_a_new_repository_is_ignored_by_git(here: Path, trainyard: Call) -> None:
    """Its default name is one that no commit of everything takes."""
    trainyard("init")
    trainyard("report")
    subprocess.run(["git", "init", "--quiet"], check=True)
    status = subprocess.run(
        ["git", "status", "--short"], check=True, capture_output=True, text=True
    )

    assert (here / "report.html").is_file()
    assert "report.html" not in status.stdout


@pytest.mark.usefixtures("here")
def test_init_elsewhere_names_the_folder(trainyard: Call) -> None:
    begun = trainyard("init", "new")

    assert begun.code == 0
    assert "wrote new/profiles/trainyard.yaml\n" in begun.out
    assert "\n  new/profiles/trainyard.yaml:3: a domain of yours" in begun.err
    assert "\nThen, in new, run `trainyard add team NAME`" in begun.err


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--release", "rancher-9", "'rancher-9' is not one of 'kubernetes-1.34'"),
        ("--hardware", "dgx", "'dgx' is not one of 'amd-mi300x-8'"),
        ("--nodes", "0", "0 is not in the range 1<=x<=1000"),
    ],
)
def test_init_lists_what_an_option_takes(
    here: Path, trainyard: Call, option: str, value: str, message: str
) -> None:
    """A wrong value writes nothing."""
    ended = trainyard("init", option, value)

    assert ended.code == 2
    assert message in ended.err
    assert list(here.iterdir()) == []


@pytest.mark.usefixtures("repository")
def test_init_leaves_profiles_that_are_there(trainyard: Call) -> None:
    """Nothing is written over."""
    message = "error: profiles is there already; `trainyard init` only begins where there is none\n"
    assert trainyard("init") == Ended(5, "", message)


@pytest.mark.usefixtures("repository")
def test_team_that_is_there_is_refused(trainyard: Call) -> None:
    """The finding is at the existing team's profile."""
    ended = trainyard("add", "team", "nlp", "--cluster", "prod-east")

    assert (ended.code, ended.err) == (1, "Nothing was written.\n")
    assert ended.out.startswith("error[names/team-exists]: ")
    assert " --> profiles/teams/nlp.yaml:" in ended.out


@pytest.mark.parametrize(
    ("args", "reported"),
    [
        (("nlp",), ["there is a team `nlp` already", "no cluster is given"]),
        (
            ("Bad Name",),
            [
                "`Bad Name` can't be the name of a team",
                "no cluster is given",
            ],
        ),
        (
            ("Bad Name", "--pool", "a100"),
            [
                "`Bad Name` can't be the name of a team",
                "there is no node pool `a100`",
                "no cluster is given",
            ],
        ),
    ],
    ids=["exists", "bad-name", "unknown-pool"],
)
@pytest.mark.usefixtures("repository")
def test_name_cluster_and_pool_are_reported_in_one_run(
    args: tuple[str, ...], reported: list[str], trainyard: Call
) -> None:
    """Nobody mends one of them to meet the next; the option to add is named."""
    ended = trainyard("add", "team", *args)
    heads = sorted(
        line.partition(": ")[2] for line in ended.out.splitlines() if line.startswith("error[")
    )

    assert (ended.code, heads) == (1, sorted(reported))
    assert "help: Add `--cluster NAME`; there is: lab, prod-east" in ended.out


def test_pool_is_asked_for_with_the_cluster(repository: Path, trainyard: Call) -> None:
    """Where every cluster has several, both options are missing; where one has a single pool, it
    could be meant."""
    assert "which node pool" not in trainyard("add", "team", "audio").out
    edit(
        repository / "profiles/clusters/prod-east.yaml",
        "pools:\n",
        "pools:\n  spare: {hardware: dgx-h100, nodes: 1}\n",
    )
    asked = trainyard("add", "team", "audio").out

    assert "no cluster is given" in asked
    assert "no node pool is given" in asked
    pools = "cpu, cpu-phi, cpu-shared, dgx-h100, spare, xe9680-h200"
    assert f"help: Add `--pool NAME`; there is: {pools}" in asked


def test_team_is_not_added_to_broken_profiles(repository: Path, trainyard: Call) -> None:
    """Broken profiles may hold numbers that a new team must not get."""
    edit(repository / "profiles" / "teams" / "nlp.yaml", "contact:", "contct:")
    ended = trainyard("add", "team", "audio")

    assert ended.code == 1
    assert "error[shape/unknown-key]" in ended.out
    assert not (repository / "profiles" / "teams" / "audio.yaml").exists()


@pytest.mark.usefixtures("repository")
def test_unknown_place_of_a_team_is_reported(trainyard: Call) -> None:
    """A cluster or pool that there is not is a finding with what there is."""
    ended = trainyard("add", "team", "audio", "--cluster", "west", "--pool", "a100")

    assert ended.code == 1
    assert "there is no cluster `west`" in ended.out
    assert "there is: lab, prod-east" in ended.out


def test_team_on_nodes_without_fabric_keeps_nothing(repository: Path, trainyard: Call) -> None:
    edit(
        repository / "profiles" / "clusters" / "lab.yaml",
        "cpu-epyc, nodes: 7",
        "cpu-epyc, nodes: 9",
    )
    ended = trainyard("add", "team", "weather", "--cluster", "lab", "--pool", "cpu")

    assert (
        ended.out
        == "wrote profiles/teams/weather.yaml\nteam weather has 2 nodes of pool cpu on cluster "
        "lab\n"
    )


def test_share_is_reported_in_gpus(repository: Path, trainyard: Call) -> None:
    """A share is asked for in its own unit, and not beside nodes."""
    edit(repository / "profiles" / "teams" / "speech.yaml", "gpus: 6", "gpus: 4")
    where = ("--cluster", "lab", "--pool", "xe9680-h200-shared", "--gpus", "2")
    assert (
        "team tactile has 2 GPUs of pool xe9680-h200-shared"
        in trainyard("add", "team", "tactile", *where).out
    )

    both = trainyard("add", "team", "audio", *where, "--nodes", "1")
    assert (both.code, both.err.splitlines()[0]) == (
        2,
        "error: `--nodes` and `--gpus` exclude each other",
    )


def _state(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    ("name", "nodes", "finding"),
    [
        ("a" * 39, "2", "error[names/too-long]: the sample TrainJob"),
        ("audio", "5", "error[capacity/oversubscribed]: teams own 5 nodes of pool `dgx-h100`"),
        ("audio", "0", "error[capacity/smallest-job-does-not-fit]: team audio may use 0"),
    ],
    ids=["name-of-its-sample", "more-nodes-than-there-are", "no-nodes"],
)
def test_team_that_would_be_refused_is_not_written(
    name: str, nodes: str, finding: str, here: Path, trainyard: Call
) -> None:
    """The complete result is checked first: no profile, no number, and the finding with its place
    in the new file."""
    trainyard("init")
    before = _state(here)
    ended = trainyard("add", "team", name, "--nodes", nodes)

    assert (ended.code, ended.err) == (1, "Nothing was written.\n")
    assert finding in ended.out
    assert "  |" in ended.out
    assert _state(here) == before


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("option", "maximum"), [("--nodes", 5000), ("--gpus", 64)])
def test_quota_of_a_new_team_is_what_a_profile_takes(
    option: str, maximum: int, trainyard: Call
) -> None:
    """More is refused as an option: no profile with it could be read back."""
    trainyard("init")
    for quota in (maximum + 1, 10**40):
        assert trainyard("add", "team", "audio", option, str(quota)).code == 2
    assert trainyard("add", "team", "audio", option, str(maximum)).code == 1


def test_error_that_was_there_before_is_no_obstacle(here: Path, trainyard: Call) -> None:
    """Only errors that the new team brings are reported."""
    trainyard("init")
    assert trainyard("add", "team", "nlp", "--nodes", "2").code == 0
    edit(
        here / "profiles" / "teams" / "nlp.yaml",
        "cohort: research",
        "cohort: research\nlargestJob: {nodes: 9}",
    )
    assert trainyard("validate").code == 1
    assert trainyard("add", "team", "audio", "--nodes", "2").code == 0

    refused = trainyard("add", "team", "vision", "--nodes", "2")
    assert (refused.code, refused.out.count("\nerror[")) == (1, 0)
    assert refused.out.startswith("error[capacity/oversubscribed]: teams own 6 nodes")


def test_numbers_that_the_tree_remembers_are_not_given(here: Path, trainyard: Call) -> None:
    """They are read from the tree that `--output` names; an error of that tree from before is no
    obstacle."""
    trainyard("init")
    assert trainyard("add", "team", "nlp", "--nodes", "2").code == 0
    assert trainyard("generate", "--output", "out").code == 0
    lock = here / "out" / "lab" / "trainyard.lock"
    lock.write_text(
        lock.read_text().replace("0x0100", "0x0101").replace("10.64.0.0/20", "10.64.16.0/20")
    )
    edit(here / "profiles" / "clusters" / "lab.yaml", "0x0100-0x017f", "0x0102-0x017f")
    edit(here / "profiles" / "allocations.yaml", "0x0100", "0x0102")
    before = _state(here)

    assert trainyard("add", "team", "audio", "--output", "out").code == 0
    assert (
        'audio: {partition: "0x0103", addresses: 10.64.32.0/20'
        in (here / "profiles/allocations.yaml").read_text()
    )
    assert _state(here).keys() - before.keys() == {str(here / "profiles/teams/audio.yaml")}


def test_broken_lockfile_stops_before_a_number_is_given(here: Path, trainyard: Call) -> None:
    """Without its memory a number could be another team's."""
    trainyard("init")
    trainyard("add", "team", "nlp")
    trainyard("generate")
    (here / "overlays" / "lab" / "trainyard.lock").write_text("{")
    before = _state(here)

    ended = trainyard("add", "team", "audio")
    assert (ended.code, "trainyard.lock is broken" in ended.err) == (5, True)
    assert _state(here) == before
