"""What earlier runs proved changes the time of a command and nothing else."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from trainyard.diagnostics import Diagnostic
from trainyard.generation import making, meaning
from trainyard.generation.generate import Generation, Run, check, check_objects, render
from trainyard.proofs import UNKNOWN, Proofs, content_of, of_this_machine
from trainyard.rules._check import DatedCheck
from trainyard.rules.check import CHECKS, check_family
from trainyard.tree.disk import DiskTree
from trainyard.tree.write import write

_COMPONENTS = "../profiles/components"


def _refuse(*_: object) -> NoReturn:
    raise AssertionError("a cluster is rendered")


class Platform:
    """This repository's platform, with the tree that was written for it and its proofs."""

    def __init__(self, profiles: Path) -> None:
        self.profiles = profiles
        self.target = profiles.parent / "overlays"
        self.folder = profiles.parent / "proofs"

    def make(self, proofs: Proofs | None = None) -> Generation:
        proofs = Proofs(self.folder) if proofs is None else proofs
        checked = check(self.profiles, "2026-11-21", proofs=proofs)
        run = Run(proofs=proofs)
        return render(checked, _COMPONENTS, (), DiskTree(self.target), run)

    def write(self) -> Generation:
        made = self.make()
        write(self.target, made.files)
        return made

    def edit(self, path: str, old: str, new: str) -> None:
        file = self.profiles / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))

    def agrees(self) -> Generation:
        """Return the tree, after comparing it with the one of a machine that knows nothing."""
        made, cold = self.make(), self.make(UNKNOWN)
        assert dict(made.files) == dict(cold.files)
        assert list(made.files) == list(cold.files)
        assert made.diagnostics == cold.diagnostics
        assert {**made.manifests} == {**cold.manifests}
        assert not cold.same
        return made


@pytest.fixture
def platform(profiles: Path) -> Platform:
    platform = Platform(profiles)
    platform.write()
    # In one process the second run shares texts that were read once: their content differs.
    platform.write()
    return platform


def test_an_unchanged_cluster_is_not_rendered(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(making, "render_site", _refuse)
        assert platform.make().same == {"lab", "prod-east"}
    assert platform.agrees().same == {"lab", "prod-east"}


def test_an_edit_makes_only_its_clusters_again_and_a_revert_none(platform: Platform) -> None:
    team = "teams/nlp.yaml"
    platform.edit(team, "viewer: [nlp-guests]", "viewer: [guests]")
    assert platform.agrees().same == set()
    platform.write()
    assert platform.agrees().same == {"lab", "prod-east"}
    platform.edit("clusters/lab.yaml", "https://lab.", "https://lab2.")
    assert platform.agrees().same == {"prod-east"}
    platform.edit("clusters/lab.yaml", "https://lab2.", "https://lab.")
    platform.edit(team, "viewer: [guests]", "viewer: [nlp-guests]")
    platform.write()
    assert platform.agrees().same == {"lab", "prod-east"}


@pytest.mark.parametrize("damage", ["byte", "more", "gone", "executable", "link", "lockfile"])
def test_a_folder_with_another_byte_is_made_again(platform: Platform, damage: str) -> None:
    file = platform.target / "lab/teams/nlp/kustomization.yaml"
    content = file.read_text()
    if damage == "byte":
        file.write_text(content.replace("kind", "Kind", 1))
    elif damage == "more":
        file.write_text(content + "\n")
    elif damage == "gone":
        file.unlink()
    elif damage == "executable":
        file.chmod(0o755)
    elif damage == "link":
        file.rename(file.with_name("other"))
        file.symlink_to("other")
    else:
        lock = platform.target / "lab/trainyard.lock"
        lock.write_text(lock.read_text().replace("    ", "     ", 1))
    assert platform.agrees().same == {"prod-east"}


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"0" * 64 + b"\n", b"[" * 100, None], ids=repr
)
def test_broken_or_foreign_proofs_only_cost_time(platform: Platform, content: bytes | None) -> None:
    seen = platform.folder / "seen"
    good = seen.read_bytes()
    if content is None:
        seen.unlink()
        seen.mkdir()
    else:
        seen.write_bytes(content + good[1:])
    platform.agrees()
    shutil.rmtree(platform.folder)
    platform.folder.write_text("a file")
    assert platform.agrees().same == set()


def test_another_installation_believes_nothing(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainyard.proofs._installation", lambda: b"another Trainyard")
    assert platform.agrees().same == set()


def test_what_was_found_is_found_again(platform: Platform) -> None:
    component = "components/simulation-defaults/simulation-defaults.yaml"
    platform.edit(component, "kind: ConfigMap", "kind: ConfigMap\nodd: field")
    first, again = platform.agrees(), platform.agrees()
    assert "release/invalid-manifest" in {each.rule for each in first.diagnostics}
    assert first.diagnostics == again.diagnostics


def test_validate_checks_each_cluster_once(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    proofs = Proofs(platform.folder)
    checked = check(platform.profiles, "2026-11-21", proofs=proofs)
    monkeypatch.setattr(making, "render_site", _refuse)
    assert check_objects(checked, _COMPONENTS, Run(proofs=proofs)).diagnostics == ()


def test_rules_that_found_nothing_are_asked_again_after_an_edit(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def ask(family: str, *rest: Any) -> tuple[Diagnostic, ...]:
        asked.append(family)
        return check_family(family, *rest)

    monkeypatch.setattr(meaning, "check_family", ask)
    platform.make()
    loud = set(asked)
    assert not {"fabric", "names"} & loud
    asked.clear()
    platform.edit("allocations.yaml", "0x0101", "0x0102")
    platform.agrees()
    assert {"fabric", "names"} <= set(asked)
    asked.clear()
    # The family of the error is asked each time, and so are all others: a name may be unknown.
    assert "fabric/partition-given-twice" in {each.rule for each in platform.make().diagnostics}
    assert "fabric" in asked
    asked.clear()
    platform.edit("allocations.yaml", "0x0102", "0x0101")
    platform.make()
    assert set(asked) == loud


def test_dated_rules_are_asked_on_each_day(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def ask(family: str, *_: Any) -> tuple[Diagnostic, ...]:
        asked.append(family)
        return ()

    monkeypatch.setattr(meaning, "check_family", ask)
    check(platform.profiles, "2026-11-22", proofs=Proofs(platform.folder))
    dated = {check.rule.id.partition("/")[0] for check in CHECKS if isinstance(check, DatedCheck)}
    assert dated <= set(asked)
    assert "names" not in asked


def test_what_was_asked_of_a_pool_is_no_part_of_its_content(platform: Platform) -> None:
    resolved = check(platform.profiles).platform
    assert resolved is not None
    site = resolved.sites[0]
    before = content_of([replace(pool) for pool in site.cluster.pools])
    pools = [replace(pool) for pool in site.cluster.pools]
    assert any(pool.countable for pool in pools)
    assert content_of(pools) == before


def test_the_content_of_inputs_is_the_same_in_each_process(platform: Platform) -> None:
    import subprocess
    import sys

    program = (
        "import sys, hashlib; from pathlib import Path\n"
        "from trainyard.generation.generate import check\n"
        "from trainyard.proofs import content_of\n"
        "sites = check(Path(sys.argv[1])).platform.sites\n"
        "print([hashlib.sha256(content_of(each)).hexdigest() for each in sites])"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program, platform.profiles],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1
    assert re.search("[0-9a-f]{64}", seen.pop())


def test_sets_have_one_content_and_other_values_another() -> None:
    assert content_of(frozenset("abcdef")) == content_of(frozenset("fedcba"))
    assert content_of(frozenset("abc")) != content_of(tuple("abc"))
    assert content_of(("a", 1)) != content_of(("a", True))


def test_a_machine_can_forget(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path))
    assert not of_this_machine().used
    monkeypatch.delenv("TRAINYARD_FORGET")
    of_this_machine().keep(["a" * 64])
    assert "a" * 64 in of_this_machine()


def test_the_newest_proofs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainyard.proofs._MOST", 4)
    for number in range(6):
        Proofs(tmp_path).keep([f"{number}" * 64])
    assert [f"{number}" * 64 in Proofs(tmp_path) for number in (0, 4, 5)] == [False, True, True]
