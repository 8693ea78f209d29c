from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended, edit
from tests.scaffold.folders import pairs_of_release_and_preset
from tests.scaffold.test_measured import node_body, ports_body
from trainyard.cli.main import run
from trainyard.profiles.read import presets

Call = Callable[..., Ended]

_DIGEST = f"@sha256:{64 * '1'}"
_IMAGE = f"registry.example.org/ml/x{_DIGEST}"


def _bytes(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _fine(ended: Ended) -> Ended:
    assert ended.code == 0, ended.out + ended.err
    return ended


def _refused(here: Path, ended: Ended, rule: str) -> str:
    assert ended.code == 1
    assert ended.err == "Nothing was written.\n"
    assert re.findall(r"^error\[(.*?)\]", ended.out, re.MULTILINE) == [rule]
    assert not list(here.rglob(".trainyard-*"))
    return ended.out


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new repository with one team and its tree, which no test may change."""
    folder = tmp_path_factory.mktemp("begun")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for args in (["init"], ["add", "team", "nlp", "--nodes", "2"], ["generate"]):
            assert run(args) == 0
        listed = {"kind": "List", "items": [node_body(), ports_body()]}
        (folder / "nodes.json").write_text(json.dumps(listed), encoding="utf-8")
    return folder


@pytest.fixture
def platform(here: Path, begun: Path) -> Path:
    """A copy of the new repository as the current folder."""
    shutil.copytree(begun, here, dirs_exist_ok=True)
    return here


_ADDITIONS = {
    "hardware": (("hardware", "cpu", "--preset", "cpu-node"), "hardware/cpu.yaml"),
    "measured": (("hardware", "new", "--from", "nodes.json"), "hardware/new.yaml"),
    "runtime": (("runtime", "deepspeed", "--image", _IMAGE), "runtimes/deepspeed.yaml"),
    "torchrun": (
        ("runtime", "torch", "--launcher", "torchrun", "--image", _IMAGE),
        "runtimes/torch.yaml",
    ),
    "cluster": (
        ("cluster", "prod", "--release", "kubernetes-1.36", "--pool", "gpu=dgx-h100:8"),
        "clusters/prod.yaml",
    ),
}
_EACH = pytest.mark.parametrize(("args", "file"), _ADDITIONS.values(), ids=_ADDITIONS.keys())


@pytest.mark.thorough
@_EACH
def test_profile_is_added_over_a_committed_tree_and_taken_back(
    platform: Path, trainyard: Call, args: tuple[str, ...], file: str
) -> None:
    """One file is written, with each placeholder named; the tree takes it, its revert, and the next
    edit."""
    before = _bytes(platform / "profiles")
    ended = _fine(trainyard("add", *args))
    after = _bytes(platform / "profiles")
    assert ended.out == f"wrote profiles/{file}\n"
    assert after.keys() - before.keys() == {file}
    assert {path: after[path] for path in before} == before
    marked = [
        number
        for number, line in enumerate(after[file].decode().splitlines(), start=1)
        if "# placeholder" in line
    ]
    listed = re.findall(rf"^  profiles/{file}:(\d+): \S", ended.err, re.MULTILINE)
    assert [*map(int, listed)] == marked != []
    assert ended.err.endswith("; run `trainyard generate` and commit both.\n")
    _fine(trainyard("fmt", "--check"))
    _fine(trainyard("generate"))
    (platform / "profiles" / file).unlink()
    if file.startswith("clusters"):
        assert "delivery/profile-vanished" in trainyard("generate").out
        shutil.rmtree(platform / "overlays" / "prod")
    _fine(trainyard("generate"))
    _fine(trainyard("add", *args))
    edit(platform / "profiles" / "teams" / "nlp.yaml", "nodes: 2", "nodes: 3")
    _fine(trainyard("generate"))


@_EACH
def test_profile_that_exists_is_not_replaced(
    platform: Path, trainyard: Call, args: tuple[str, ...], file: str
) -> None:
    _fine(trainyard("add", *args))
    before = _bytes(platform)
    out = _refused(platform, trainyard("add", *args), "names/profile-exists")
    assert f"profiles/{file} is there already" in out
    assert _bytes(platform) == before


def test_hardware_is_of_a_preset_or_of_nodes(platform: Path, trainyard: Call) -> None:
    """One of the two; what is not a dump of nodes is not a traceback, and nothing is written."""
    before = _bytes(platform)
    both = ("--preset", "cpu-node", "--from", "nodes.json")
    for options in ((), both):
        ended = trainyard("add", "hardware", "new", *options)
        assert (ended.code, "give `--preset`, or `--from` with files" in ended.err) == (2, True)
    (platform / "broken.json").write_text('{"kind": "Node"', encoding="utf-8")
    (platform / "jobs.json").write_text('{"kind": "Job"}', encoding="utf-8")
    for file, words in (
        ("absent.json", "absent.json can't be read"),
        ("broken.json", "broken.json is not JSON"),
        ("jobs.json", "jobs.json has 0 Nodes; make it with `kubectl get node NODE -o json`"),
    ):
        ended = trainyard("add", "hardware", "new", "--from", file)
        assert (ended.code, words in ended.err) == (5, True), ended
    assert {path: _bytes(platform)[path] for path in before} == before


@_EACH
@pytest.mark.parametrize("name", ["../x", "A", "con", "x" * 41, "ü", "x\x1b[31m"])
def test_odd_name_is_refused(
    platform: Path, trainyard: Call, args: tuple[str, ...], file: str, name: str
) -> None:
    """No file is written outside of the folder of the kind."""
    before = _bytes(platform)
    out = _refused(platform, trainyard("add", args[0], name, *args[2:]), "names/bad-file-name")
    assert "\x1b" not in out
    assert _bytes(platform) == before
    assert file


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("command", "fixed"), [(("init",), ()), (("add", "cluster", "old"), ("--pool", "gpu=h200:8"))]
)
def test_version_without_a_release_is_refused_with_the_reason(
    trainyard: Call, command: tuple[str, ...], fixed: tuple[str, ...]
) -> None:
    """A name that is only misspelt gets the list."""
    ended = trainyard(*command, "--release", "openshift-ai-2.25", *fixed)
    slip = trainyard(*command, "--release", "openshiftai-3.5", *fixed)

    assert (ended.code, slip.code) == (2, 2)
    assert "OpenShift AI before 3.2 has no Trainer" in " ".join(ended.err.split())
    assert "Upgrade OpenShift AI to 3.4 or 3.5" in " ".join(ended.err.split())
    assert "is not one of" in slip.err


@pytest.mark.parametrize(("release", "preset"), pairs_of_release_and_preset())
def test_cluster_of_each_release_with_each_hardware_takes_a_team(
    platform: Path, trainyard: Call, release: str, preset: str
) -> None:
    """From the preset to a team with quota and numbers on the new cluster, without an error."""
    _fine(trainyard("add", "hardware", "new", "--preset", preset))
    pool = ("--pool", "big=new:40", "--pool", "dgx-h100=dgx-h100:2")
    _fine(trainyard("add", "cluster", "prod", "--release", release, *pool))
    _fine(trainyard("add", "runtime", "other", "--image", _IMAGE, "--hardware", "new"))
    team = platform / "profiles" / "teams" / "nlp.yaml"
    edit(team, "quota:\n", "quota:\n  prod: {big: {nodes: 39}}\n")
    edit(team, "runtimes: [openmpi]", "runtimes: [openmpi, other]")
    rails = [nic for nic in presets()[preset].value.get("nics", ()) if nic["role"] == "rail"]
    if rails:
        assert "error[fabric/missing-allocation]" in trainyard("validate").out
        fabric = "roce" if rails[0].get("device", "").startswith("roce") else "ib"
        _fine(trainyard("add", "allocation", "nlp", "--cluster", "prod", "--fabric", fabric))
    _fine(trainyard("generate"))
    _fine(trainyard("generate", "--check"))
    _fine(trainyard("fmt", "--check"))


@pytest.fixture
def two(platform: Path, trainyard: Call) -> Path:
    """A second cluster, and quota on it for a team that has no numbers there."""
    pool = ("--pool", "gpu=dgx-h100:8")
    _fine(trainyard("add", "cluster", "prod", "--release", "openshift-ai-3.5", *pool))
    team = platform / "profiles" / "teams" / "nlp.yaml"
    edit(team, "quota:\n", "quota:\n  prod: {gpu: {nodes: 2}}\n")
    return platform


def test_allocation_is_the_next_that_nobody_had(two: Path, trainyard: Call) -> None:
    """On a fabric they differ from those of each cluster; the namespace keeps the user ids that it
    has on the other one, and comments in the ledger stay."""
    ledger = two / "profiles" / "allocations.yaml"
    edit(ledger, "lab:\n", "lab: # ours\n")
    assert "error[fabric/missing-allocation]" in trainyard("validate").out
    ended = _fine(trainyard("add", "allocation", "nlp", "--cluster", "prod"))
    assert ended.out == (
        "wrote profiles/allocations.yaml\n"
        "team nlp: keeps partition 0x0101 and addresses 10.64.16.0/20 permanently\n"
        "team nlp: namespace team-nlp keeps the user ids 2000000000/10000\n"
    )
    assert "lab: # ours\n" in ledger.read_text()
    _fine(trainyard("generate"))
    _fine(trainyard("add", "team", "audio", "--cluster", "lab", "--nodes", "2"))
    assert 'partition: "0x0102", addresses: 10.64.32.0/20' in ledger.read_text()
    _fine(trainyard("generate"))


def test_allocation_that_is_taken_back_is_not_given_again(two: Path, trainyard: Call) -> None:
    """With its quota the team gives the line up; the lockfile remembers the numbers."""
    team, ledger = (two / "profiles" / path for path in ("teams/nlp.yaml", "allocations.yaml"))
    before = team.read_text().replace("  prod: {gpu: {nodes: 2}}\n", ""), ledger.read_text()
    _fine(trainyard("add", "allocation", "nlp", "--cluster", "prod"))
    _fine(trainyard("generate"))
    team.write_text(before[0])
    ledger.write_text(before[1])
    reverted = trainyard("generate")
    assert reverted.code == 1
    edit(team, "quota:\n", "quota:\n  prod: {gpu: {nodes: 2}}\n")
    again = trainyard("add", "allocation", "nlp", "--cluster", "prod")
    assert again.code == 1
    assert "change/allocation-moved" in again.out
    assert ledger.read_text() == before[1]


def test_allocation_is_given_once_and_to_whom_it_is_for(two: Path, trainyard: Call) -> None:
    add = ("add", "allocation")
    for args, words in (
        (("nobody", "--cluster", "prod"), "there is no team `nobody`"),
        (("nlp", "--cluster", "west"), "there is no cluster `west`"),
        (("nlp", "--cluster", "prod", "--fabric", "x"), "there is no fabric `x`"),
    ):
        assert words in _refused(two, trainyard(*add, *args), "references/unknown-place")
    _fine(trainyard(*add, "nlp", "--cluster", "prod"))
    before = _bytes(two)
    out = _refused(two, trainyard(*add, "nlp", "--cluster", "prod"), "fabric/already-allocated")
    assert "team nlp has numbers on fabric `ib` of prod" in out
    assert _bytes(two) == before


def test_retired_team_gets_no_numbers(platform: Path, trainyard: Call) -> None:
    team = platform / "profiles" / "teams" / "nlp.yaml"
    team.write_text(f"state: retired\n{team.read_text()}")
    ended = trainyard("add", "allocation", "nlp", "--cluster", "lab")
    assert "there is no team `nlp`" in _refused(platform, ended, "references/unknown-place")


def test_runtime_needs_its_hardware_named_where_there_is_more(
    platform: Path, trainyard: Call
) -> None:
    _fine(trainyard("add", "hardware", "cpu", "--preset", "cpu-node"))
    add = ("add", "runtime", "other", "--image", _IMAGE)
    assert "Add `--hardware NAME`; there is: cpu, dgx-h100" in _refused(
        platform, trainyard(*add), "references/unknown-place"
    )
    _refused(platform, trainyard(*add, "--hardware", "x"), "references/unknown-place")
    _fine(trainyard(*add, "--hardware", "dgx-h100"))
    text = (platform / "profiles/runtimes/other.yaml").read_text()
    assert "hardware: [dgx-h100]\nmaxNodes: 4\n" in text
    assert 'libraries: {openmpi: "4.1.6", cuda: "12.6", nccl: "2.23.4"} # placeholder: ' in text


def test_what_a_profile_names_already_is_added(platform: Path, trainyard: Call) -> None:
    """Whoever fills in a team first, with other names and choices still open, is not stuck."""
    team = platform / "profiles" / "teams" / "nlp.yaml"
    edit(team, "runtimes: [", "runtimes: [other, another, ")
    edit(team, "quota:\n", "quota:\n  prod: {gpu: {nodes: 2}}\n")
    edit(team, "contact:", "# choose: whom to ask\ncontact:")
    pool = ("--pool", "gpu=big:8")
    _fine(trainyard("add", "hardware", "big", "--preset", "nvidia-dgx-h100"))
    _fine(trainyard("add", "cluster", "prod", "--release", "kubernetes-1.36", *pool))
    _fine(trainyard("add", "runtime", "other", "--image", _IMAGE, "--hardware", "big"))

    left = trainyard("validate").out
    assert "there is no runtime `another`" in left
    assert re.findall(r"error\[(.*?)\]", left) == [
        "shape/choice-open",
        "references/unknown-name",
        "fabric/missing-allocation",
    ]


def test_an_error_of_what_is_added_is_refused_though_others_are_open(
    platform: Path, trainyard: Call
) -> None:
    """What is wrong elsewhere hides nothing that is wrong in the new file."""
    edit(platform / "profiles" / "teams" / "nlp.yaml", "runtimes: [", "runtimes: [other, ")
    before = _bytes(platform)

    for arguments in (
        ("runtime", "other", "--image", "registry.example.com/a:latest"),
        ("runtime", "other", "--image", _IMAGE, "--hardware", "none"),
        ("cluster", "prod", "--release", "kubernetes-1.36", "--pool", "gpu=none:8"),
        ("cluster", "lab", "--release", "kubernetes-1.36", "--pool", "gpu=dgx-h100:8"),
    ):
        assert trainyard("add", *arguments).code != 0
    assert _bytes(platform) == before


def test_image_without_digest_is_refused(platform: Path, trainyard: Call) -> None:
    """It would be an error of the profiles, so nothing is written."""
    before = _bytes(platform)
    ended = trainyard("add", "runtime", "other", "--image", "registry.example.org/ml/x:latest")
    assert ended.code == 1
    assert "image" in ended.out
    assert _bytes(platform) == before


@pytest.mark.parametrize("image", ["x # y", "x: {y: z}", "a\nb: c", "&a", '"', "::error::x"])
def test_text_for_an_image_never_becomes_yaml(platform: Path, trainyard: Call, image: str) -> None:
    before = _bytes(platform)
    assert trainyard("add", "runtime", "other", "--image", image).code == 1
    assert _bytes(platform) == before


@pytest.mark.parametrize(
    "pool",
    ["gpu", "gpu=dgx-h100", "gpu=dgx-h100:0", "=x:1", "gpu=dgx-h100:5001", "a=b:c", "a=b:1:2"],
)
def test_pool_in_another_form_is_a_usage_error(platform: Path, trainyard: Call, pool: str) -> None:
    ended = trainyard("add", "cluster", "p", "--release", "openshift-ai-3.5", "--pool", pool)
    assert ended.code == 2
    assert "is not NAME=HARDWARE:NODES" in ended.err
    assert not (platform / "profiles/clusters/p.yaml").exists()


@pytest.mark.parametrize(
    "pools", [["a=dgx-h100:2", "a=dgx-h100:2"], ["a=none:2"], ["a b=dgx-h100:2"]]
)
def test_pools_that_do_not_fit_are_findings(
    platform: Path, trainyard: Call, pools: list[str]
) -> None:
    before = _bytes(platform)
    options = [each for pool in pools for each in ("--pool", pool)]
    ended = trainyard("add", "cluster", "p", "--release", "openshift-ai-3.5", *options)
    assert (ended.code, ended.err) == (1, "Nothing was written.\n")
    assert _bytes(platform) == before
