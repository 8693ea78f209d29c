"""``trainyard upgrade``: the plan of an upgrade, and the edits for it, over a committed tree."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended
from tests.histories import History
from trainyard.cli.exits import Exit
from trainyard.scaffold.edit import with_value
from trainyard.yaml_io.reader import read

pytestmark = pytest.mark.thorough
Call = Callable[..., Ended]
CLUSTER = Path("profiles/clusters/lab.yaml")
RUNTIME = Path("profiles/runtimes/openmpi.yaml")


@pytest.fixture
def begin(here: Path, trainyard: Call, capsys: pytest.CaptureFixture[str]) -> Callable[..., None]:
    """Commit the tree of a new repository, with one team."""

    def committed(release: str) -> None:
        assert trainyard("init", "--release", release).code == Exit.FINE
        assert trainyard("add", "team", "nlp", "--nodes", "2").code == Exit.FINE
        history = History(here, capsys)
        history.git("init", "--quiet", "--initial-branch=main")
        commit(history, trainyard)

    return committed


@pytest.fixture
def history(here: Path, capsys: pytest.CaptureFixture[str]) -> History:
    return History(here, capsys)


def commit(history: History, trainyard: Call) -> None:
    assert trainyard("generate").code == Exit.FINE
    history.git("add", "--all")
    history.git("commit", "--quiet", "--message=edit")


def contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path("profiles").rglob("*.yaml")}


def way(ended: Ended) -> str:
    """Return the part about the release."""
    found = re.search(r"^Release of .*?\n\n", ended.out, re.MULTILINE | re.DOTALL)
    assert found, ended.out
    return found[0]


def test_plan_writes_nothing_and_the_edits_keep_each_other_byte(
    begin: Callable[..., None], trainyard: Call, history: History
) -> None:
    begin("kubernetes-1.34")
    before = contents()
    planned = trainyard("upgrade", "lab", "--to", "kubernetes-1.36")
    assert planned.code == Exit.FINE
    assert contents() == before
    assert not history.git("status", "--short")
    assert "Nothing was written. `--write` edits profiles/clusters/lab.yaml" in planned.err
    assert "in one window: Kueue: kueue 0.16 -> 0.19; Trainer: trainer 2.1 -> 2.3" in way(planned)
    assert "3. merge `state: draining`" in way(planned)
    first = "evicts all jobs of nlp on lab: its way to kubernetes-1.36 begins with a drain"
    assert planned.out.startswith(first)
    assert "+ openmpi-v2 on dgx-h100: nlp may use it" in planned.out

    written = trainyard("upgrade", "lab", "--to", "kubernetes-1.36", "--write")
    assert written.out == planned.out
    expected = dict(before)
    for path, old, new in (
        (CLUSTER, b"release: kubernetes-1.34", b"release: kubernetes-1.36"),
        (RUNTIME, b"version: 1", b"version: 2"),
    ):
        assert old in expected[str(path)]
        expected[str(path)] = expected[str(path)].replace(old, new)
    assert contents() == expected


def test_upgrade_is_taken_back_and_the_next_one_follows(
    begin: Callable[..., None], trainyard: Call, history: History
) -> None:
    begin("kubernetes-1.34")
    before = contents()
    assert trainyard("upgrade", "lab", "--to", "kubernetes-1.36", "--write").code == Exit.FINE
    commit(history, trainyard)
    history.git("revert", "--no-edit", "HEAD")
    assert contents() == before
    assert trainyard("generate", "--check").code == Exit.FINE

    again = trainyard("upgrade", "lab", "--to", "kubernetes-1.35", "--write")
    assert again.code == Exit.FINE
    commit(history, trainyard)
    last = trainyard("upgrade", "lab", "--to", "kubernetes-1.36", "--write")
    assert last.code == Exit.FINE
    assert "window" not in way(last)
    commit(history, trainyard)


def test_diff_shows_the_same_way_before_an_error_is_corrected(
    begin: Callable[..., None], trainyard: Call
) -> None:
    begin("kubernetes-1.34")
    planned = trainyard("upgrade", "lab", "--to", "kubernetes-1.36")
    text = CLUSTER.read_text("utf-8")
    CLUSTER.write_text(text.replace("kubernetes-1.34", "kubernetes-1.36"), "utf-8")

    refused = trainyard("diff")

    assert refused.code == Exit.FINDINGS
    assert "change/runtime-edited-in-place" in refused.out
    assert way(refused) == way(planned)
    assert way(planned).splitlines()[1].strip() in trainyard("diff", "--format=markdown").out
    # What is missing is done then, and a second call finds nothing to do.
    assert trainyard("upgrade", "lab", "--to", "kubernetes-1.36", "--write").code == Exit.FINE
    again = trainyard("upgrade", "lab", "--to", "kubernetes-1.36", "--write")
    assert "The profiles have all edits already" in again.err
    assert way(again) == way(planned)
    assert way(trainyard("diff")) == way(planned)


def test_other_operators_are_said_with_all_errors(
    begin: Callable[..., None], trainyard: Call
) -> None:
    """The ids of the ledger are removed, and what needs a decision is left as errors."""
    begin("openshift-ai-3.5")
    text = CLUSTER.read_text("utf-8")
    moved = text.replace("openshift-ai-3.5", "kubernetes-1.36")
    CLUSTER.write_text(moved, "utf-8")
    shown = trainyard("diff")
    CLUSTER.write_text(text, "utf-8")
    planned = trainyard("upgrade", "lab", "--to", "kubernetes-1.36", "--write")

    assert shown.code == planned.code == Exit.FINDINGS
    assert "not an upgrade in place" in way(shown)
    assert way(shown) == way(planned)
    assert "isolation/uids-without-ranges" in shown.out
    assert "uids-without-ranges" not in planned.out
    assert "monitoring/stack-without-openshift" in planned.out
    assert CLUSTER.read_text("utf-8") == moved
    ledger = Path("profiles/allocations.yaml").read_text("utf-8")
    assert "uids" not in ledger
    assert "partition" in ledger


def test_installed_versions_are_those_of_the_release_then(
    begin: Callable[..., None], trainyard: Call, history: History
) -> None:
    begin("kubernetes-1.35")
    with CLUSTER.open("a", encoding="utf-8") as file:
        file.write('# own builds\ninstalled: {trainer: "2.2.1"}\n')
    commit(history, trainyard)

    planned = trainyard("upgrade", "lab", "--to", "kubernetes-1.36", "--write")

    assert "Trainer: trainer 2.2.1 -> 2.3" in way(planned)
    assert CLUSTER.read_text("utf-8").endswith("# own builds\n")


def test_old_version_beside_a_new_one_is_left_to_its_owner(
    begin: Callable[..., None], trainyard: Call, history: History
) -> None:
    begin("kubernetes-1.34")
    old = RUNTIME.read_bytes()
    Path("profiles/runtimes/openmpi-v1.yaml").write_bytes(
        old + b'deprecated: {end: "2099-01-01"}\n'
    )
    source, _ = read(str(RUNTIME), old)
    RUNTIME.write_bytes(with_value(source, ("version",), 2).content)
    history.edit("teams/nlp.yaml", "[openmpi]", "[openmpi, openmpi-v1]")
    commit(history, trainyard)

    planned = trainyard("upgrade", "lab", "--to", "kubernetes-1.36", "--write")

    assert planned.code == Exit.FINDINGS
    assert "version: 3" in RUNTIME.read_text("utf-8")
    assert "profiles/runtimes/openmpi-v1.yaml" in planned.out
    assert "version 1 -> 2" not in planned.out


def test_teams_elsewhere_keep_the_former_versions(
    tree: Path, trainyard: Call, history: History
) -> None:
    """Only those: on the upgraded cluster the release changes the former version, too."""
    history.git("init", "--quiet", "--initial-branch=main")
    commit(history, trainyard)
    arguments = ("upgrade", "lab", "--to", "kubernetes-1.34", "--keep-until", "2099-01-31")
    before = contents()
    planned = trainyard(*arguments, "--write")
    assert planned.code == Exit.FINE
    kept = "profiles/runtimes/openmpi-cuda-v3.yaml"
    assert contents().keys() - before.keys() == {kept}
    assert "profiles/runtimes/openmpi-cuda-v3.yaml is created" in planned.out
    assert contents()[kept].startswith(before["profiles/runtimes/openmpi-cuda.yaml"])
    listed = "[openmpi-cuda, openmpi-cuda-v3, "
    assert listed in Path("profiles/teams/vision.yaml").read_text("utf-8")
    assert "openmpi-cuda-v3" not in Path("profiles/teams/nlp.yaml").read_text("utf-8")
    commit(history, trainyard)

    objects = {path.name for path in (tree / "overlays").glob("*/platform/cl*openmpi-cuda-v3*")}
    assert objects == {"clustertrainingruntime-openmpi-cuda-v3-dgx-h100.yaml"}
    assert "have all edits already" in trainyard(*arguments).err
    history.git("revert", "--no-edit", "HEAD")
    assert contents() == before
    assert trainyard("generate", "--check").code == Exit.FINE


@pytest.mark.parametrize(
    ("cluster", "release", "why"),
    [
        ("labb", "kubernetes-1.36", "there is no cluster `labb`"),
        ("lab", "kubernetes-1.63", "there is no release `kubernetes-1.63`"),
        ("lab", "openshift-ai-2.25", "has no Trainer"),
    ],
)
def test_unknown_name_is_a_wrong_use(
    begin: Callable[..., None], trainyard: Call, cluster: str, release: str, why: str
) -> None:
    begin("kubernetes-1.34")
    ended = trainyard("upgrade", cluster, "--to", release)
    assert ended.code == Exit.USAGE
    assert why in ended.err


def test_json_has_the_steps(begin: Callable[..., None], trainyard: Call) -> None:
    begin("kubernetes-1.34")
    ended = trainyard("upgrade", "lab", "--to", "kubernetes-1.36", "--format=json")
    written = json.loads(ended.out)
    result = written["result"]

    assert written["format"] == "upgrade"
    assert result["upgrade"] == {
        "written": False,
        "edits": ["clusters/lab.yaml", "runtimes/openmpi.yaml"],
    }
    (release,) = result["change"]["releases"]
    assert [part["by"] for part in release["steps"][-1]] == ["Kueue", "Trainer", ""]


def test_cluster_without_a_release_gets_one(begin: Callable[..., None], trainyard: Call) -> None:
    begin("kubernetes-1.34")
    text = CLUSTER.read_text("utf-8")
    CLUSTER.write_text(re.sub("(?m)^release: .*\n", "", text), "utf-8")
    ended = trainyard("upgrade", "lab", "--to", "kubernetes-1.36", "--write")
    assert ended.code == Exit.FINE
    assert CLUSTER.read_text("utf-8").endswith("\nrelease: kubernetes-1.36\n")


@pytest.mark.parametrize("form", ["release: [kubernetes-1.34,\n  x]", "release: {}\n  x", "x"])
def test_broken_profile_is_never_written(
    begin: Callable[..., None], trainyard: Call, form: str
) -> None:
    begin("kubernetes-1.34")
    text = CLUSTER.read_text("utf-8")
    CLUSTER.write_text(re.sub("(?m)^release: .*$", form, text), "utf-8")
    before = contents()
    ended = trainyard("upgrade", "lab", "--to", "kubernetes-1.36", "--write")
    assert ended.code in {Exit.FINDINGS, Exit.IO}
    assert "internal error" not in ended.err
    assert contents() == before


def test_day_that_is_past_keeps_no_runtime(begin: Callable[..., None], trainyard: Call) -> None:
    begin("kubernetes-1.34")
    before = contents()
    words = ("upgrade", "lab", "--to", "kubernetes-1.36", "--write", "--keep-until", "2020-01-01")
    refused = trainyard(*words)

    assert refused.code == Exit.USAGE
    assert "2020-01-01 is past" in refused.err
    assert contents() == before
