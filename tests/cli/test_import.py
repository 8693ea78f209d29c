"""`trainyard import`: what it reads, writes and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.adoption.decided import USUAL, decide, write_runtime
from tests.adoption.sites import SITES, node, research
from tests.cli.calls import Ended, edit
from trainyard.cli.document import envelope
from trainyard.facts.collect import of_dump
from trainyard.model.facts import Scope

Call = Callable[..., Ended]
Body = dict[str, Any]


def write(path: str, bodies: list[Body], kind: str = "List") -> None:
    """Write a dump as `kubectl get -o json` prints it."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    document = {"apiVersion": "v1", "kind": kind, "items": bodies}
    file.write_text(json.dumps(document), "utf-8")


def drafts(folder: Path) -> dict[str, bytes]:
    """Return all that an import wrote."""
    files = (path for part in ("profiles", "adoption") for path in folder.glob(f"{part}/**/*"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.is_file()}


def test_every_form_of_a_dump_has_the_same_drafts(trainyard: Call, here: Path) -> None:
    """One list; one file for each kind; one document for each object; a must-gather; YAML."""
    bodies = research()
    write("list/dump.json", bodies)
    for kind in {each["kind"] for each in bodies}:
        own = [each for each in bodies if each["kind"] == kind]
        write(f"kinds/{kind}.json", own, f"{kind}List")
    stream = "---\n".join(json.dumps(each) + "\n" for each in bodies)
    Path("stream").mkdir()
    Path("stream/all.yaml").write_text(f"# a comment, so this is YAML\n{stream}", "utf-8")
    for number, each in enumerate(bodies):
        namespace = each["metadata"].get("namespace")
        below = f"namespaces/{namespace}" if namespace else "cluster-scoped-resources"
        place = Path(f"gather/{below}/x/{each['kind']}-{number}.yaml")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"---\n{json.dumps(each)}\n", "utf-8")
    Path("gather/version.json").write_text('"4.18"', "utf-8")
    found = {}
    for form in ("list", "kinds", "stream", "gather"):
        ended = trainyard("import", form, "--cluster", "site", "--profiles", f"{form}-out/profiles")
        assert ended.code == 1, ended
        found[form] = drafts(here / f"{form}-out")
    assert found["list"] == found["kinds"] == found["stream"] == found["gather"]
    assert "profiles/clusters/site.yaml" in found["list"]


def test_nothing_that_is_secret_is_written(trainyard: Call, here: Path) -> None:
    """Neither a Secret, nor a variable's value, nor what was applied last."""
    write("dump.json", research())
    ended = trainyard("import", "dump.json", "--cluster", "site")
    written = b"".join(drafts(here).values()).decode()
    assert "hidden" in Path("dump.json").read_text("utf-8")
    assert "hidden" not in written + ended.out + ended.err
    assert "aGlkZGVu" not in written


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        ("", 5, "is empty"),
        ('{"kind": "List", "items": []}', 5, "has 0 Nodes"),
        ('{"kind": "List", "items": [{"kind": "Secret", "apiVersion": "v1"}]}', 5, "has 0 Nodes"),
        ('{"kind": "List", "items": [{"kind": "No', 5, "is not JSON"),
        ("kind: [", 5, "is not YAML"),
        ("[1, 2]", 5, "not a Kubernetes object"),
    ],
)
def test_what_is_no_dump_is_refused(
    content: str, code: int, message: str, trainyard: Call, here: Path
) -> None:
    Path("dump").write_text(content, "utf-8")
    ended = trainyard("import", "dump", "--cluster", "site")
    assert (ended.code, message in ended.err) == (code, True), ended
    assert drafts(here) == {}


@pytest.mark.usefixtures("here")
def test_broken_file_of_a_folder_is_a_choice(trainyard: Call) -> None:
    """What it would have had is not known; other files that are not a dump are passed over."""
    write("dump/all.json", research())
    Path("dump/queues.json").write_text('{"kind": "List", "items": [', "utf-8")
    Path("dump/values.yaml").write_text("replicas: 1\n", "utf-8")
    ended = trainyard("import", "dump", "--cluster", "site")
    assert ended.code == 1
    assert "hand it in again: dump/queues.json is not JSON" in ended.err
    assert "values.yaml" not in ended.err


def test_two_clusters_are_refused(trainyard: Call, here: Path) -> None:
    """By the uid of a namespace that each has, or by an object that differs."""
    for number, uid in enumerate(("a", "b")):
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}}
        space["metadata"] = {"name": "kube-system", "uid": uid}
        write(f"{number}.json", [node(f"n{number}"), space])
    ended = trainyard("import", "0.json", "1.json", "--cluster", "site")
    assert (ended.code, "two clusters" in ended.err) == (5, True)
    write("a.json", [node("n")])
    write("b.json", [node("n", gpus=4)])
    ended = trainyard("import", "a.json", "b.json", "--cluster", "site")
    assert (ended.code, "nodes n is handed in twice" in ended.err) == (5, True)
    assert drafts(here) == {}


@pytest.mark.parametrize("name", ["../../x", "a/b", "Prod", "", "con", "x" * 50])
def test_name_that_no_profile_can_have_is_refused(name: str, trainyard: Call, here: Path) -> None:
    write("dump.json", research())
    ended = trainyard("import", "dump.json", "--cluster", name)
    assert ended.code == 1, ended
    assert "names/bad-file-name" in ended.out
    assert drafts(here) == {}


HOSTILE = "../../x\n# choose: y\n- a: [{\u202e`|<script>"


def test_hostile_names_lead_nowhere(trainyard: Call, here: Path) -> None:
    """No file is written elsewhere, no line is added, and each draft can be read."""
    text = json.dumps(research())
    for name in ("h100-flavor", "vision-cq", "vision", "research", "batch", "datasets"):
        text = text.replace(json.dumps(name), json.dumps(HOSTILE + name))
    write("dump.json", json.loads(text))
    ended = trainyard("import", "dump.json", "--cluster", "site")
    assert ended.code == 1, ended
    assert {path.name for path in here.iterdir()} == {"dump.json", "profiles", "adoption"}
    assert not [*here.parent.glob("x*"), *here.parent.parent.glob("x*")]
    for path, content in drafts(here).items():
        assert "\u202e" not in content.decode().replace("\\u202e", ""), path
        if path.endswith(".yaml"):
            assert "\n- a" not in content.decode(), path
    assert all(char.isprintable() for char in (ended.out + ended.err).replace("\n", ""))
    assert "<script>" not in (here / "adoption/site.md").read_text("utf-8")
    assert "internal error" not in trainyard("validate").err


def test_large_dump_takes_seconds(trainyard: Call, here: Path) -> None:
    """50 MB: 2,000 nodes, and pods with much that nobody reads."""
    nodes = [node(f"n{number:04}") for number in range(2000)]
    filler = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "message": "x" * 1000}
    write("dump.json", [*nodes, *[filler] * 46_000])
    assert Path("dump.json").stat().st_size > 50_000_000
    ended = trainyard("import", "dump.json", "--cluster", "site")
    assert ended.code == 1, ended
    assert "{nodes: 2000}" in (here / "profiles/clusters/site.yaml").read_text("utf-8")
    write("dump.json", [filler] * 65_000)
    ended = trainyard("import", "dump.json", "--cluster", "other")
    assert (ended.code, "is larger than" in ended.err) == (5, True)


def test_facts_are_a_dump(trainyard: Call, here: Path) -> None:
    """They have no pods and no RoleBindings, which are choices then."""
    facts = of_dump(research(), "site", Scope(frozenset(), frozenset()))
    Path("facts.json").write_text(envelope("facts", facts), "utf-8")
    ended = trainyard("import", "facts.json", "--cluster", "site")
    assert ended.code == 1, ended
    assert "system: what daemons request" in ended.err
    team = (here / "profiles/teams/speech.yaml").read_text("utf-8")
    assert "h100-flavor: {nodes: 4}" in team


def test_second_run_changes_nothing(trainyard: Call, here: Path) -> None:
    """It reports what is open, and ends with 0 once nothing is."""
    write("dump.json", SITES["plain"]())
    first = trainyard("import", "dump.json", "--cluster", "site")
    before = drafts(here)
    second = trainyard("import", "dump.json", "--cluster", "site")
    assert (second.code, second.out) == (1, "")
    assert "is there already. Nothing was written." in second.err
    assert "profiles/teams/big.yaml:5: quota.site: " in second.err
    assert drafts(here) == before
    assert "placeholder" not in first.err
    answers = {**USUAL, "release": "", "pools": "", "labels": "", "quota": "", "groups": ""}
    assert decide(here / "profiles", answers) == []
    third = trainyard("import", "dump.json", "--cluster", "site")
    assert (third.code, third.out) == (0, "")


@pytest.mark.usefixtures("here")
def test_validate_names_each_open_choice(trainyard: Call) -> None:
    write("dump.json", research())
    ended = trainyard("import", "dump.json", "--cluster", "site")
    listed = [line for line in ended.err.splitlines() if line.startswith("  profiles/teams/vision")]
    said = trainyard("validate").out
    assert len(listed) == 5
    for line in listed:
        place = line.strip().split(": ")[0]
        assert place in said
    assert "error[shape/choice-open]: quota.site: h100-flavor: nodes 2 or 3" in said


@pytest.mark.usefixtures("tree")
def test_second_cluster_joins_a_committed_platform(trainyard: Call, here: Path) -> None:
    """Nothing that is there is touched; a team that is there gets its quota by hand."""
    bodies = research()
    text = json.dumps(bodies).replace('"speech', '"nlp2').replace('"vision', '"team-nlp')
    write("dump.json", json.loads(text))
    before = drafts(here)
    ended = trainyard("import", "dump.json", "--cluster", "west", "--release", "kubernetes-1.36")
    assert ended.code == 1, ended
    after = drafts(here)
    assert {path: after[path] for path in before} == before
    cluster = after["profiles/clusters/west.yaml"].decode()
    assert "# choose: team nlp is there already: add to profiles/teams/nlp.yaml" in cluster
    assert "\n# # choose: quota.west: h100-flavor: nodes 2 or 3" in cluster
    assert "release: kubernetes-1.36" in cluster
    assert trainyard("import", "dump.json", "--cluster", "west").code == 1
    assert drafts(here) == after


@pytest.mark.usefixtures("tree")
def test_hardware_of_a_name_that_is_there_gets_another(trainyard: Call, here: Path) -> None:
    text = json.dumps(research()).replace("h100-flavor", "dgx-h100")
    write("dump.json", json.loads(text))
    before = (here / "profiles/hardware/dgx-h100.yaml").read_bytes()
    trainyard("import", "dump.json", "--cluster", "west")
    assert (here / "profiles/hardware/dgx-h100.yaml").read_bytes() == before
    assert (here / "profiles/hardware/west-dgx-h100.yaml").exists()
    cluster = (here / "profiles/clusters/west.yaml").read_text("utf-8")
    assert "dgx-h100: {hardware: west-dgx-h100, nodes: 8}" in cluster


def test_file_that_is_in_the_way_leaves_nothing(trainyard: Call, here: Path) -> None:
    """All files or none: a page of an earlier import is not overwritten."""
    write("dump.json", research())
    Path("adoption").mkdir()
    Path("adoption/site.md").write_text("mine\n", "utf-8")
    ended = trainyard("import", "dump.json", "--cluster", "site")
    assert (ended.code, "site.md is there already" in ended.err) == (5, True), ended
    assert drafts(here) == {"adoption/site.md": b"mine\n"}


@pytest.mark.thorough
@pytest.mark.parametrize("site", ["plain", "mig", "research"])
def test_answered_drafts_generate(site: str, trainyard: Call, here: Path) -> None:
    """With the choices made, the platform is right at once."""
    write("dump.json", SITES[site]())
    trainyard("import", "dump.json", "--cluster", "site", "--release", "kubernetes-1.34")
    answers = {
        **USUAL,
        "groups": "groups: {user: [all]}",
        "quota.site": "quota: {site: {h100-flavor: {nodes: 2, borrow: 1}}}",
        "h100-flavor: borrow": "",
        "quota: ClusterQueue spare": "",
        "frameworks": "",
        "pools": "",
        "labels": "",
        "ClusterQueue team-a": "",
        "external": "external: {StorageClass/lustre: storage}",
    }
    if site == "plain":
        answers["quota.site"] = "quota: {site: {h100-80gb-hbm3: {nodes: 1}}}"
    assert decide(here / "profiles", answers) == []
    write_runtime(here / "profiles")
    if site == "plain":
        # Parts of a node need a pool of their own.
        edit(here / "profiles/teams/chem.yaml", "gpus: 4", "nodes: 1")
    ended = trainyard("generate")
    assert ended.code == 0, ended.out
