from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import IPv4Network
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scaffold.folders import begun, content
from trainyard.diagnostics import Diagnostic, TreeError, has_errors
from trainyard.generation.generate import check, generate
from trainyard.model.holding import Holding
from trainyard.model.ids import Ids
from trainyard.model.unit import Unit
from trainyard.scaffold.plan import write_plan
from trainyard.scaffold.team import TeamPlan, plan_team
from trainyard.scaffold.team_request import TeamRequest

Remembered = Mapping[str, tuple[Holding | Ids, ...]]
NOTHING: Remembered = {}
_VLANS = "LosslessQueue/ib: network team\n  SysctlAllowlist/multus: network team\n  Vlans/ib"
"""Lines of a cluster's `external` in place of `Partitions/ib`."""


def _plan(
    profiles: Path, request: TeamRequest, remembered: Remembered = NOTHING
) -> tuple[TeamPlan | None, tuple[Diagnostic, ...]]:
    checked = check(profiles)
    assert checked.platform is not None, checked.diagnostics
    return plan_team(checked.profiles, checked.platform, request, remembered)


def _add(profiles: Path, request: TeamRequest | str, remembered: Remembered = NOTHING) -> TeamPlan:
    wanted = TeamRequest(request, 2) if isinstance(request, str) else request
    plan, problems = _plan(profiles, wanted, remembered)
    assert problems == ()
    assert plan is not None
    assert write_plan(profiles, plan) == tuple(profiles / path for path in plan.files)
    return plan


def _refused(
    profiles: Path, request: TeamRequest, remembered: Remembered = NOTHING
) -> list[tuple[str, str]]:
    """Return rule and message of each finding, and see that the answer is the same twice."""
    plan, problems = _plan(profiles, request, remembered)
    assert (plan, problems) == _plan(profiles, request, remembered)
    assert plan is None
    return [(problem.rule, problem.message) for problem in problems]


def _number(plan: TeamPlan) -> tuple[int, str]:
    assert plan.holding is not None
    return plan.holding.segment, str(plan.holding.addresses)


def _edit(profiles: Path, path: str, old: str, new: str) -> None:
    text = (profiles / path).read_text()
    assert old in text
    (profiles / path).write_text(text.replace(old, new))


def test_new_team_generates_at_once(profiles: Path) -> None:
    """A new repository with a new team gives that team's tree and no error."""
    added = _add(profiles, "nlp")
    assert set(added.files) == {"teams/nlp.yaml", "allocations.yaml"}
    assert _number(added) == (0x100, "10.64.0.0/20")
    generation = generate(profiles, "../profiles/components")
    assert not has_errors(generation.diagnostics)
    assert "lab/teams/nlp/kustomization.yaml" in generation.files
    assert (
        'nlp: {partition: "0x0100", addresses: 10.64.0.0/20}'
        in (profiles / "allocations.yaml").read_text()
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("con", "`con` is the name of a device on Windows"),
        (
            "n\u0430no",
            "`n\u0430no` can't be the name of a team; it holds U+0430 CYRILLIC SMALL LETTER A",
        ),
    ],
)
def test_refused_name_is_explained(name: str, message: str, profiles: Path) -> None:
    """The message names a device's name and the look-alike character."""
    assert _refused(profiles, TeamRequest(name, 2)) == [("names/bad-team-name", message)]


def test_new_team_on_ethernet_gets_a_vlan(profiles: Path) -> None:
    """On a fabric with link roce the team keeps a VLAN, written as a number in the fabric's own
    word."""
    _edit(profiles, "clusters/lab.yaml", "infiniband", "roce")
    _edit(profiles, "clusters/lab.yaml", "partitions: 0x0100-0x017f", "vlans: 100-199")
    _edit(profiles, "clusters/lab.yaml", "Partitions/ib", _VLANS)
    added = _add(profiles, "nlp")
    assert added.holding is not None
    assert (added.holding.segment, added.holding.display) == (100, "VLAN 100")
    generation = generate(profiles, "../profiles/components")
    assert not has_errors(generation.diagnostics), generation.diagnostics
    assert (
        "nlp: {vlan: 100, addresses: 10.64.0.0/20}" in (profiles / "allocations.yaml").read_text()
    )


def test_team_file_says_only_what_the_cluster_has(profiles: Path) -> None:
    """Without cohorts and NFS the lines for them are left out, and the rest still validates."""
    _edit(profiles, "clusters/lab.yaml", "cohorts:\n  research: {}", "cohorts: {}")
    _edit(
        profiles,
        "clusters/lab.yaml",
        "storage:\n  home: {nfs: {server: nfs.example.com, path: /export/home}}",
        "storage: {}",
    )
    _add(profiles, "nlp")
    text = (profiles / "teams/nlp.yaml").read_text()
    assert "cohort" not in text
    assert "storage" not in text
    assert len(text.splitlines()) == 6
    assert not has_errors(check(profiles).diagnostics)


def test_pool_without_fabric_needs_no_allocation(profiles: Path) -> None:
    """A team on nodes without a fabric gets a profile and no numbers; without OpenShift no user ids
    either."""
    _edit(profiles, "clusters/lab.yaml", ", fabric: ib}", "}")
    _edit(profiles, "clusters/lab.yaml", "release: openshift-ai-3.5", "release: kubernetes-1.36")
    before = (profiles / "allocations.yaml").read_bytes()
    added = _add(profiles, "nlp")
    assert (added.holding, added.ids) == (None, None)
    assert set(added.files) == {"teams/nlp.yaml"}
    assert (profiles / "allocations.yaml").read_bytes() == before


def test_namespace_on_openshift_gets_user_ids(profiles: Path) -> None:
    """Also on nodes without a fabric: the lowest range that no namespace of any cluster has or
    had."""
    _edit(profiles, "clusters/lab.yaml", ", fabric: ib}", "}")
    first = Ids("team-audio", 2_000_000_000, "s0:c1001,c0", former=True)
    assert _add(profiles, "nlp", {"west": (first,)}).ids == Ids(
        "team-nlp", 2_000_010_000, "s0:c1001,c1"
    )
    assert _add(profiles, "vision", {"west": (first,)}).ids == Ids(
        "team-vision", 2_000_020_000, "s0:c1001,c2"
    )
    assert (profiles / "allocations.yaml").read_text().splitlines()[1:] == [
        "lab:",
        "  uids:",
        '    team-nlp: {range: 2000010000/10000, level: "s0:c1001,c1"}',
        '    team-vision: {range: 2000020000/10000, level: "s0:c1001,c2"}',
    ]
    platform = check(profiles).platform
    assert platform is not None
    ids = [
        space.ids.range
        for tenant in platform.sites[0].tenants
        for space in tenant.spaces
        if space.ids
    ]
    assert ids == ["2000010000/10000", "2000020000/10000"]


def test_name_of_a_namespace_that_has_user_ids_is_taken(profiles: Path) -> None:
    """By the ledger, or by a lockfile that remembers it: the team would read the files of the one
    that is gone."""
    _edit(profiles, "clusters/lab.yaml", ", fabric: ib}", "}")
    was = Ids("team-nlp", 2_000_000_000, "s0:c1001,c0")
    message = "there was a team `nlp`: the lockfile of cluster `west` remembers its numbers"
    assert _refused(profiles, TeamRequest("nlp", 2), {"west": (was,)}) == [
        ("names/team-exists", message)
    ]
    _add(profiles, "nlp")
    (profiles / "teams/nlp.yaml").unlink()
    message = "there was a team `nlp`: its namespace still has its user ids"
    assert _refused(profiles, TeamRequest("nlp", 2)) == [("names/team-exists", message)]


def test_allocations_file_is_made_when_it_is_not_there(profiles: Path) -> None:
    """The first team of a repository without the file gets one with its comment."""
    before = (profiles / "allocations.yaml").read_text().splitlines()[0]
    (profiles / "allocations.yaml").unlink()
    _add(profiles, "nlp")
    assert (profiles / "allocations.yaml").read_text().splitlines()[0] == before


_TEAMS = st.lists(st.sampled_from(["a", "bb", "c-c", "d4", "zeta"]), unique=True, min_size=1)


@pytest.mark.thorough
@given(_TEAMS)
@settings(max_examples=15, deadline=None)
def test_teams_in_any_order_never_move_each_other(
    tmp_path_factory: pytest.TempPathFactory, teams: list[str]
) -> None:
    """Each addition only adds lines to the allocations, changes no other file, and no number is
    given twice."""
    profiles = tmp_path_factory.mktemp("repository") / "profiles"
    begun(profiles.parent)
    seen, added = [content(profiles)], []
    for team in teams:
        added.append(_number(_add(profiles, team)))
        seen.append(content(profiles))
    for before, after in pairwise(seen[1:]):
        old, new = before.pop("allocations.yaml") or b"", after["allocations.yaml"] or b""
        lines = iter(new.splitlines())
        assert all(line in lines for line in old.splitlines())
        assert new.count(b"\n") == old.count(b"\n") + 2  # numbers and user ids
        assert before.items() <= after.items()
    assert [segment for segment, _ in added] == list(range(0x100, 0x100 + len(teams)))
    assert len({addresses for _, addresses in added}) == len(teams)


def test_what_a_retired_team_or_another_cluster_holds_is_not_given(profiles: Path) -> None:
    """Numbers stay taken permanently: of former teams, other clusters and blocks of other sizes."""
    (profiles / "allocations.yaml").write_text(
        "# Head.\n"
        "gone:\n  ib:\n"
        '    former: {partition: "0x8100", addresses: 10.64.0.0/19}\n'
        "lab:\n  ib:\n"
        '    left: {partition: "0x0102", addresses: 10.64.48.0/24} # Bye.\n'
    )
    assert _number(_add(profiles, "a")) == (0x101, "10.64.32.0/20")
    assert _number(_add(profiles, "b")) == (0x103, "10.64.64.0/20")
    assert (profiles / "allocations.yaml").read_text().count("# ") == 2


@pytest.mark.parametrize(
    "name", ["Nlp", "4u", "a_b", "a-", "", "../x", "a" * 41, "on", "null", "y", "system", "a\n"]
)
def test_bad_name_is_refused(profiles: Path, name: str) -> None:
    """A name that can't be a namespace, means something else in YAML or is Trainyard's own is
    refused."""
    assert [rule for rule, _ in _refused(profiles, TeamRequest(name, 2))] == ["names/bad-team-name"]


def test_team_that_is_there_is_refused(profiles: Path) -> None:
    """A team is added once."""
    _add(profiles, "nlp")
    assert _refused(profiles, TeamRequest("nlp", 2)) == [
        ("names/team-exists", "there is a team `nlp` already")
    ]


def test_name_of_a_former_team_is_refused(profiles: Path) -> None:
    """A team that still holds an allocation keeps its name."""
    _add(profiles, "nlp")
    (profiles / "teams/nlp.yaml").unlink()
    ((rule, message),) = _refused(profiles, TeamRequest("nlp", 2))
    assert (rule, message) == (
        "names/team-exists",
        "there was a team `nlp`: it still holds its allocation",
    )


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (TeamRequest("nlp", 2, cluster="labb"), "there is no cluster `labb`"),
        (TeamRequest("nlp", 2, pool="a100"), "there is no node pool `a100`"),
    ],
)
def test_unknown_place_is_refused(profiles: Path, request_: TeamRequest, message: str) -> None:
    """A cluster or pool that doesn't exist is named, also where the only one would be taken."""
    assert _refused(profiles, request_) == [("references/unknown-place", message)]


def test_all_findings_come_in_one_run(profiles: Path) -> None:
    """A bad name and an unknown pool are reported together."""
    found = _refused(profiles, TeamRequest("Nlp", 2, pool="a100"))
    assert [rule for rule, _ in found] == ["names/bad-team-name", "references/unknown-place"]


def test_several_places_are_listed(profiles: Path) -> None:
    """With two clusters, the command needs the name of one."""
    text = (profiles / "clusters/lab.yaml").read_text()
    (profiles / "clusters/west.yaml").write_text(text)
    _, (problem,) = _plan(profiles, TeamRequest("nlp", 2))
    assert problem.message == "no cluster is given"
    assert problem.hint == "Add `--cluster NAME`; there is: lab, west"
    assert _add(profiles, TeamRequest("nlp", 2, cluster="west", pool="dgx-h100")).clusters == (
        "west",
    )


def test_repository_without_cluster_is_reported_so(profiles: Path) -> None:
    """There is nothing to list and no crash."""
    (profiles / "clusters/lab.yaml").unlink()
    _, (problem,) = _plan(profiles, TeamRequest("nlp", 2))
    assert problem.hint == "no cluster is defined yet"


def test_pool_without_runtime_is_refused(profiles: Path) -> None:
    """A team that could launch nothing is not made."""
    (profiles / "runtimes/openmpi.yaml").unlink()
    found = _refused(profiles, TeamRequest("nlp", 2))
    assert found == [("runtime/none-for-pool", "no runtime runs on hardware `dgx-h100`")]


def test_exhausted_ranges_are_reported_both(profiles: Path) -> None:
    """When neither a partition nor a block is left, each is a finding of its own."""
    _edit(profiles, "clusters/lab.yaml", "0x0100-0x017f", "0x0100-0x0100")
    _edit(profiles, "clusters/lab.yaml", "10.64.0.0/13", "10.64.0.0/20")
    _add(profiles, "nlp")
    assert _refused(profiles, TeamRequest("vision", 2)) == [
        ("fabric/range-exhausted", "no partition is left from 0x0100 to 0x0100"),
        ("fabric/range-exhausted", "no block of length /20 is left in 10.64.0.0/20"),
    ]


def test_exhausted_vlans_are_reported_in_their_own_word(profiles: Path) -> None:
    """The message has VLANs, not partitions."""
    _edit(profiles, "clusters/lab.yaml", "infiniband", "roce")
    _edit(profiles, "clusters/lab.yaml", "partitions: 0x0100-0x017f", "vlans: 100-100")
    _edit(profiles, "clusters/lab.yaml", "Partitions/ib", _VLANS)
    _add(profiles, "nlp")
    found = _refused(profiles, TeamRequest("vision", 2))
    assert found == [("fabric/range-exhausted", "no VLAN is left from 100 to 100")]


def test_number_that_a_lockfile_remembers_is_not_given(profiles: Path) -> None:
    """Neither of this cluster nor of another, whether its line is still in the ledger or not."""
    lab = Holding("ib", "left", "partition", 0x100, IPv4Network("10.64.16.0/20"), former=True)
    west = Holding("ib", "audio", "partition", 0x101, IPv4Network("10.64.0.0/22"))
    plan = _add(profiles, "nlp", {"lab": (lab,), "west": (west,)})

    assert _number(plan) == (0x102, "10.64.32.0/20")


def test_name_that_a_lockfile_remembers_is_refused(profiles: Path) -> None:
    """A team whose profile and line are gone keeps its name: its folders on shared storage are
    still there."""
    former = Holding("ib", "nlp", "partition", 0x100, IPv4Network("10.64.16.0/20"))
    _, (problem,) = _plan(profiles, TeamRequest("nlp", 2), {"east": (), "lab": (former,)})

    assert (problem.rule, problem.at.file) == ("names/team-exists", "overlays/lab")
    assert (
        problem.message
        == "there was a team `nlp`: the lockfile of cluster `lab` remembers its numbers"
    )


def test_day_is_written_beside_the_numbers(profiles: Path) -> None:
    """Quoted, since some readers take a plain one for a date; and read back."""
    _add(profiles, TeamRequest("nlp", 2, since="2026-11-22"))

    line = 'nlp: {partition: "0x0100", addresses: 10.64.0.0/20, since: "2026-11-22"}'
    assert line in (profiles / "allocations.yaml").read_text()
    platform = check(profiles).platform
    assert platform is not None
    assert [holding.since for holding in platform.holdings(platform.sites[0])] == ["2026-11-22"]


def test_share_of_a_node_is_said_in_gpus(profiles: Path) -> None:
    """Instead of nodes."""
    _add(profiles, TeamRequest("nlp", 4, Unit.GPUS))

    assert "lab: {dgx-h100: {gpus: 4}}" in (profiles / "teams/nlp.yaml").read_text()


def test_new_team_lists_no_runtime_that_ends_or_needs_storage(profiles: Path) -> None:
    """If there is no other runtime, it is listed, and the rules report why it fails."""
    runtime = profiles / "runtimes" / "openmpi.yaml"
    older = profiles / "runtimes" / "older.yaml"
    older.write_text(runtime.read_text() + 'deprecated: {end: "2027-03-31"}\n')
    (image,) = re.findall(r"^image: (\S+)", runtime.read_text(), re.MULTILINE)
    steps = f"initialize: {{image: {image}, volume: home, dataset: true}}\n"
    (profiles / "runtimes" / "tuned.yaml").write_text(runtime.read_text() + steps)
    _add(profiles, "nlp")
    assert "runtimes: [openmpi]\n" in (profiles / "teams/nlp.yaml").read_text()

    runtime.unlink()
    (profiles / "runtimes" / "tuned.yaml").unlink()
    _edit(profiles, "teams/nlp.yaml", "[openmpi]", "[older]")
    _add(profiles, "vision")
    assert "runtimes: [older]\n" in (profiles / "teams/vision.yaml").read_text()


def test_ledger_that_changed_meanwhile_stays(profiles: Path) -> None:
    """A line that somebody else wrote since the profiles were read is not lost; nothing is
    written."""
    plan, _ = _plan(profiles, TeamRequest("nlp", 2))
    assert plan is not None
    _add(profiles, "audio")
    before = content(profiles)
    with pytest.raises(TreeError, match="changed since it was read"):
        write_plan(profiles, plan)
    assert content(profiles) == before


def test_failing_write_leaves_nothing(profiles: Path) -> None:
    """When the allocations can't be read again, the team's profile and its folder are not there
    either."""
    plan, _ = _plan(profiles, TeamRequest("nlp", 2))
    assert plan is not None
    (profiles / "allocations.yaml").unlink()
    (profiles / "allocations.yaml").mkdir()
    with pytest.raises(TreeError, match=re.escape("allocations.yaml can't be read")):
        write_plan(profiles, plan)
    assert not (profiles / "teams").exists()


def test_profile_that_appeared_meanwhile_stays(profiles: Path) -> None:
    """A file of the team that came after the profiles were read is not overwritten, and nothing is
    allocated."""
    plan, _ = _plan(profiles, TeamRequest("nlp", 2))
    assert plan is not None
    (profiles / "teams").mkdir()
    (profiles / "teams/nlp.yaml").write_text("mine")
    before = content(profiles)
    with pytest.raises(TreeError, match=r"nlp\.yaml is there already"):
        write_plan(profiles, plan)
    assert content(profiles) == before
