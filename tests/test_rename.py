"""A team gets another name and keeps its numbers, user ids and folder: over committed trees, with
the revert and the next edits."""

from __future__ import annotations

import re

import pytest

from tests.histories import History
from trainyard.tree.lockfile import read_lock

pytestmark = pytest.mark.thorough

UNDRAINED = "change/renamed-without-draining"
VANISHED = "delivery/profile-vanished"
UIDS_MOVED = "change/uids-moved"


@pytest.fixture
def history(history: History) -> History:
    """A repository with two teams in the current folder; team nlp has files on NFS."""
    history.edit("teams/nlp.yaml", "# storage: {home: 1Ti}", "storage: {home: 1Ti}")
    history.commit()
    return history


def _move_lines(history: History, old: str, new: str) -> None:
    """Rename the team's lines in the ledger, of its further namespaces too."""

    def moved(text: str) -> str:
        text = re.sub(rf"(?m)^    {old}:", f"    {new}:", text)
        return re.sub(rf"(?m)^    team-{old}(?=[:-])", f"    team-{new}", text)

    history.write("allocations.yaml", moved)


def _rename(history: History, old: str, new: str, folder: str = "nlp") -> None:
    """Rename a team as the how-to says."""
    history.git("mv", f"profiles/teams/{old}.yaml", f"profiles/teams/{new}.yaml")
    keys = f"renamedFrom: {old}\n" + (f"folder: {folder}\n" if folder != new else "")
    history.write(
        f"teams/{new}.yaml",
        lambda text: re.sub("(?m)^(state|renamedFrom|folder): .*\n", "", text) + keys,
    )
    _move_lines(history, old, new)


def _drain(history: History, team: str) -> None:
    history.put(team, "draining")
    history.commit()


def _volume(history: History, team: str) -> str:
    path = history.folder / "overlays/lab/platform" / f"persistentvolume-lab-{team}-home.yaml"
    return path.read_text(encoding="utf-8")


def test_renamed_team_keeps_numbers_ids_and_folder(history: History) -> None:
    """The old name keeps its record, and the tree has nothing of it any more."""
    _drain(history, "nlp")
    _rename(history, "nlp", "language")
    history.commit()

    numbers = history.numbers()
    assert numbers["language"] == [("0x0100", False)]
    assert numbers["nlp"] == [("0x0100", True)]
    assert ("team-language", 2_000_000_000, False) in history.uids()
    assert ("team-nlp", 2_000_000_000, True) in history.uids()
    assert "path: /export/home/nlp\n" in _volume(history, "language")
    left = [path for path in history.git("ls-files", "overlays").split() if "nlp" in path]
    assert left == []


def test_rename_needs_an_earlier_drain(history: History) -> None:
    """The same change is accepted after it."""
    _rename(history, "nlp", "language")
    history.refused(UNDRAINED)
    history.git("reset", "--hard", "--quiet")
    history.unchanged()

    _drain(history, "nlp")
    _rename(history, "nlp", "language")
    history.commit()


def test_rename_is_taken_back_like_another_rename(history: History) -> None:
    """The profiles alone are refused while jobs may run; drained and renamed, all is as before."""
    _drain(history, "nlp")
    before = _volume(history, "nlp")
    _rename(history, "nlp", "language")
    history.commit()
    history.git("restore", "--source", "HEAD~1", "profiles")
    history.refused(VANISHED, "change/allocation-moved", UIDS_MOVED)
    history.git("reset", "--hard", "--quiet")
    history.git("clean", "-qfd")

    _drain(history, "language")
    _rename(history, "language", "nlp")
    history.commit()
    assert _volume(history, "nlp") == before
    assert history.numbers()["nlp"] == [("0x0100", False)]
    assert history.numbers()["language"] == [("0x0100", True)]
    history.git("revert", "--no-edit", "HEAD")
    history.unchanged()


def test_old_name_is_removed_later_and_the_folder_is_not(history: History) -> None:
    """`renamedFrom` is without effect in later changes; without `folder` the files are lost."""
    _drain(history, "nlp")
    _rename(history, "nlp", "language")
    history.commit()
    tree = history.git("rev-parse", "HEAD:overlays")
    history.edit("teams/language.yaml", "renamedFrom: nlp\n", "")
    history.commit()
    assert history.git("rev-parse", "HEAD:overlays") == tree
    history.revert()
    assert history.git("rev-parse", "HEAD:overlays") == tree

    history.edit("teams/language.yaml", "folder: nlp\n", "")
    history.refused("change/immutable-field")
    _, out = history.trainyard("generate", "--check")
    assert "Set `folder: nlp`" in out


def test_team_is_renamed_twice(history: History) -> None:
    """The numbers follow, also into a larger block and back to an earlier number."""
    for old, new in (("nlp", "language"), ("language", "text")):
        _drain(history, old)
        _rename(history, old, new)
        history.commit()
    assert "path: /export/home/nlp\n" in _volume(history, "text")
    names = {team: held for team, held in history.numbers().items() if team != "audio"}
    assert names == {
        "language": [("0x0100", True)],
        "nlp": [("0x0100", True)],
        "text": [("0x0100", False)],
    }

    _drain(history, "text")
    history.edit("allocations.yaml", "0x0100", "0x0105")
    history.commit()
    history.edit("allocations.yaml", "0x0105", "0x0100")
    history.commit()


def test_numbers_of_a_renamed_team_are_given_to_nobody(history: History) -> None:
    """Neither in the same change nor later; nor is the old name."""
    _drain(history, "nlp")
    _rename(history, "nlp", "language")
    history.add("newco")
    line = history.drop_line("newco")
    history.insert(re.sub("0x[0-9a-f]+", "0x0100", line))
    assert history.trainyard("generate")[0] == 1
    history.edit("allocations.yaml", re.sub("0x[0-9a-f]+", "0x0100", line), line)
    history.commit()

    code, out = history.trainyard("add", "team", "nlp")
    assert (code, "names/team-exists" in out) == (1, True)
    history.drop_line("newco")
    history.drop_line("language")
    history.insert(re.sub("0x[0-9a-f]+", "0x0100", line))
    assert history.trainyard("generate")[0] == 1


def test_ledger_is_renamed_with_the_team(history: History) -> None:
    """Without its lines the team would have other numbers, and not own its files."""
    _drain(history, "nlp")
    _rename(history, "nlp", "language")
    history.edit("allocations.yaml", "    language:", "    nlp:")
    history.refused("fabric/missing-allocation", "isolation/folder-of-another-team")
    history.edit("allocations.yaml", "    nlp:", "    language:")
    history.edit("allocations.yaml", "    team-language:", "    team-nlp:")
    history.refused(UIDS_MOVED)
    history.drop_line("team-nlp")
    history.refused(UIDS_MOVED)


def test_old_name_is_one_that_was_there(history: History) -> None:
    """Not a team that stays, and not one that never existed."""
    history.edit("teams/audio.yaml", "contact:", "renamedFrom: nlp\ncontact:")
    history.refused("change/old-name-in-use")
    history.restore()

    history.add("newco")
    history.edit("teams/newco.yaml", "contact:", "renamedFrom: nobody\ncontact:")
    history.refused("change/renamed-from-unknown")
    history.edit("teams/newco.yaml", "renamedFrom: nobody\n", "")
    history.commit()


def test_new_file_without_the_old_name_shows_what_to_add(history: History) -> None:
    """Only where a team is new: a team that is gone alone has no successor."""
    _drain(history, "nlp")
    _rename(history, "nlp", "language")
    history.edit("teams/language.yaml", "renamedFrom: nlp\n", "")
    code, out = history.trainyard("generate")
    assert (code, "If it is now called language, add `renamedFrom: nlp`" in out) == (1, True)
    history.git("rm", "--quiet", "--force", "profiles/teams/language.yaml")
    code, out = history.trainyard("generate")
    assert (code, "renamedFrom" in out) == (1, False)


def test_renamed_team_leaves_no_cluster(history: History) -> None:
    """A unit without successor is still found."""
    lab = (history.folder / "profiles/clusters/lab.yaml").read_text(encoding="utf-8")
    (history.folder / "profiles/clusters/west.yaml").write_text(lab, encoding="utf-8")
    history.write(
        "allocations.yaml", lambda text: text + text.split("\n", 1)[1].replace("lab:", "west:")
    )
    for team in ("audio", "nlp"):
        quota = "  lab: {dgx-h100: {nodes: 2}}"
        history.edit(f"teams/{team}.yaml", quota, f"{quota}\n{quota.replace('lab', 'west')}")
    history.commit()
    _drain(history, "nlp")
    _rename(history, "nlp", "language")
    history.edit("teams/language.yaml", "  west: {dgx-h100: {nodes: 2}}", "")
    history.refused("delivery/unit-vanished")


def test_one_cluster_after_the_other(history: History) -> None:
    """`--cluster` renames on one cluster; the other follows with the next run."""
    lab = (history.folder / "profiles/clusters/lab.yaml").read_text(encoding="utf-8")
    (history.folder / "profiles/clusters/west.yaml").write_text(lab, encoding="utf-8")
    history.write(
        "allocations.yaml", lambda text: text + text.split("\n", 1)[1].replace("lab:", "west:")
    )
    for team in ("audio", "nlp"):
        quota = "  lab: {dgx-h100: {nodes: 2}}"
        history.edit(f"teams/{team}.yaml", quota, f"{quota}\n{quota.replace('lab', 'west')}")
    history.commit()
    _drain(history, "nlp")
    _rename(history, "nlp", "language")
    assert history.trainyard("generate", "--cluster", "west")[0] == 0
    history.commit()
    for cluster in ("lab", "west"):
        lock = read_lock(history.folder / "overlays" / cluster)
        assert lock is not None
        assert "language" in lock.teams
        assert "nlp" not in lock.teams


def test_quota_with_a_last_day_changes_two_pages(history: History) -> None:
    """Given and taken back: the cluster's page, which the platform's owners approve, and the
    team's; no object changes."""
    quota = "{dgx-h100: {nodes: 2}}"
    tree = history.git("rev-parse", "HEAD:overlays")
    timed = '{dgx-h100: {nodes: 2, until: "2020-01-31", reason: paper deadline, then: 1}}'
    history.edit("teams/nlp.yaml", quota, timed)
    _, out = history.trainyard("validate")
    assert "2020-01-31: 1 node of dgx-h100" in out
    history.commit()
    changed = history.git("diff", "--name-only", "HEAD~1", "--", "overlays").split()
    assert changed == [
        "overlays/lab/README.md",
        "overlays/lab/samples/nlp/README.md",
    ]
    history.edit("teams/nlp.yaml", timed, quota)
    history.commit()
    assert history.git("rev-parse", "HEAD:overlays") == tree


def test_further_namespaces_keep_their_ids(history: History) -> None:
    """Each line of the ledger moves; one that is forgotten is found by its files."""
    line = '    team-nlp-debug: {range: 2000020000/10000, level: "s0:c1001,c2"}\n'
    history.edit("allocations.yaml", "  uids:\n", f"  uids:\n{line}")
    history.edit("teams/nlp.yaml", "contact:", "spaces: {debug: {storage: {home: 1Ti}}}\ncontact:")
    history.commit()
    _drain(history, "nlp")
    _rename(history, "nlp", "language")
    history.edit("allocations.yaml", "team-language-debug:", "team-nlp-debug:")
    history.refused(UIDS_MOVED)
    history.edit("allocations.yaml", "team-nlp-debug:", "team-language-debug:")
    history.commit()

    assert ("team-language-debug", 2_000_020_000, False) in history.uids()
    assert ("team-nlp-debug", 2_000_020_000, True) in history.uids()


def test_retired_team_returns_under_another_name(history: History) -> None:
    """Its tombstone is renamed; nothing of it runs. The warning is about this change only."""
    _drain(history, "nlp")
    history.put("nlp", "retired")
    history.commit()
    _rename(history, "nlp", "language")
    code, out = history.trainyard("diff", "--base", "HEAD")
    assert (code, "warning[change/renamed-from-retired]" in out) == (0, True)
    assert "with its numbers, user ids and folder `nlp`" in out
    history.commit()
    assert "renamed-from-retired" not in history.trainyard("generate")[1]

    assert history.numbers()["language"] == [("0x0100", False)]
    assert "path: /export/home/nlp\n" in _volume(history, "language")
