"""``trainyard fit --replay``: text and JSON, known refusals, exit codes, and what it can't read."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from tests.cli.calls import Ended
from tests.jobs.admission.foreign import maker, pod, spec
from trainyard.cli.exits import Exit
from trainyard.golang import program_path
from trainyard_jobs.admission.evaluator import SOURCE

Call = Callable[..., Ended]
JUDGE = f"""\
#!{sys.executable}
import json, sys

asked = json.load(open(sys.argv[1]))["requests"]
denial = {{"policy": "trainyard-pool-nodes", "binding": "b", "message": "must not ask for GPUs"}}
refused = {{"admitted": False, "error": "no", "denials": [denial]}}
answers = [refused if "/gpu" in json.dumps(each) else {{"admitted": True, "denials": []}}
           for each in asked]
print(json.dumps({{"answers": answers}}))
"""
GPU = spec(resources={"limits": {"nvidia.com/gpu": "1"}})
LLM = maker("Deployment", "llm", "inference", GPU)


@pytest.fixture(autouse=True)
def evaluator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a judge in the place of the evaluator, which refuses whatever names a GPU."""
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path / "cache"))
    program = program_path(SOURCE)
    program.parent.mkdir(parents=True)
    program.write_text(JUDGE, "utf-8")
    program.chmod(0o755)
    return program


def dump(repository: Path, *bodies: dict[str, Any]) -> str:
    path = repository / "dump.json"
    path.write_text(json.dumps({"kind": "List", "items": bodies}), "utf-8")
    return path.name


def test_refused_owner_is_named_with_policy_and_message(trainyard: Call, repository: Path) -> None:
    file = dump(repository, LLM, maker("Deployment", "web", "shop", spec()))

    ended = trainyard("fit", "--replay", file, "--cluster", "prod-east")

    assert ended == Ended(
        Exit.FINDINGS,
        "inference Deployment/llm: trainyard-pool-nodes would refuse\n"
        "  must not ask for GPUs\n"
        "prod-east: 2 objects judged, 1 refusal at the next start\n",
        "",
    )


def test_known_refusal_is_no_failure_and_one_that_is_gone_is_named(
    trainyard: Call, repository: Path
) -> None:
    others = [{"kind": "Node", "metadata": {"name": name}} for name in "abcd"]
    service = {"kind": "Service", "metadata": {"name": "web", "namespace": "shop"}}
    web = maker("Deployment", "web", "shop", spec())
    file = dump(repository, LLM, web, service, *others)
    lines = (
        "# Until March.\n\n"
        "inference Deployment/llm trainyard-pool-nodes # moves to its own nodes\n"
        "ci Pod/old trainyard-pool-nodes\n"
        "shop Deployment/web trainyard-pool-nodes\n"
    )
    (repository / "known.txt").write_text(lines, "utf-8")

    ended = trainyard("fit", "--replay", file, "--cluster", "prod-east", "--known", "known.txt")

    assert ended == Ended(
        Exit.FINE,
        "not refused any more, remove the line: shop Deployment/web trainyard-pool-nodes\n"
        "not judged, so keep the line while it is there: ci Pod/old trainyard-pool-nodes\n"
        "not judged, without templates of pods: Node a, b, c and 1 more; Service shop/web\n"
        "prod-east: 2 objects judged, 0 refusals at the next start, 1 known\n",
        "",
    )


def test_dump_of_another_cluster_is_refused(trainyard: Call, repository: Path) -> None:
    node = {"kind": "Node", "metadata": {"name": "a"}}
    ended = trainyard("fit", "--replay", dump(repository, node), "--cluster", "lab")
    assert (ended.code, ended.out) == (Exit.IO, "")
    assert "nothing is judged: the dump has none of the teams' namespaces of cluster lab (" in (
        ended.err
    )
    space = {"kind": "Namespace", "metadata": {"name": "team-nlp"}}
    there = dump(repository, space, node)
    assert trainyard("fit", "--replay", there, "--cluster", "lab").code == Exit.FINE


def test_json_follows_its_published_schema(trainyard: Call, repository: Path) -> None:
    bare = pod("debug", "default", {**GPU, "nodeName": "gpu-1"})
    (repository / "known.txt").write_text("inference Deployment/llm trainyard-pool-nodes\n")
    file = dump(repository, LLM, bare, {"kind": "Node", "metadata": {"name": "gpu-1"}})

    ended = trainyard(
        *("fit", "--replay", file, "--cluster", "lab", "--known", "known.txt", "--format", "json")
    )

    printed = json.loads(ended.out)
    Draft7Validator(json.loads(trainyard("schema", "replay").out)).validate(printed)
    found = [(each["owner"], each["known"]) for each in printed["result"]["refusals"]]
    assert found == [("Pod/debug", False), ("Deployment/llm", True)]
    assert printed["result"]["passedOver"] == [
        {"kind": "Node", "reason": "without templates of pods", "objects": ["gpu-1"]}
    ]
    assert printed["result"]["unknownNodes"] == ["default Pod/debug"]
    assert ended.code == Exit.FINDINGS


def test_folder_of_dumps_is_read(trainyard: Call, repository: Path) -> None:
    folder = repository / "dumps"
    folder.mkdir()
    (folder / "a.yaml").write_text(json.dumps(LLM), "utf-8")
    (folder / "b.json").write_text(json.dumps({"kind": "PodList", "items": None}), "utf-8")
    (folder / "values.yaml").write_text("image: a\n", "utf-8")

    ended = trainyard("fit", "--replay", "dumps", "--cluster", "lab")

    assert ended.code == Exit.FINDINGS
    assert "lab: 1 object judged, 1 refusal" in ended.out

    (folder / "cut.json").write_text('{"kind": "List", "items": [', "utf-8")
    broken = trainyard("fit", "--replay", "dumps", "--cluster", "lab")

    assert (broken.code, broken.out) == (Exit.IO, "")
    assert "cut.json" in broken.err


def test_hostile_names_stay_on_their_line(trainyard: Call, repository: Path) -> None:
    file = dump(repository, maker("Deployment", "a\nlab: 0 objects\x1b[31m", "b", GPU))

    ended = trainyard("fit", "--replay", file, "--cluster", "lab")

    assert "\x1b" not in ended.out
    assert "\nlab: 0 objects" not in ended.out


def test_without_the_evaluator_nothing_is_claimed(
    trainyard: Call, repository: Path, evaluator: Path
) -> None:
    evaluator.unlink()

    ended = trainyard("fit", "--replay", dump(repository, LLM), "--cluster", "lab")

    assert (ended.code, ended.out) == (Exit.TOOL, "")
    assert "build it once with `trainyard fit --build`" in ended.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--replay", "dump.json"), Exit.USAGE, "needs a `--cluster`"),
        (("--replay", "dump.json", "--cluster", "lap"), Exit.USAGE, "no cluster `lap`"),
        (("dump.json", "--replay", "dump.json", "--cluster", "lab"), Exit.USAGE, "takes no job"),
        (("--replay", "none.json", "--cluster", "lab"), Exit.USAGE, "does not exist"),
        (("dump.json", "--known", "known.txt"), Exit.USAGE, "is for `--replay`"),
        (("--replay", "facts.json", "--cluster", "lab"), Exit.IO, "these have no pod"),
        (("--replay", "values.yaml", "--cluster", "lab"), Exit.IO, "not a Kubernetes object"),
        (
            ("--replay", "dump.json", "--cluster", "lab", "--known", "known.txt"),
            Exit.IO,
            "known.txt:2 is not `NAMESPACE KIND/NAME POLICY`",
        ),
    ],
)
def test_what_can_not_be_replayed_is_a_sentence(
    trainyard: Call, repository: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    dump(repository, LLM)
    facts = {"format": "facts", "version": 1, "result": {"objects": []}}
    (repository / "facts.json").write_text(json.dumps(facts), "utf-8")
    (repository / "values.yaml").write_text("image: a\n", "utf-8")
    (repository / "known.txt").write_text("\ninference/llm\n", "utf-8")

    ended = trainyard("fit", *arguments)

    assert (ended.code, ended.out) == (code, "")
    assert words in ended.err


def test_errors_of_profiles_come_first(trainyard: Call, repository: Path) -> None:
    file = dump(repository, LLM)
    profile = repository / "profiles/teams/nlp.yaml"
    profile.write_text(profile.read_text("utf-8").replace("contact:", "contct:"), "utf-8")

    ended = trainyard("fit", "--replay", file, "--cluster", "lab")

    assert ended.code == Exit.FINDINGS
    assert "contct" in ended.out
