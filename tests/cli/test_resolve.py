"""`trainyard resolve`: two teams got the same numbers in two branches."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended
from tests.cli.test_diff import commit, git, replace
from trainyard.cli.exits import Exit
from trainyard.tree.lockfile import read_lock

pytestmark = pytest.mark.thorough

Call = Callable[..., Ended]
LEDGER = Path("profiles", "allocations.yaml")


@pytest.fixture
def branches(repository: Path, written: Path, trainyard: Call) -> None:
    """Branches `audio` and `radio` add a team each; both give it the next VLAN."""
    shutil.copytree(written, repository / "overlays")
    git("init", "--quiet", "--initial-branch=main")
    replace("clusters/lab.yaml", "xe9680-h200: {nodes: 3", "xe9680-h200: {nodes: 9")
    trainyard("generate")
    commit("base")
    for team in ("radio", "audio"):
        git("checkout", "--quiet", "-b", team, "main")
        added = trainyard("add", "team", team, "--cluster", "lab", "--pool", "xe9680-h200")
        assert "keeps VLAN 100 and" in added.out
        assert trainyard("generate").code == Exit.FINE
        commit(team)


def conflict(*command: str) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        git(*command)


def vlans() -> dict[str, int]:
    lines = re.findall(r"(audio|radio): \{vlan: (\d+),", LEDGER.read_text("utf-8"))
    return {team: int(number) for team, number in lines}


@pytest.mark.usefixtures("branches")
@pytest.mark.parametrize(
    ("begin", "finish"),
    [("merge", ("commit", "--quiet", "--no-edit")), ("rebase", ("rebase", "--continue"))],
)
def test_the_later_team_gets_new_numbers(
    trainyard: Call, begin: str, finish: tuple[str, ...]
) -> None:
    conflict(begin, "radio")

    ended = trainyard("resolve")

    assert (ended.code, vlans()) == (Exit.FINE, {"radio": 100, "audio": 104})
    assert "team audio keeps VLAN 104 and addresses 10.72.64.0/20 permanently\n" in ended.out
    git("add", "--all")
    git("-c", "core.editor=true", *finish)
    assert trainyard("generate", "--check").code == Exit.FINE
    assert trainyard("diff", "--base=radio").code == Exit.FINE
    lock = read_lock(Path("overlays", "lab"))
    assert lock is not None
    held = {each.team: each.segment for each in lock.holdings if each.team in vlans()}
    assert held == vlans()


@pytest.mark.usefixtures("branches")
def test_the_shared_branch_keeps_its_numbers_if_it_is_merged_into(trainyard: Call) -> None:
    git("checkout", "--quiet", "main")
    git("merge", "--quiet", "radio")
    conflict("merge", "audio")

    assert trainyard("resolve").code == Exit.FINE
    assert vlans() == {"radio": 100, "audio": 104}


@pytest.mark.usefixtures("branches")
def test_a_ledger_that_git_merged_stays(trainyard: Call) -> None:
    """Only pages are in conflict: each team keeps what its branch gave it."""
    git("checkout", "--quiet", "audio")
    replace(
        "allocations.yaml",
        "audio: {vlan: 100, addresses: 10.72.48.0/20",
        "audio: {vlan: 150, addresses: 10.72.160.0/20",
    )
    ledger = LEDGER.read_text("utf-8")
    line = next(each for each in ledger.splitlines(keepends=True) if "audio:" in each)
    LEDGER.write_text(ledger.replace(line, "").replace("    nlp: {vlan", f"{line}    nlp: {{vlan"))
    for path in ("overlays", "profiles/trainyard.yaml"):
        git("checkout", "main", "--", path)
    assert trainyard("generate").code == Exit.FINE
    for page in Path("overlays").glob("*/README.md"):
        page.write_text("".join(f"{line} \n" for line in page.read_text("utf-8").splitlines()))
    commit("other numbers, in another place; pages edited by hand")
    conflict("merge", "radio")
    before = LEDGER.read_bytes()

    ended = trainyard("resolve")

    assert (ended.code, LEDGER.read_bytes()) == (Exit.FINE, before)
    assert vlans() == {"radio": 100, "audio": 150}
    assert "wrote profiles/allocations.yaml" not in ended.out


@pytest.mark.usefixtures("branches")
def test_nothing_is_written_while_another_profile_is_in_conflict(trainyard: Call) -> None:
    git("checkout", "--quiet", "radio")
    replace("teams/nlp.yaml", "nlp-guests", "nlp-one")
    commit()
    git("checkout", "--quiet", "audio")
    replace("teams/nlp.yaml", "nlp-guests", "nlp-other")
    commit()
    conflict("merge", "radio")
    before = LEDGER.read_bytes()

    ended = trainyard("resolve")

    assert (ended.code, LEDGER.read_bytes()) == (Exit.FINDINGS, before)
    assert "error[shape/conflict-marker]" in ended.out
    assert "profiles/teams/nlp.yaml" in ended.out
    assert "profiles/allocations.yaml" not in ended.out
    assert ended.err.endswith("Nothing was written.\n")


@pytest.mark.usefixtures("branches")
def test_without_a_merge_there_is_nothing_to_solve(trainyard: Call) -> None:
    ended = trainyard("resolve")

    assert (ended.code, ended.out) == (Exit.IO, "")
    assert "Git merges nothing in " in ended.err
