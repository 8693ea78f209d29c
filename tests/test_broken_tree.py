"""Committed files that the lockfile agrees with and nobody can compare: a sentence about the tree,
never a bug."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from trainyard.change.history.trees import check_replaced
from trainyard.cli.main import run
from trainyard.diagnostics import TreeError
from trainyard.generation.generate import Generation, generate
from trainyard.tree.disk import DiskTree
from trainyard.tree.lockfile import LOCKFILE, digest
from trainyard.tree.write import write
from trainyard.yaml_io.composer import MAX_DEPTH
from trainyard.yaml_io.manifests import parse_manifests

pytestmark = pytest.mark.thorough

REPOSITORY = Path(__file__).resolve().parents[1]
ROUNDS = 200
"""Mutations in the suite; 6,000 were run once."""

ODD: tuple[Any, ...] = (
    None,
    True,
    3,
    2.5,
    "",
    "x",
    "a\nb",
    [],
    [3],
    ["x"],
    {},
    {"name": 3},
    {"a\nb": {}},
    [[{"x": 1}]],
)
KINDS = (
    "clusterqueue",
    "clustertrainingruntime",
    "configmap",
    "ippool",
    "networkattachment",
    "persistentvolume",
    "sriov",
)


@pytest.fixture(scope="module")
def generation() -> Generation:
    """This repository's tree."""
    return generate(REPOSITORY / "profiles", "../profiles/components")


@pytest.fixture(scope="module")
def target(generation: Generation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree on disk; a test puts back what it breaks."""
    folder = tmp_path_factory.mktemp("tree") / "overlays"
    write(folder, generation.files)
    return folder


def _commit(target: Path, path: str, content: bytes) -> None:
    """Put content into a file of the tree and its digest into the lockfile, as a merge would."""
    cluster, _, inside = path.partition("/")
    lock = target / cluster / LOCKFILE
    document = json.loads(lock.read_text("utf-8"))
    document["files"][inside]["sha256"] = digest(content)
    lock.write_text(json.dumps(document), "utf-8")
    (target / path).write_bytes(content)


def _outcome(target: Path, generation: Generation, path: str, content: bytes) -> str:
    """Return the error that a broken file ends in, or nothing."""
    _commit(target, path, content)
    try:
        list(check_replaced(DiskTree(target), generation))
    except TreeError as error:
        return str(error)
    finally:
        _commit(target, path, generation.files[path])
    return ""


QUEUE = "lab/platform/clusterqueue-nlp-gpu.yaml"
HEAD = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\n"
BROKEN = {
    "bytes that are not UTF-8": b"\xff",
    "no YAML": b"<<<<<<< HEAD\nkind: [\n",
    "a list": b"- kind: ClusterQueue\n",
    "a text": b"metadata\n",
    "no metadata": f"{HEAD}spec: {{resourceGroups: []}}\n".encode(),
    "metadata that is a text": f"{HEAD}metadata: x\n".encode(),
    "labels that are a number": f"{HEAD}metadata: {{name: nlp-gpu, labels: 3}}\n".encode(),
    "a spec that is a list": f"{HEAD}metadata: {{name: nlp-gpu}}\nspec: []\n".encode(),
    "no spec": f"{HEAD}metadata: {{name: nlp-gpu}}\n".encode(),
    "a kind that is a list": b"apiVersion: v1\nkind: [x]\n",
    "a kind without version": b"kind: ClusterQueue\n",
    "too many levels": f"{HEAD}spec: {'[' * MAX_DEPTH}{']' * MAX_DEPTH}\n".encode(),
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_broken_file_is_named(content: bytes, target: Path, generation: Generation) -> None:
    """The user reads which file it is and where to take it from."""
    outcome = _outcome(target, generation, QUEUE, content)

    assert outcome.startswith(f"{target / QUEUE} is broken (")
    assert outcome.endswith("); take either side of it from Git, then generate again")


def test_fragment_without_kind_is_no_object(target: Path, generation: Generation) -> None:
    """A file that holds settings for another program is not compared."""
    assert _outcome(target, generation, "lab/platform/kustomization.yaml", b"resources: 3\n") == ""


def test_broken_file_without_an_object_is_named(target: Path, generation: Generation) -> None:
    """Somebody edited it, and the lockfile does not know: writing it again would hide that."""
    file = target / "lab/platform/kustomization.yaml"
    file.write_bytes(b"resources: [\n")
    with pytest.raises(TreeError, match=r"kustomization\.yaml is broken \("):
        list(check_replaced(DiskTree(target), generation))
    file.write_bytes(generation.files["lab/platform/kustomization.yaml"])


def test_older_tree_can_be_compared(target: Path, generation: Generation) -> None:
    """What another version of Trainyard wrote may have fields and kinds that no schema of today
    has."""
    text = generation.files[QUEUE].decode()

    assert (
        _outcome(
            target, generation, QUEUE, text.replace("spec:\n", "spec:\n  former: {a: 1}\n").encode()
        )
        == ""
    )
    assert (
        _outcome(
            target, generation, QUEUE, b"apiVersion: old/v1\nkind: Gone\nmetadata: {name: x}\n"
        )
        == ""
    )


def _places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    children = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for step, child in children:
        yield (*path, step)
        yield from _places(child, (*path, step))


def _bent(random: Random, body: Any) -> Any:
    """Return an object with one thing in it replaced or removed, be it inside a text that is
    JSON."""
    *above, last = random.choice([(), *_places(body)]) or ((), None)
    if last is None:
        return random.choice(ODD)
    node = body
    for step in above:
        node = node[step]
    if _is_json(node[last]) and random.random() < 0.9:
        node[last] = json.dumps(_bent(random, json.loads(node[last])))
    elif isinstance(node, dict) and random.random() < 0.3:
        del node[last]
    else:
        node[last] = random.choice(ODD)
    return body


def _is_json(value: Any) -> bool:
    """Whether it is the text of one object; the plugins of an SR-IOV network are several."""
    try:
        return isinstance(value, str) and isinstance(json.loads(value), dict)
    except ValueError:
        return False


def _garbled(random: Random, content: bytes) -> bytes:
    at = random.randrange(len(content))
    return (
        content[:at] + random.randbytes(random.randrange(3)) + content[at + random.randrange(3) :]
    )


@pytest.mark.thorough
def test_mutated_tree_is_never_a_bug(target: Path, generation: Generation) -> None:
    """Whatever a committed file holds, it is compared or named; any other exception would end as a
    bug."""
    random = Random(4)
    paths = [path for path in sorted(generation.files) if path.endswith(".yaml")]
    read = [path for path in paths if any(f"/{kind}" in path for kind in KINDS)]
    outcomes = []
    for _ in range(ROUNDS):
        path = random.choice(read if random.random() < 0.7 else paths)
        content = generation.files[path]
        if random.random() < 0.2:
            changed = _garbled(random, content)
        else:
            (body,) = parse_manifests(content.decode())
            changed = json.dumps(_bent(random, body)).encode()
        outcomes.append(_outcome(target, generation, path, changed))

    assert 0.1 < sum(map(bool, outcomes)) / ROUNDS < 0.9


@pytest.mark.parametrize(
    "args", [["generate"], ["generate", "--check"], ["generate", "--dry-run"], ["verify"]]
)
def test_commands_end_with_code_5(
    args: list[str],
    target: Path,
    capsys: pytest.CaptureFixture[str],
    restored: Callable[[str], None],
) -> None:
    """Each command that looks at the tree names the file on stderr, and writes nothing."""
    restored(QUEUE)
    _commit(target, QUEUE, b"\xff")

    assert run([*args, "--profiles", str(REPOSITORY / "profiles"), "--output", str(target)]) == 5
    assert f"error: {target / QUEUE} is broken (" in capsys.readouterr().err
    assert (target / QUEUE).read_bytes() == b"\xff"


@pytest.fixture
def restored(target: Path, generation: Generation) -> Iterator[Callable[[str], None]]:
    """Put files back after a test, whatever it did to them."""
    paths: list[str] = []
    yield paths.append
    for path in paths:
        _commit(target, path, generation.files[path])
