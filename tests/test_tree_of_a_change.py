"""What is merged is the tree of a change: `diff` looks at it, and at what its lockfile forgets."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.histories import History

pytestmark = [pytest.mark.thorough, pytest.mark.slow]

STALE, FOREIGN = "delivery/tree-is-stale", "delivery/foreign-file"
FORGOTTEN, UIDS_MOVED = "change/number-forgotten", "change/uids-moved"
SUBMODULE = "delivery/submodule"
NLP = "overlays/lab/teams/nlp"


@pytest.fixture
def history(history: History) -> History:
    """A repository with two teams in the current folder, on a branch beside `base`."""
    history.git("branch", "base")
    return history


def _commit(history: History) -> None:
    """Commit the tree as it is."""
    history.git("add", "--all")
    history.git("commit", "--message", "by hand")


def _renumber_nlp(history: History) -> str:
    """Drain a team and give it partition 0x0160; return its line with the old number."""
    history.put("nlp", "draining")
    history.commit()
    line = history.drop_line("nlp")
    history.insert(line.replace("0x0100", "0x0160"))
    history.commit()
    return line


def _diff(history: History, *options: str) -> tuple[set[str], str]:
    code, out = history.trainyard("diff", "--base=base", *options)
    errors = set(re.findall(r"^error\[(.*?)\]", out, re.MULTILINE))
    assert code == (1 if errors else 0), out
    return errors, out


def _of_head(history: History) -> set[str]:
    """Return the errors about the head's commit, alone and merged."""
    alone, _ = _diff(history, "--head=HEAD")
    both, out = _diff(history, "--head=HEAD", "--merge-base")
    assert alone == both
    assert not (both and out.startswith("nothing changes"))
    return both


def _plant(path: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("x: 1\n", encoding="utf-8")


def _link(path: str) -> None:
    Path(path).symlink_to("../audio")


@pytest.mark.parametrize(
    ("edit", "rules"),
    [
        (lambda: _plant(f"{NLP}/namespace-team-nlp.yaml"), {STALE}),
        (lambda: Path(NLP, "networkpolicy-default-deny.yaml").unlink(), {STALE}),
        (lambda: Path(NLP, "namespace-team-nlp.yaml").chmod(0o755), {STALE}),
        (lambda: _plant("overlays/lab/teams/rogue/kustomization.yaml"), {FOREIGN}),
        (lambda: _plant(f"{NLP}/.argocd-source.yaml"), {FOREIGN}),
        (lambda: _plant("overlays/other/teams/x/kustomization.yaml"), {FOREIGN}),
        (lambda: _plant("overlays/README.md"), set()),
        (lambda: _link("overlays/lab/teams/link"), {FOREIGN}),
        (lambda: _plant("overlays/lab/trainyard.lock"), {STALE, FORGOTTEN}),
        (lambda: Path("overlays/lab/trainyard.lock").unlink(), {STALE, FORGOTTEN}),
        (lambda: shutil.rmtree("overlays"), {STALE, FORGOTTEN}),
    ],
)
def test_tree_that_profiles_do_not_make_is_found_and_its_revert_is_not(
    history: History, edit: Callable[[], None], rules: set[str]
) -> None:
    edit()
    _commit(history)
    assert _of_head(history) == rules

    history.git("restore", "--source=base", "--staged", "--worktree", ".")
    _commit(history)
    assert _of_head(history) == set()

    history.edit("teams/nlp.yaml", "contact: ", "contact: x")
    history.commit()
    errors, out = _diff(history, "--head=HEAD")
    assert (errors, "not what" in out) == (set(), False)


def test_submodule_is_found_in_a_commit_and_in_a_clone_without_it(history: History) -> None:
    path = "overlays/lab/teams/ghost"
    commit = history.git("rev-parse", "HEAD").strip()
    history.git("update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
    Path(path).mkdir()
    history.git("commit", "--message", "submodule")

    assert _of_head(history) == {SUBMODULE}
    assert _diff(history)[0] == {SUBMODULE}
    assert f"error[{SUBMODULE}]" in history.trainyard("generate", "--check")[1]
    history.git("branch", "--force", "base")
    history.git("rm", "--quiet", "--cached", path)
    Path(path).rmdir()
    history.git("commit", "--message", "without")
    assert _of_head(history) == set()


def test_work_tree_before_generate_is_no_error(history: History) -> None:
    """One line says what to do; a file that `generate` leaves there is an error."""
    history.edit("teams/nlp.yaml", "contact: ", "contact: x")
    errors, out = _diff(history)
    assert errors == set()
    assert re.search(r"(?m)^the tree here is not what the profiles make \(\d+ files?\): run", out)

    _plant("overlays/lab/teams/rogue/kustomization.yaml")
    assert _diff(history)[0] == {FOREIGN}
    shutil.rmtree("overlays/lab/teams/rogue")
    history.commit()
    assert "the tree here" not in _diff(history)[1]


def test_branch_that_is_behind_is_compared_with_its_own_profiles(history: History) -> None:
    """The base's new team is neither missing in the head's tree nor forgotten by its lockfile."""
    history.git("checkout", "-b", "topic")
    history.edit("teams/nlp.yaml", "contact: ", "contact: x")
    history.commit()
    history.git("checkout", "base")
    history.add("newco")
    history.commit()
    history.git("checkout", "topic")

    assert _diff(history, "--head=topic", "--merge-base")[0] == set()
    _plant(f"{NLP}/namespace-team-nlp.yaml")
    _commit(history)
    assert _diff(history, "--head=topic", "--merge-base")[0] == {STALE}
    history.git("checkout", "topic~1", "--", ".")
    shutil.rmtree("overlays")
    history.drop_line("nlp")
    history.insert('    nlp: {partition: "0x0160", addresses: 10.64.240.0/20}\n')
    assert history.trainyard("generate")[0] == 0
    _commit(history)
    assert FORGOTTEN in _diff(history, "--head=topic", "--merge-base")[0]


def test_lockfile_may_remember_more_than_the_base(history: History) -> None:
    """A number that was given and taken back before the merge stays listed."""
    line = _renumber_nlp(history)
    history.drop_line("nlp")
    history.insert(line)
    history.commit()

    assert ("0x0160", True) in history.numbers()["nlp"]
    assert _of_head(history) == set()


def test_tree_that_is_generated_anew_forgets_and_the_base_reports_it(history: History) -> None:
    """Neither the tree alone nor its profiles show it."""
    _renumber_nlp(history)
    history.git("branch", "--force", "base")
    shutil.rmtree("overlays")
    history.commit()

    assert _of_head(history) == {FORGOTTEN}
    _, out = history.trainyard("verify", "--changed-since=base")
    assert f"error[{FORGOTTEN}]" in out
    history.git("restore", "--source=base", "overlays")
    history.commit()
    assert _of_head(history) == set()


def test_line_of_user_ids_stays_with_a_retired_team(history: History) -> None:
    """As its line of the fabric does; with a new tree, both checks find it."""
    for state in ("draining", "retired"):
        history.put("nlp", state)
        history.commit()
    history.git("branch", "--force", "base")
    history.drop_line("team-nlp")
    history.refused(UIDS_MOVED)

    shutil.rmtree("overlays")
    history.commit()
    assert _of_head(history) == {UIDS_MOVED, FORGOTTEN}
