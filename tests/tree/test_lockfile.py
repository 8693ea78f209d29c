from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from ipaddress import IPv4Network
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainyard.diagnostics import TreeError
from trainyard.model.holding import Holding
from trainyard.model.ids import Ids
from trainyard.tree.lockfile import (
    LOCKFILE,
    Lock,
    is_inside,
    lock_bytes,
    make_lock,
    parse_lock,
    read_lock,
)

_PARTS = st.text(
    st.characters(exclude_characters="/\\\0", exclude_categories=["Cs"]), min_size=1, max_size=8
).filter(lambda part: part not in {".", ".."})
_HOLDINGS = st.builds(
    Holding,
    fabric=st.sampled_from(["ib", "roce"]),
    team=st.sampled_from(["nlp", "vision"]),
    field=st.sampled_from(["partition", "vlan"]),
    segment=st.integers(0, 0xFFFF),
    addresses=st.integers(0, 255).map(lambda part: IPv4Network(f"10.64.{part}.0/24")),
    since=st.sampled_from(["", "2026-11-22"]),
    former=st.booleans(),
)
_IDS = st.builds(
    Ids,
    namespace=st.sampled_from(["team-nlp", "team-vision"]),
    first=st.sampled_from([1_000_680_000, 2_000_000_000]),
    level=st.sampled_from(["s0:c26,c15", "s0:c1001,c0"]),
    since=st.sampled_from(["", "2026-11-22"]),
    former=st.booleans(),
)
_PATHS = st.lists(_PARTS, min_size=1, max_size=3).map("/".join)


def _allocation(fields: bytes) -> bytes:
    entry = b'{"fabric": "ib", "team": "nlp", %s}' % fields
    return b'{"version": 2, "tool": "", "release": "", "files": {}, "allocations": [%s]}' % entry


def _uids(fields: bytes) -> bytes:
    entry = b'{"namespace": "team-nlp", %s}' % fields
    return (
        b'{"version": 3, "tool": "", "release": "", "files": {}, "allocations": [], "uids": [%s]}'
        % entry
    )


def _lock(*files: str) -> Lock:
    origins = dict.fromkeys(files, ("profiles/b.yaml", "profiles/a.yaml"))
    return make_lock(files, origins, tool="0.1", release="r")


@given(
    st.lists(_PATHS, max_size=5, unique=True),
    st.text(max_size=5).filter(str.isprintable),
    st.lists(_HOLDINGS, max_size=5, unique=True),
    st.lists(_IDS, max_size=5, unique=True),
)
@settings(deadline=None)  # a busy disk takes its time
def test_lock_is_read_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory,
    files: list[str],
    release: str,
    holdings: list[Holding],
    ids: list[Ids],
) -> None:
    """This holds for any paths, contents and numbers."""
    folder = tmp_path_factory.mktemp("cluster")
    origins = {path: ["profiles/teams/ü.yaml"] for path in files}
    lock = make_lock(files, origins, tool="0.1.0", release=release, given=(holdings, ids))
    (folder / LOCKFILE).write_bytes(lock_bytes(lock))
    assert read_lock(folder) == lock


def test_lock_bytes_hold_one_file_a_line_and_a_blank_line_after_each() -> None:
    """So Git merges changes of neighbours; what every cluster has is last, and needs no comma."""
    text = lock_bytes(_lock("teams/b/x", "teams/a/y", "a", "teams/a/x")).decode()
    profiles = '["profiles/a.yaml", "profiles/b.yaml"]'
    assert text.splitlines()[7:14] == [
        f'    "teams/a/x": {profiles},',
        "",
        f'    "teams/a/y": {profiles},',
        "",
        f'    "teams/b/x": {profiles},',
        "",
        f'    "a": {profiles}',
    ]
    assert json.loads(text)["version"] == 4


def test_lock_bytes_hold_one_number_a_line() -> None:
    """They are sorted by fabric and team; a number that left the ledger is marked."""
    held = (
        Holding("roce", "nlp", "vlan", 100, IPv4Network("10.72.0.0/20"), "2026-11-22"),
        Holding("ib", "nlp", "partition", 0x101, IPv4Network("10.64.0.0/20")),
        Holding("ib", "audio", "partition", 0x100, IPv4Network("10.64.16.0/20"), former=True),
    )
    lines = (
        lock_bytes(make_lock((), {}, tool="0.1", release="r", given=(held, ())))
        .decode()
        .splitlines()
    )
    assert lines[4:] == [
        '  "allocations": [',
        (
            '    {"fabric": "ib", "team": "audio", "partition": "0x0100", "addresses": '
            '"10.64.16.0/20", "former": true},'
        ),
        '    {"fabric": "ib", "team": "nlp", "partition": "0x0101", "addresses": "10.64.0.0/20"},',
        (
            '    {"fabric": "roce", "team": "nlp", "vlan": 100, "addresses": "10.72.0.0/20", '
            '"since": "2026-11-22"}'
        ),
        "  ],",
        '  "uids": [],',
        '  "files": {}',
        "}",
    ]


def test_lock_bytes_hold_the_user_ids_of_one_namespace_a_line() -> None:
    """They are sorted by namespace; ids that left the ledger are marked."""
    held = (
        Ids("team-vision", 1_000_680_000, "s0:c26,c15", former=True),
        Ids("team-nlp", 2_000_000_000, "s0:c1001,c0", "2026-11-22"),
    )
    lines = (
        lock_bytes(make_lock((), {}, tool="0.1", release="r", given=((), held)))
        .decode()
        .splitlines()
    )
    assert lines[5:9] == [
        '  "uids": [',
        (
            '    {"namespace": "team-nlp", "range": "2000000000/10000", "level": "s0:c1001,c0", '
            '"since": "2026-11-22"},'
        ),
        (
            '    {"namespace": "team-vision", "range": "1000680000/10000", "level": "s0:c26,c15", '
            '"former": true}'
        ),
        "  ],",
    ]


def test_first_form_remembers_no_numbers(tmp_path: Path) -> None:
    """It still lists the files of Trainyard."""
    entry = '{"a": {"sha256": "0", "from": []}}'
    (tmp_path / LOCKFILE).write_text(
        f'{{"version": 1, "tool": "0.1", "release": "r", "files": {entry}}}'
    )
    assert read_lock(tmp_path) == Lock("0.1", "r", {"a": ()}, ())


def test_second_form_remembers_no_user_ids(tmp_path: Path) -> None:
    """It still lists the numbers ever given."""
    (tmp_path / LOCKFILE).write_bytes(
        _allocation(b'"partition": "0x0101", "addresses": "10.64.0.0/20"')
    )
    lock = read_lock(tmp_path)
    assert lock is not None
    assert [holding.team for holding in lock.holdings] == ["nlp"]
    assert lock.ids == ()


def test_lock_of_a_folder_without_one_is_none(tmp_path: Path) -> None:
    """A folder that Trainyard never wrote, or that is not there, has no lock."""
    assert read_lock(tmp_path) is None
    assert read_lock(tmp_path / "nowhere") is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'<<<<<<< HEAD\n{"version": 1}',
        b'{"version": 0, "tool": "", "release": "", "files": {}}',
        b'{"version": "2", "tool": "", "release": "", "files": {}}',
        b'{"version": 1, "tool": "", "release": "", "files": []}',
        b'{"version": 1, "tool": "", "release": "", "files": {"a": {"sha256": ""}}}',
        b'{"version": 1, "tool": "", "release": "", "files": {"a": 1}}',
        b'{"version": 1, "tool": "", "release": "", "files": {"a": null}}',
        b'{"version": 2, "tool": "", "release": "", "files": {}}',
        b'{"version": 2, "tool": "", "release": "", "files": {}, "allocations": [{"fabric": "ib", "team": "nlp"}]}',  # noqa: E501 - one value
        _allocation(b'"partition": "x", "addresses": "10.64.0.0/20"'),
        _allocation(b'"partition": "0x0101", "addresses": "10.64.0.1/20"'),
        _allocation(b'"partition": "0x0101", "vlan": 5, "addresses": "10.64.0.0/20"'),
        b'{"version": 3, "tool": "", "release": "", "files": {}, "allocations": []}',
        _uids(b'"range": "2000000000/10000"'),
        _uids(b'"range": "2000000000/20000", "level": "s0:c26,c15"'),
        _uids(b'"range": "x/10000", "level": "s0:c26,c15"'),
    ],
)
def test_broken_lock_is_refused(tmp_path: Path, content: bytes) -> None:
    """A lockfile that is not a lockfile stops the run with the way out."""
    (tmp_path / LOCKFILE).write_bytes(content)
    with pytest.raises(TreeError, match=r"is broken; take either side of it from Git"):
        read_lock(tmp_path)


def test_newer_lock_is_refused(tmp_path: Path) -> None:
    """An older Trainyard does not touch what a newer one wrote."""
    (tmp_path / LOCKFILE).write_text('{"version": 5, "tool": "9.0"}', encoding="utf-8")
    with pytest.raises(TreeError, match=r"newer Trainyard \(9.0\)"):
        read_lock(tmp_path)


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "a/../../x", "a//b", "", ".", "a\\b", "a\0b", "a/"]
)
def test_escaping_lock_is_refused(tmp_path: Path, path: str) -> None:
    """Otherwise a lockfile could make Trainyard delete files outside its folder."""
    lock = make_lock([path], {}, tool="0.1", release="r")
    (tmp_path / LOCKFILE).write_bytes(lock_bytes(lock))
    with pytest.raises(TreeError, match="leaves its folder"):
        read_lock(tmp_path)


def test_refused_lock_is_named_by_its_own_place_when_its_content_is_known(tmp_path: Path) -> None:
    content = b'{"version": 5, "tool": "9.0"}'
    for cluster in ("east", "west"):
        with pytest.raises(TreeError, match=rf"\A{tmp_path}/{cluster} was written"):
            parse_lock(content, tmp_path / cluster)


@pytest.mark.parametrize("make", [lambda p: p.symlink_to("/dev/zero"), os.mkfifo, Path.mkdir])
def test_lock_that_is_no_regular_file_is_refused(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    """A symlink, FIFO or folder in the lockfile's place neither leads elsewhere nor hangs the
    run."""
    make(tmp_path / LOCKFILE)
    with pytest.raises(TreeError, match="can't be read"):
        read_lock(tmp_path)


def test_lock_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / LOCKFILE).open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(TreeError, match=r"trainyard.lock can't be read: it is larger than 16 MiB"):
        read_lock(tmp_path)


@given(_PATHS)
def test_normal_path_is_inside(path: str) -> None:
    """A relative path of ordinary parts stays inside."""
    assert is_inside(path)


def _side(team: str, *more: Holding) -> Lock:
    files = ["README.md", f"teams/{team}/role.yaml"]
    kept = Holding("ib", "nlp", "partition", 0x0101, IPv4Network("10.64.0.0/24"))
    return make_lock(files, {}, tool="0.1.0", release="r", given=((kept, *more), ()))


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_lockfile_that_git_could_not_merge_has_what_both_sides_have(
    tmp_path: Path, style: str
) -> None:
    """A number that one side gave is never given again, and files of both are ours."""
    given = [
        Holding("ib", team, "partition", segment, IPv4Network(f"10.64.{segment}.0/24"))
        for segment, team in ((2, "vision"), (3, "speech"))
    ]
    base, ours, theirs = (
        _side("nlp"),
        _side("vision", given[0]),
        _side("speech", given[1]),
    )
    for name, lock in (("base", base), ("ours", ours), ("theirs", theirs)):
        (tmp_path / name).write_bytes(lock_bytes(lock))
    command = ["git", "-c", f"merge.conflictStyle={style}", "merge-file", "-p"]
    command += ["--diff3"] if style == "diff3" else []
    merged = subprocess.run(
        [*command, "ours", "base", "theirs"], cwd=tmp_path, capture_output=True, check=False
    ).stdout
    assert b"<<<<<<< ours\n" in merged

    lock = parse_lock(merged, Path("trainyard.lock"))

    assert set(lock.files) == {*ours.files, *theirs.files}
    assert set(lock.holdings) == {*ours.holdings, *theirs.holdings}
    assert lock.files["README.md"] == ours.files["README.md"]


def test_half_of_a_conflict_is_a_broken_lockfile() -> None:
    content = lock_bytes(_side("nlp")).replace(b"\n", b"\n<<<<<<< ours\n", 2)
    with pytest.raises(TreeError, match="is broken"):
        parse_lock(content, Path("trainyard.lock"))
