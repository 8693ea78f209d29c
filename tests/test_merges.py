"""Two changes of one cluster that Git can't merge: `generate` writes the tree of both."""

from __future__ import annotations

import subprocess

import pytest

from tests.histories import History

pytestmark = pytest.mark.thorough

TREE = "overlays"


def _branch(history: History, name: str, file: str, old: str, new: str) -> None:
    history.git("checkout", "--quiet", "-b", name, "main")
    history.edit(file, old, new)
    history.commit()


def test_conflict_in_the_tree_alone_is_solved_by_generate(history: History) -> None:
    """No line of it is looked at, and the result is that of both edits: of a new group and a new
    namespace of its team."""
    history.edit("teams/nlp.yaml", ", viewer: [nlp-guests]", "")
    history.commit()
    history.git("branch", "--force", "main")
    _branch(history, "one", "teams/nlp.yaml", "user: [nlp]", "user: [nlp], viewer: [nlp-guests]")
    _branch(history, "other", "teams/nlp.yaml", "contact:", "spaces: {eval: {}}\ncontact:")
    with pytest.raises(subprocess.CalledProcessError):
        history.git("merge", "--quiet", "one")
    unmerged = history.git("diff", "--name-only", "--diff-filter=U").split()
    assert unmerged
    assert all(path.startswith(f"{TREE}/") for path in unmerged)

    code, shown = history.trainyard("generate")

    assert code == 0, shown
    assert history.trainyard("generate", "--check")[0] == 0
    history.git("add", "--all")
    history.git("commit", "--quiet", "--no-edit")
    merged = history.git("rev-parse", f"HEAD:{TREE}")
    history.git("rm", "--quiet", "-r", f"{TREE}/lab/teams", f"{TREE}/lab/platform")
    assert history.trainyard("generate")[0] == 0
    history.git("add", "--all")
    assert history.git("write-tree", f"--prefix={TREE}/") == merged
