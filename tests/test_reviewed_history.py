"""The rules on changes in a Git repository: what `diff` reports at each step, and its exit code."""

from __future__ import annotations

import re

import pytest

from tests.histories import History

pytestmark = pytest.mark.thorough

NEEDS, COST = "change/needs-platform-change", "change/at-anothers-cost"
DELETIONS = "change/many-deletions"


@pytest.fixture
def history(history: History) -> History:
    """A repository with two teams of two nodes and of different owners."""
    for team in ("audio", "nlp"):
        more = f'owners: ["@org/{team}"]\nlargestJob: {{nodes: 2}}\n'
        history.edit(f"teams/{team}.yaml", "contact:", f"{more}contact:")
    history.commit()
    return history


def _diff(history: History, *args: str) -> tuple[int, set[str]]:
    """Return the exit code of `diff`, and the rules of its findings."""
    code, out = history.trainyard("diff", *(args or ("--base", "HEAD")))
    return code, set(re.findall(r"^(?:error|warning)\[(.*?)\]", out, re.MULTILINE))


def _nodes(history: History, team: str, nodes: int) -> None:
    history.write(
        f"teams/{team}.yaml",
        lambda text: re.sub(r"\{nodes: \d+\}\}", f"{{nodes: {nodes}}}}}", text),
    )


def test_quota_and_pool_in_one_change(history: History) -> None:
    """A warning; an error if the base says so, whatever the change says; apart, nothing."""
    assert _diff(history) == (0, set())
    _nodes(history, "nlp", 7)
    assert _diff(history) == (1, {"capacity/oversubscribed"})
    history.edit("clusters/lab.yaml", "nodes: 9", "nodes: 10")
    assert _diff(history) == (0, {NEEDS})
    history.restore()

    strict = "review: {errors: [change/needs-platform-change]}\n"
    history.write("trainyard.yaml", lambda text: text + strict)
    history.commit()
    history.write("trainyard.yaml", lambda text: text.replace(strict, ""))
    _nodes(history, "nlp", 7)
    history.edit("clusters/lab.yaml", "nodes: 9", "nodes: 10")
    assert _diff(history) == (1, {NEEDS})

    _nodes(history, "nlp", 2)
    assert _diff(history)[0] == 0
    history.commit()
    _nodes(history, "nlp", 7)
    assert _diff(history) == (0, set())
    history.commit()
    history.git("revert", "--no-edit", "HEAD")
    assert _diff(history, "--base", "HEAD~1") == (0, {"capacity/idle-nodes"})


def test_quota_at_the_cost_of_another_team(history: History) -> None:
    """Both edits in one change, or one alone; the change can't call itself the owner."""
    _nodes(history, "nlp", 6)
    history.commit()
    _nodes(history, "nlp", 5)
    _nodes(history, "audio", 3)
    assert _diff(history) == (0, {COST})
    history.edit("teams/nlp.yaml", "@org/nlp", "@org/audio")
    assert _diff(history) == (0, {COST})
    history.restore()
    _nodes(history, "nlp", 5)
    assert _diff(history) == (0, {"capacity/idle-nodes"})
    history.commit()
    _nodes(history, "audio", 3)
    assert _diff(history) == (0, set())


def test_base_says_how_many_deletions_are_many(history: History) -> None:
    """What is left behind is not deleted, so a retired team is under the limit of 20 %."""
    strict, lenient = "review: {deleted: 2}\n", "review: {deleted: 60}\n"
    history.put("nlp", "draining")
    history.commit()
    history.put("nlp", "retired")
    assert DELETIONS not in _diff(history)[1]
    history.restore()

    history.write("trainyard.yaml", lambda text: text + strict)
    history.commit()
    history.put("nlp", "retired")
    code, rules = _diff(history)
    assert (code, DELETIONS in rules) == (0, True)
    history.edit("trainyard.yaml", strict, lenient)
    assert DELETIONS in _diff(history)[1]


def test_branches_that_are_valid_alone_and_not_together(history: History) -> None:
    """Four nodes are free: each branch takes three. The merge result is refused."""
    history.git("branch", "--move", "main")
    for team in ("audio", "nlp"):
        history.git("checkout", "--quiet", "-b", f"more-{team}", "main")
        _nodes(history, team, 5)
        assert _diff(history, "--base", "main")[0] == 0
        history.commit()
    alone = _diff(history, "--base", "more-audio", "--head", "more-nlp")
    merged = _diff(history, "--base", "more-audio", "--head", "more-nlp", "--merge-base")

    assert alone[0] == 0
    assert merged == (1, {"capacity/oversubscribed"})


def test_renamed_team_is_no_vanished_team(history: History) -> None:
    """Refused while jobs may run; after the drain no error, for the base of the drain as well."""

    def rename() -> None:
        history.git("mv", "profiles/teams/nlp.yaml", "profiles/teams/language.yaml")
        history.write(
            "teams/language.yaml",
            lambda text: re.sub("(?m)^state: .*\n", "", text) + "renamedFrom: nlp\nfolder: nlp\n",
        )
        history.write(
            "allocations.yaml",
            lambda text: re.sub(r"(?m)^    (team-)?nlp:", r"    \1language:", text),
        )

    rename()
    code, rules = _diff(history)
    assert (code, rules) == (1, {"change/renamed-without-draining"})
    history.git("reset", "--hard", "--quiet")
    history.put("nlp", "draining")
    history.commit()
    rename()
    code, rules = _diff(history)
    assert (code, rules) == (0, set())
    history.commit()
    code, rules = _diff(history, "--base", "HEAD~2")
    assert (code, rules) == (1, {"change/renamed-without-draining"})


def test_expired_quota_is_measured_by_the_base(history: History) -> None:
    """By the date of its commit, or by `--today`; what falls back is shown with the quota."""
    quota = "{dgx-h100: {nodes: 2}}"
    timed = '{dgx-h100: {nodes: 2, until: "2099-01-31", reason: a paper, then: 1}}'
    history.edit("teams/nlp.yaml", quota, timed)
    assert _diff(history) == (0, set())
    assert _diff(history, "--base", "HEAD", "--today", "2099-02-01") == (
        0,
        {"capacity/quota-expired"},
    )
    _, out = history.trainyard("diff", "--base", "HEAD")
    assert "until 2099-01-31 (a paper), then 1 node and 1 node back in the pool" in out
    history.commit()
    history.edit("teams/nlp.yaml", timed, quota)
    _, out = history.trainyard("diff", "--base", "HEAD")
    assert "~ nlp on dgx-h100: without a last day" in out
