"""What must hold of the tree for whatever profiles: determinism, locality, idempotence."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bench.platform import KINDS, write_platform
from trainyard.generation.generate import generate
from trainyard.tree.write import write

pytestmark = pytest.mark.thorough

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = {
    "platform/configmap-admitted-namespaces.yaml",
    "platform/kustomization.yaml",
    "argocd/kustomization.yaml",
    "README.md",
    "trainyard.lock",
}
"""Files of a cluster that name every team."""

_DIGEST = """
import hashlib, sys
from pathlib import Path
from trainyard.generation.generate import generate
files = generate(Path(sys.argv[1]), "../profiles/components").files
print(hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest())
"""


def tree(root: Path) -> dict[str, bytes]:
    """Return the tree of the profiles below a folder."""
    generation = generate(root, "../profiles/components")
    assert generation.files, [f"{d.rule} {d.at} {d.message}" for d in generation.diagnostics]
    return dict(generation.files)


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return profiles of six teams on two clusters."""
    root = tmp_path_factory.mktemp("platform") / "profiles"
    write_platform(root, REPOSITORY, teams=6, clusters=2)
    return root


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Pacific/Kiritimati"},
        {"PYTHONHASHSEED": "77", "LC_ALL": "C.UTF-8", "TZ": "America/Caracas", "PYTHONUTF8": "0"},
        {"PYTHONHASHSEED": "4242", "LANG": "POSIX", "TZ": "UTC", "HOME": "/nonexistent"},
    ],
    ids=["kiritimati", "caracas", "posix"],
)
def test_tree_is_the_same_in_every_environment(environment: dict[str, str], tmp_path: Path) -> None:
    """No byte depends on hash order, locale, time zone, home or working folder."""
    here = hashlib.sha256(repr(sorted(tree(REPOSITORY / "profiles").items())).encode()).hexdigest()

    there = subprocess.run(
        [sys.executable, "-c", _DIGEST, str(REPOSITORY / "profiles")],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY), **environment},
        capture_output=True,
        text=True,
        check=True,
    )

    assert there.stdout.strip() == here


def test_second_generation_writes_nothing(platform: Path, tmp_path: Path) -> None:
    """Generating twice touches no file the second time."""
    target = tmp_path / "overlays"
    write(target, tree(platform))
    before = {path: path.stat().st_mtime_ns for path in target.rglob("*")}

    second = write(target, tree(platform))

    assert (second.created, second.changed, second.deleted) == ((), (), ())
    assert before == {path: path.stat().st_mtime_ns for path in target.rglob("*")}


@pytest.mark.parametrize("number", range(len(KINDS)), ids=[kind.fabric for kind in KINDS])
@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(name=st.from_regex(r"[a-z][a-z0-9-]{1,10}[a-z0-9]", fullmatch=True), nodes=st.integers(2, 9))
def test_new_team_changes_nothing_of_others(
    number: int, name: str, nodes: int, tmp_path: Path
) -> None:
    """A team that comes changes its own files and the few that name every team; when it goes again,
    nothing is left."""
    kind, cluster, model = KINDS[number], f"cluster-{number}", f"team-{number:04}"
    root = tmp_path / f"{name}-{nodes}" / "profiles"
    write_platform(root, REPOSITORY, teams=6, clusters=2)
    before = tree(root)
    profile, allocations = root / "teams" / f"{name}.yaml", root / "allocations.yaml"
    held = allocations.read_text()
    text = (root / "teams" / f"{model}.yaml").read_text()
    profile.write_text(text.replace(model, name).replace("nodes: 2,", f"nodes: {nodes},"))
    begin = f"{cluster}:\n  {kind.fabric}:\n"
    extra = f"    {name}: {{{kind.held.format(0x70, 1100)}, addresses: 10.200.0.0/18}}\n"
    allocations.write_text(held.replace(begin, f"{begin}{extra}"))

    after = tree(root)
    profile.unlink()
    allocations.write_text(held)

    changed = {path for path in before if before[path] != after[path]}
    created = after.keys() - before.keys()
    assert changed == {f"{cluster}/{path}" for path in SHARED}
    assert all(path.startswith(f"{cluster}/") and name in path for path in created)
    assert before.keys() <= after.keys()
    assert tree(root) == before


def shuffled(value: object, order: random.Random) -> object:
    """Return plain data with the keys of every mapping in another order."""
    if isinstance(value, dict):
        keys = list(value)
        order.shuffle(keys)
        return {key: shuffled(value[key], order) for key in keys}
    return [shuffled(each, order) for each in value] if isinstance(value, list) else value


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 10_000))
def test_order_style_and_comments_change_nothing(seed: int, profiles: Path) -> None:
    """Keys in another order, block instead of flow style, other quotes and lost comments make the
    same bytes."""
    expected = tree(REPOSITORY / "profiles")
    order = random.Random(seed)
    for file in sorted(profiles.rglob("*.yaml")):
        if "components" not in file.parts:
            document = shuffled(yaml.safe_load(file.read_text()), order)
            file.write_text(
                yaml.safe_dump(document, sort_keys=False, width=200, default_flow_style=False)
            )

    assert tree(profiles) == expected
