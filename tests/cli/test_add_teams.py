"""Several teams at once: names, a table, and what the options state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calls import Ended, edit
from trainyard.yaml_io.reader import read


def load(file: Path) -> Any:
    """Return a profile as plain data."""
    source, found = read(file.name, file.read_bytes())
    assert not found
    return source.value


Call = Callable[..., Ended]
HEAD = "name,nodes,borrow,admin,user,viewer,cohort,runtime,contact,lend\n"


@pytest.fixture
def platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trainyard: Call) -> Path:
    """A new platform without a team."""
    monkeypatch.chdir(tmp_path)
    assert trainyard("init").code == 0
    edit(tmp_path / "profiles/clusters/lab.yaml", "nodes: 5, reserve: 1", "nodes: 10, reserve: 1")
    return tmp_path / "profiles"


def test_options_hold_for_each_name(platform: Path, trainyard: Call) -> None:
    """A group and a contact may have the team's name in them; numbers are one after the other."""
    ended = trainyard(
        *("add", "team", "ada", "alan", "--nodes", "0", "--borrow", "2", "--lend", "0"),
        *(
            "--runtime",
            "openmpi",
            "--contact",
            "{name}@u.example",
            "--group",
            "user=CN={name}, O=u",
        ),
    )

    assert ended.code == 0, ended.out
    for name in ("ada", "alan"):
        assert load(platform / "teams" / f"{name}.yaml") == {
            "contact": f"{name}@u.example",
            "groups": {"user": [f"CN={name}, O=u"]},
            "runtimes": ["openmpi"],
            "cohort": "research",
            "quota": {"lab": {"dgx-h100": {"nodes": 0, "borrow": 2, "lend": 0}}},
        }
    ledger = load(platform / "allocations.yaml")["lab"]
    assert [each["partition"] for each in ledger["ib"].values()] == ["0x0100", "0x0101"]
    assert len({each["range"] for each in ledger["uids"].values()}) == 2
    assert "placeholder" not in (platform / "teams/ada.yaml").read_text()
    assert trainyard("generate").code == 0
    assert trainyard("fmt", "--check").code == 0


def test_cells_go_before_options(platform: Path, trainyard: Call) -> None:
    """An empty cell has what the option says, and else the default."""
    table = platform.parent / "teams.csv"
    table.write_text(
        "\ufeff" + HEAD + 'ada,3,,,"CN=ada, O=u",,none,,,\r\nalan,,,,,,,openmpi,a@u.example,\n\n'
    )
    options = ("--nodes", "4", "--contact", "{name}@v.example")
    ended = trainyard("add", "team", "--from", str(table), *options)

    assert ended.code == 0, ended.out
    ada, alan = (load(platform / "teams" / f"{name}.yaml") for name in ("ada", "alan"))
    assert (ada["contact"], alan["contact"]) == ("ada@v.example", "a@u.example")
    assert (ada["groups"], alan["groups"]["user"]) == ({"user": ["CN=ada, O=u"]}, ["alan"])
    assert ("cohort" in ada, alan["cohort"]) == (False, "research")
    assert [each["quota"]["lab"]["dgx-h100"] for each in (ada, alan)] == [
        {"nodes": 3},
        {"nodes": 4},
    ]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("", ["there is no column `name`", "has no team"]),
        ("name\n", ["has no team"]),
        ("nodes\n2\n", [":1: there is no column `name`"]),
        ("name,name\na,b\n", [":1: column `name` is there twice"]),
        ("name,node\nada,2\n", [":1: there is no column `node`; the columns are name, "]),
        ("name,nodes\nada\n,2\n", [":2: there are not as many", ":3: the team has no name"]),
        ("name,nodes\nada,x\n\nbob,-1\n", [":2: Invalid value for '--nodes'", ":4: Invalid"]),
        ("name,nodes,gpus\nada,2,2\n", [":2: `--nodes` and `--gpus` exclude each other"]),
        ('name\n"ada', [":2: this is not CSV"]),
    ],
)
def test_bad_table_writes_nothing(
    platform: Path, trainyard: Call, table: str, words: list[str]
) -> None:
    """Each fault has its line, all in one run."""
    before = sorted(platform.rglob("*"))
    file = platform.parent / "t.csv"
    file.write_text(table)
    ended = trainyard("add", "team", "--from", str(file))

    assert ended.code == 5
    assert [word for word in words if word not in ended.err] == []
    assert sorted(platform.rglob("*")) == before


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((), "give the names of teams"),
        (("ada", "--from", "x.csv"), "give the names of teams"),
        (("ada", "ada"), "named twice: ada"),
        (("ada", "--group", "owner=x"), "is not ROLE=NAME"),
        (("ada", "--group", "user="), "is not ROLE=NAME"),
    ],
)
def test_contradicting_arguments_are_refused(
    platform: Path, trainyard: Call, args: tuple[str, ...], words: str
) -> None:
    ended = trainyard("add", "team", *args)

    assert (ended.code, words in ended.err) == (2, True)
    assert not [*platform.glob("teams/*.yaml")]


def test_one_that_can_not_be_added_keeps_all_out(platform: Path, trainyard: Call) -> None:
    """Of all names, not only of the first."""
    ended = trainyard("add", "team", "ada", "Bob", "on", "--nodes", "2")

    assert ended.code == 1
    assert [f"`{name}` can't be the name" in ended.out for name in ("Bob", "on")] == [True, True]
    assert not [*platform.glob("teams/*.yaml")]


def test_all_teams_without_numbers_get_some(platform: Path, trainyard: Call) -> None:
    """And none when it is run again; what one team has stays."""
    assert trainyard("add", "team", "ada", "alan", "grace").code == 0
    pool = ("--release", "openshift-ai-3.5", "--pool", "gpu=dgx-h100:9")
    assert trainyard("add", "cluster", "west", *pool).code == 0
    for name in ("ada", "alan"):
        team = platform / "teams" / f"{name}.yaml"
        team.write_text(team.read_text().replace("quota:\n", "quota:\n  west: {gpu: {nodes: 2}}\n"))
    first = load(platform / "allocations.yaml")["lab"]
    ended = trainyard("add", "allocation", "--all", "--cluster", "west")

    assert ended.code == 0, ended.out
    ledger = load(platform / "allocations.yaml")
    assert ledger["lab"] == first
    assert sorted(ledger["west"]["ib"]) == ["ada", "alan"]
    for name in ("team-ada", "team-alan"):
        assert ledger["west"]["uids"][name]["range"] == first["uids"][name]["range"]
    assert trainyard("generate").code == 0
    again = trainyard("add", "allocation", "--all", "--cluster", "west")
    assert (again.code, again.out) == (
        0,
        "every team with quota on the fabric of west has its numbers\n",
    )


def test_first_cluster_may_have_a_name(tmp_path: Path, trainyard: Call) -> None:
    """So that two repositories can be synced by one Argo CD; a name that none may have writes
    nothing."""
    for wrong in ("Prod", "on", "../up", "a" * 80):
        ended = trainyard("init", "--cluster", wrong, str(tmp_path / "wrong"))
        assert (ended.code, (tmp_path / "wrong").exists()) == (2, False)
    ended = trainyard("init", "--cluster", "west", str(tmp_path / "new"))

    assert ended.code == 0
    assert [path.name for path in (tmp_path / "new/profiles/clusters").iterdir()] == ["west.yaml"]
    assert "overlays/west/README.md" in ended.err
