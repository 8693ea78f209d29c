"""After random edits a machine that remembers makes the tree of one that knows nothing."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from tests.changes.edits import Action, edit
from tests.changes.keys import keys
from tests.changes.program import SMALL
from tests.changes.repository import Repository
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import Generation, Run, check, check_objects, render
from trainyard.proofs import UNKNOWN, Proofs
from trainyard.tree.disk import DiskTree
from trainyard.tree.write import write
from trainyard.yaml_io.emitter import emit

pytestmark = pytest.mark.thorough

_COMPONENTS = "../profiles/components"
_DAY = "2026-11-21"


def _made(folder: Path, proofs: Proofs) -> tuple[Generation, Generation]:
    """Return what `generate` makes, and what `validate` finds."""
    checked = check(folder / "profiles", _DAY, proofs=proofs)
    run, tree = Run(proofs=proofs), DiskTree(folder / "overlays")
    return render(checked, _COMPONENTS, (), tree, run), check_objects(checked, _COMPONENTS, run)


@pytest.mark.parametrize("name", [*SMALL, "own"])
def test_proofs_change_no_byte(
    name: str, committed: dict[str, Repository], seed: str, edits: int, tmp_path: Path
) -> None:
    """Each edit comes over the tree of the one before, or over the first one."""
    order = random.Random(f"{seed} recalled {name}")
    start, now = committed[name].folder, tmp_path / "now"
    documents = committed[name].documents()
    shutil.copytree(start / "profiles", now / "profiles")
    shutil.copytree(start / "overlays", now / "overlays")
    recalled = 0
    for _ in range(max(30, edits // 20)):
        made = edit(documents, order.choice(keys()), order.choice([*Action]), order)
        if made is None:
            continue
        file = now / "profiles" / made.file
        before = file.read_bytes() if file.exists() else None
        _put(file, None if made.after is None else emit(made.after))
        (fast, found), (cold, found_cold) = (
            _made(now, proofs) for proofs in (Proofs(tmp_path / "proofs"), UNKNOWN)
        )
        assert dict(fast.files) == dict(cold.files)
        assert fast.diagnostics == cold.diagnostics
        assert found.diagnostics == found_cold.diagnostics
        recalled += len(fast.same)
        if not has_errors(fast.diagnostics) and order.random() < 0.5:
            write(now / "overlays", fast.files)
        else:
            _put(file, before)
    proofs = tmp_path / "proofs"
    last, again = (_made(now, Proofs(proofs))[0] for _ in range(2))
    assert recalled or again.same or last.diagnostics


def _put(file: Path, content: bytes | None) -> None:
    if content is None:
        file.unlink()
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
