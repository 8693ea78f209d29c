"""What a team holds stays held: histories of committed trees, step by step as an administrator
makes them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from datetime import date
from functools import partial

import pytest

from tests.histories import History
from trainyard.tree.lockfile import read_lock

pytestmark = pytest.mark.thorough

MOVED, GIVEN_AWAY = "change/allocation-moved", "change/allocation-given-away"
UIDS_MOVED, UIDS_GIVEN_AWAY = "change/uids-moved", "change/uids-given-away"
UNDRAINED = "change/retired-without-draining"


def _retire(history: History, team: str) -> None:
    for state in ("draining", "retired"):
        history.put(team, state)
        history.commit()


def _newcomer(history: History, line: str, nodes: int = 2) -> None:
    """Add a team by hand, with the numbers of a line."""
    history.add("newco", nodes)
    history.drop_line("newco")
    history.insert(line.replace("nlp:", "newco:"))


@pytest.mark.parametrize("tombstone", [True, False], ids=["tombstone", "no-tombstone"])
def test_deleted_line_of_a_retired_team_gives_nothing_away(
    history: History, tombstone: bool
) -> None:
    """Its number is refused to another team, `add team` skips it, and the line can only be
    restored."""
    _retire(history, "nlp")
    line = history.drop_line("nlp")
    if not tombstone:
        (history.folder / "profiles" / "teams" / "nlp.yaml").unlink()
    history.refused(MOVED)
    assert 'partition: "0x0102"' in history.add("newco")
    history.refused(MOVED)
    history.restore()

    history.drop_line("nlp")
    if not tombstone:
        (history.folder / "profiles" / "teams" / "nlp.yaml").unlink()
    _newcomer(history, line)
    history.refused(MOVED, GIVEN_AWAY)
    history.restore()

    assert 'partition: "0x0102"' in history.add("newco")
    history.commit()
    assert history.numbers() == {
        "audio": [("0x0101", False)],
        "newco": [("0x0102", False)],
        "nlp": [("0x0100", False)],
    }


def test_name_of_a_team_without_line_and_profile_is_taken(history: History) -> None:
    """The lockfile remembers the team, so no other team gets its folders by its name."""
    _retire(history, "nlp")
    history.drop_line("nlp")
    (history.folder / "profiles" / "teams" / "nlp.yaml").unlink()
    code, out = history.trainyard("add", "team", "nlp")

    assert (code, out.splitlines()[0]) == (
        1,
        (
            "error[names/team-exists]: there was a team `nlp`: the lockfile of cluster `lab` "
            "remembers its numbers"
        ),
    )


def test_draining_team_moves_and_nobody_gets_its_old_number(history: History) -> None:
    """In the same change or later, by hand or by `add team`; the team itself gets it back by a
    revert."""
    history.put("nlp", "draining")
    history.commit()
    line = history.drop_line("nlp")
    moved = line.replace("0x0100", "0x0105").replace("10.64.0.0/20", "10.64.80.0/20")
    history.insert(moved)
    _newcomer(history, line)
    history.refused(GIVEN_AWAY)
    history.restore()

    history.edit("allocations.yaml", line, moved)
    history.commit()
    assert history.numbers()["nlp"] == [("0x0100", True), ("0x0105", False)]

    _newcomer(history, line)
    history.refused(GIVEN_AWAY)
    history.restore()
    history.revert()
    assert history.numbers()["nlp"] == [("0x0100", False), ("0x0105", True)]

    assert 'partition: "0x0102"' in history.add("newco")
    history.put("nlp", "active")
    history.commit()
    assert history.numbers()["nlp"] == [("0x0100", False), ("0x0105", True)]


def test_active_team_does_not_move(history: History) -> None:
    """Not even to a number that was its own: its pods have the other one."""
    history.edit("allocations.yaml", "0x0100", "0x0105")
    history.refused(MOVED)
    history.restore()
    history.put("nlp", "draining")
    history.commit()
    history.edit("allocations.yaml", "0x0100", "0x0105")
    history.commit()
    history.put("nlp", "active")
    history.commit()

    history.edit("allocations.yaml", "0x0105", "0x0100")
    history.refused(MOVED)


def test_line_of_a_draining_team_is_not_deleted(history: History) -> None:
    """Its quota needs the numbers, and no queue is open: the profiles themselves are refused."""
    history.put("nlp", "draining")
    history.commit()
    history.drop_line("nlp")
    history.refused("fabric/missing-allocation")


def test_nodes_are_free_only_after_draining(history: History) -> None:
    """Retired in one step with or without a taker is refused, and so are its nodes while it
    drains."""
    history.put("nlp", "retired")
    history.refused(UNDRAINED)
    history.edit("teams/audio.yaml", "nodes: 2", "nodes: 7")
    history.refused(UNDRAINED)

    history.put("nlp", "draining")
    history.refused("capacity/oversubscribed")
    history.edit("teams/audio.yaml", "nodes: 7", "nodes: 2")
    history.commit()

    history.put("nlp", "retired")
    history.edit("teams/audio.yaml", "nodes: 2", "nodes: 7")
    history.commit()
    assert history.numbers()["nlp"] == [("0x0100", False)]


def test_each_step_of_a_retirement_is_reverted(history: History) -> None:
    """The team returns with its numbers from retired and draining, and can retire again."""
    history.put("nlp", "draining")
    history.commit()
    history.revert()
    _retire(history, "nlp")
    history.revert()
    history.put("nlp", "active")
    history.commit()
    _retire(history, "nlp")
    history.put("nlp", "active")
    history.commit()

    assert history.numbers()["nlp"] == [("0x0100", False)]


def test_domain_moves_only_before_the_first_delivery(history: History) -> None:
    """The revert and the next edit go through; without a tree the domain is free."""
    text = (history.folder / "profiles" / "trainyard.yaml").read_text(encoding="utf-8")
    (line,) = re.findall("(?m)^domain: .*$", text)
    history.edit("trainyard.yaml", line, "domain: gpu.example.org")
    history.refused("change/domain-moved")

    history.restore()
    history.unchanged()
    history.edit("trainyard.yaml", line, f"{line} of ours")
    history.commit()

    history.edit("trainyard.yaml", f"{line} of ours", "domain: gpu.example.org")
    shutil.rmtree(history.folder / "overlays")
    history.commit()


def test_runtime_of_a_retired_team_goes_and_comes_back(history: History) -> None:
    """A tombstone keeps its list of runtimes, whose profiles may be removed."""
    runtimes = history.folder / "profiles" / "runtimes"
    (name,) = (path.stem for path in runtimes.glob("*.yaml"))
    text = (runtimes / f"{name}.yaml").read_text(encoding="utf-8")
    (runtimes / "old.yaml").write_text(text, encoding="utf-8")
    history.edit("teams/nlp.yaml", f"[{name}]", f"[{name}, old]")
    history.commit()
    _retire(history, "nlp")

    (runtimes / "old.yaml").unlink()
    history.commit()
    history.put("nlp", "active")
    history.refused("references/unknown-name")

    history.restore()
    history.revert()
    history.put("nlp", "active")
    history.commit()


def test_user_ids_are_kept_moved_and_never_given_to_another_namespace(history: History) -> None:
    """A lost line is refused; a drained namespace may get other ids; a revert restores them."""
    own = history.drop_line("team-nlp")
    history.refused(UIDS_MOVED)
    history.restore()

    history.put("nlp", "draining")
    history.commit()
    moved = own.replace("20000", "20900").replace("s0:c1001,c", "s0:c1010,c")
    history.edit("allocations.yaml", own, moved)
    history.commit()
    first = int(own.partition("range: ")[2].partition("/")[0])
    was, other = ("team-nlp", first, True), ("team-audio", 2_000_010_000, False)
    assert set(history.uids()) == {was, ("team-nlp", first + 90_000_000, False), other}

    history.add("newco")
    theirs = history.drop_line("team-newco")
    history.edit(
        "allocations.yaml", "  uids:\n", "  uids:\n" + own.replace("team-nlp", "team-newco")
    )
    history.refused(UIDS_GIVEN_AWAY)
    history.edit("allocations.yaml", own.replace("team-nlp", "team-newco"), theirs)
    history.commit()
    assert ("team-newco", 2_000_020_000, False) in history.uids()

    history.edit("allocations.yaml", moved, own)
    history.commit()
    assert ("team-nlp", first, False) in history.uids()
    assert ("team-nlp", first + 90_000_000, True) in history.uids()


def test_user_ids_of_a_retired_team_are_remembered_without_its_line(history: History) -> None:
    """The line can only be restored; the lockfile alone keeps the ids from the next team."""
    _retire(history, "nlp")
    own = history.drop_line("team-nlp")
    history.refused(UIDS_MOVED)
    history.add("newco")
    text = (history.folder / "profiles" / "allocations.yaml").read_text(encoding="utf-8")
    assert "team-newco: {range: 2000020000/10000" in text
    history.refused(UIDS_MOVED)
    history.edit(
        "allocations.yaml", "2000020000/10000", own.partition("range: ")[2].partition(",")[0]
    )
    history.refused(UIDS_MOVED, UIDS_GIVEN_AWAY)


def test_user_ids_of_a_space_come_back_with_it(history: History) -> None:
    """While it is gone, `add team` passes over them, and no other namespace of the team gets
    them."""
    line, space = (
        '    team-nlp-debug: {range: 2000020000/10000, level: "s0:c1001,c2"}\n',
        "spaces: {debug: {}}\n",
    )

    def put(line: str, space: str) -> None:
        history.edit("allocations.yaml", "  uids:\n", f"  uids:\n{line}")
        history.write("teams/nlp.yaml", lambda text: text + space)

    put(line, space)
    history.commit()
    history.put("nlp", "draining")
    history.commit()
    history.edit("teams/nlp.yaml", space, "")
    history.commit()

    history.add("newco")
    history.put("nlp", "active")
    history.commit()
    assert ("team-newco", 2_000_030_000, False) in history.uids()
    history.drop_line("team-nlp-debug")
    put(line.replace("debug", "test"), space.replace("debug", "test"))
    history.refused(UIDS_MOVED, UIDS_GIVEN_AWAY)
    history.restore()
    history.write("teams/nlp.yaml", lambda text: text + space)
    history.commit()
    assert ("team-nlp-debug", 2_000_020_000, False) in history.uids()


def test_lockfile_remembers_the_day(history: History) -> None:
    """`add team` writes it into the ledger; the lockfile keeps it when the ledger does not."""
    today = date.today().isoformat()  # noqa: DTZ011 - as the command line takes it
    line = (history.folder / "overlays" / "lab" / "trainyard.lock").read_text().splitlines()[6]
    assert line == (
        '    {"fabric": "ib", "team": "nlp", "partition": "0x0100", "addresses": "10.64.0.0/20", '
        f'"since": "{today}"}}'
    )
    history.edit("allocations.yaml", f', since: "{today}"', "")
    assert history.trainyard("generate", "--check")[0] == 0


def test_number_that_was_never_merged_is_forgotten_with_the_tree(history: History) -> None:
    """The way out that the rule names: the tree of the base, and generated again."""
    history.add("newco")
    assert history.trainyard("generate")[0] == 0
    history.edit("allocations.yaml", "0x0102", "0x0103")
    assert history.trainyard("generate")[0] == 1

    history.git("restore", "overlays")
    history.commit()
    assert history.numbers()["newco"] == [("0x0103", False)]


def test_numbers_go_with_the_cluster(history: History) -> None:
    """A cluster whose profile and folder are removed is forgotten; its section of the ledger may
    stay."""
    (history.folder / "profiles" / "clusters" / "lab.yaml").rename(
        history.folder / "profiles/clusters/west.yaml"
    )
    for team in ("audio", "nlp"):
        history.edit(f"teams/{team}.yaml", "lab:", "west:")
    history.write(
        "allocations.yaml", lambda text: text + text.partition("\n")[2].replace("lab:", "west:")
    )
    history.git("rm", "-rq", "overlays/lab")
    history.commit()

    lock = read_lock(history.folder / "overlays" / "west")
    assert lock is not None
    assert [holding.team for holding in lock.holdings] == ["audio", "nlp"]


def test_version_given_twice_is_refused_and_the_next_version_is_not(history: History) -> None:
    """The old image is copied for those who stay and the version forgotten; then it is taken back,
    then made right."""
    runtimes = history.folder / "profiles" / "runtimes"
    (runtimes / "openmpi-v1.yaml").write_bytes((runtimes / "openmpi.yaml").read_bytes())
    history.edit("runtimes/openmpi.yaml", "sha256:0000", "sha256:1111")
    history.edit("teams/nlp.yaml", "[openmpi]", "[openmpi, openmpi-v1]")
    history.refused("runtime/version-given-twice")

    history.restore()
    history.unchanged()

    (runtimes / "openmpi-v1.yaml").write_bytes((runtimes / "openmpi.yaml").read_bytes())
    history.edit("runtimes/openmpi.yaml", "sha256:0000", "sha256:1111")
    history.edit("runtimes/openmpi.yaml", "version: 1", "version: 2")
    history.edit(
        "runtimes/openmpi-v1.yaml", "maxNodes: 4", 'maxNodes: 4\ndeprecated: {end: "2098-06-30"}'
    )
    history.edit("teams/nlp.yaml", "[openmpi]", "[openmpi, openmpi-v1]")
    history.commit()


_FABRIC = "  uids: {link: infiniband, partitions: 0x0200-0x027f, addresses: 10.80.0.0/13}\n"
_OWNERS = "  Partitions/uids: fabric team\n  NodeFirmware/uids: hardware team\n"


@pytest.mark.parametrize(
    ("rule", "more"),
    [
        (
            "names/reserved-fabric",
            {"fabrics:\n": _FABRIC, "external:.*\n": _OWNERS},
        ),
        ("isolation/team-as-system-namespace", {"networks: .*\n": "systemNamespaces: [default]\n"}),
    ],
)
def test_reserved_name_is_refused_and_the_next_edit_is_not(
    history: History, rule: str, more: Mapping[str, str]
) -> None:
    """A word that the ledger or Kubernetes needs for itself."""
    for line, added in more.items():
        history.write("clusters/lab.yaml", partial(re.sub, line, rf"\g<0>{added}"))
    history.refused(rule)

    history.restore()
    history.unchanged()

    history.edit("clusters/lab.yaml", "nodes: 9", "nodes: 10")
    history.commit()
