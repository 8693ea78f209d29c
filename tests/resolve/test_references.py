"""A name that refers to nothing is reported at its place, with the nearest name or the choices."""

from __future__ import annotations

import re
from ipaddress import IPv4Network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.resolve.changes import ALLOCATIONS, CLUSTER, HARDWARE, NLP, RUNTIME, reported, resolved
from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.resolve.findings import Finding, Unresolved, collect
from trainyard.resolve.references import find, network
from trainyard.rules.references.unknown_name import RULE as UNKNOWN_NAME
from trainyard.rules.shape.bad_address import RULE as BAD_ADDRESS

AT = Pointer("profiles/teams/nlp.yaml", ("cohort",))
GONE: list[tuple[dict[str, Any], tuple[str, str, str]]] = [
    ({NLP: {"cohort": "reserch"}}, (NLP, "cohort", "cohort `reserch` of cluster prod-east")),
    ({NLP: {"runtimes": ["openmpi-cuda", "mpi"]}}, (NLP, "runtimes/1", "runtime `mpi`")),
    (
        {NLP: {"defaultRuntime": "mpi"}},
        (NLP, "defaultRuntime", "runtime `mpi` of team nlp"),
    ),
    (
        {NLP: {"quota": {"west": {"dgx-h100": {"nodes": 1}}}}},
        (NLP, "(quota/west)", "cluster `west`"),
    ),
    (
        {NLP: {"quota": {"prod-east": {"dgx": {"nodes": 1}}}}},
        (NLP, "(quota/prod-east/dgx)", "node pool `dgx` of cluster prod-east"),
    ),
    (
        {NLP: {"storage": {"hom": "1Ti"}}},
        (NLP, "(storage/hom)", "storage `hom` of cluster prod-east"),
    ),
    (
        {NLP: {"priorities": ["batch", "urgent"]}},
        (NLP, "priorities/1", "priority `urgent` of cluster prod-east"),
    ),
    ({NLP: {"components": ["extra"]}}, (NLP, "components/0", "component `extra`")),
    (
        {RUNTIME: {"hardware": ["dgx-h100", "h200"]}},
        (RUNTIME, "hardware/1", "hardware profile `h200`"),
    ),
    (
        {RUNTIME: {"pullSecret": "other"}},
        (RUNTIME, "pullSecret", "pull secret `other` of cluster prod-east"),
    ),
    (
        {
            CLUSTER: {
                "finishedJobs": {
                    "keep": "3d",
                    "image": f"registry.io/k@sha256:{'1' * 64}",
                    "pullSecret": "other",
                }
            }
        },
        (CLUSTER, "finishedJobs/pullSecret", "pull secret `other`"),
    ),
    ({HARDWARE: {"extends": "dgx"}}, (HARDWARE, "extends", "hardware profile or preset `dgx`")),
    ({CLUSTER: {"release": "rancher-9"}}, (CLUSTER, "release", "release `rancher-9`")),
    (
        {CLUSTER: {"pools": {"h200": {"nodes": 1}}}},
        (CLUSTER, "(pools/h200)", "hardware profile `h200`"),
    ),
    (
        {CLUSTER: {"pools": {"other": {"nodes": 1, "hardware": "h200"}}}},
        (CLUSTER, "pools/other/hardware", "hardware profile `h200`"),
    ),
    (
        {CLUSTER: {"pools": {"dgx-h100": {"fabric": "eth"}}}},
        (CLUSTER, "pools/dgx-h100/fabric", "fabric `eth`"),
    ),
    (
        {CLUSTER: {"cohorts": {"research": {"parent": "all"}}}},
        (CLUSTER, "cohorts/research/parent", "cohort `all`"),
    ),
    (
        {
            ALLOCATIONS: {
                "prod-east": {"eth": {"x": {"partition": "0x0109", "addresses": "10.65.0.0/20"}}}
            }
        },
        (ALLOCATIONS, "(prod-east/eth)", "fabric `eth`"),
    ),
]
"""Each name in a profile, wrong; the place of the finding; the name in its message."""


@pytest.mark.parametrize(("changes", "expected"), GONE, ids=[what for _, (_, _, what) in GONE])
def test_unknown_name_is_reported_at_its_place(
    changes: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    """Every name in every profile is followed, and one that leads nowhere points at itself, first
    of all findings."""
    _, found = resolved(changes)
    file, path, what = expected

    assert (file, path, f"there is no {what}") in reported(found)
    assert {each.rule for each in found} <= {UNKNOWN_NAME.id, "shape/incomplete-hardware"}


def test_consequence_of_an_unknown_name_is_that_of_its_kind() -> None:
    wrong: dict[str, dict[str, Any]] = {
        "cohort": {NLP: {"cohort": "reserch"}},
        "priority": {NLP: {"priorities": ["urgent"]}},
        "runtime": {NLP: {"runtimes": ["mpi"]}},
        "pull secret": {RUNTIME: {"pullSecret": "other"}},
        "storage": {NLP: {"storage": {"hom": "1Ti"}}},
    }
    consequences = {kind: resolved(changes)[1][0].consequence for kind, changes in wrong.items()}

    assert len(set(consequences.values())) == len(wrong)
    assert "Workload" in consequences["priority"]
    assert "empty cohort" in consequences["cohort"]
    assert not any("ResourceFlavor" in each for each in consequences.values())


@pytest.mark.parametrize(
    ("changes", "follow"),
    [
        ({CLUSTER: {"release": "rancher-9"}}, "there is no cluster `prod-east`"),
        ({HARDWARE: {"extends": "nvidia-dgx"}}, "there is no hardware profile `dgx-h100`"),
    ],
    ids=["cluster", "hardware"],
)
def test_profile_with_an_unknown_name_is_not_missing(changes: dict[str, Any], follow: str) -> None:
    """Who mistypes the release of a cluster need not hear from every team that there is no such
    cluster."""
    _, found = resolved(changes)

    assert found
    assert follow not in [message for _, _, message in reported(found)]


def test_unknown_priority_points_at_its_own_entry() -> None:
    """The index is the file's, in whatever order the names are there."""
    _, found = resolved({NLP: {"priorities": ["production", "btach"]}})

    assert reported(found) == [
        (NLP, "priorities/1", "there is no priority `btach` of cluster prod-east")
    ]


def test_unknown_names_of_a_space_point_into_it() -> None:
    """A further namespace asks for storage and priorities of its own, at its own place."""
    _, found = resolved(
        {NLP: {"spaces": {"dev": {"storage": {"hom": "1Ti"}, "priorities": ["urgent"]}}}}
    )

    assert reported(found) == [
        (NLP, "(spaces/dev/storage/hom)", "there is no storage `hom` of cluster prod-east"),
        (NLP, "spaces/dev/priorities/0", "there is no priority `urgent` of cluster prod-east"),
    ]


def test_unknown_priority_that_a_space_inherits_is_reported_once() -> None:
    """A wrong name of the team is reported at the team's own place only."""
    _, found = resolved(
        {NLP: {"priorities": ["urgent"], "spaces": {"dev": {}, "eval": {"priorities": ["batch"]}}}}
    )

    assert reported(found) == [
        (NLP, "priorities/0", "there is no priority `urgent` of cluster prod-east")
    ]


def test_unknown_names_of_a_team_are_reported_in_one_run() -> None:
    """Nobody should have to mend one name to hear of the next."""
    storage = {"hom": "1Ti", "home": "1Ti"}
    _, found = resolved(
        {NLP: {"cohort": "x1", "runtimes": ["y1"], "storage": storage, "components": ["z1"]}}
    )

    assert [path for _, path, _ in reported(found)] == [
        "runtimes/0",
        "components/0",
        "cohort",
        "(storage/hom)",
    ]


def hints(findings: tuple[Finding, ...]) -> list[str]:
    """Return the hints of findings that are reported."""
    return [each.hint for each in findings if isinstance(each, Diagnostic)]


def test_near_name_is_suggested() -> None:
    """A mistyped name is corrected in the hint."""
    value, found = collect(find("cohort", "reserch", {"research": 1, "production": 2}, AT))

    assert value is None
    assert [each.at for each in found] == [AT]
    assert hints(found) == ["did you mean `research`?"]


def test_far_name_gets_the_choices() -> None:
    """Without a near name, the hint lists every name, sorted."""
    _, some = collect(find("cohort", "zzz", {"research": 1, "production": 2}, AT))
    _, none = collect(find("cohort", "zzz", {}, AT))

    assert hints(some) == ["there is: production, research"]
    assert hints(none) == ["no cohort is defined yet"]


@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=4), st.integers(), max_size=5),
    st.text("abc", max_size=4),
)
def test_found_name_gives_its_value_and_no_finding(known: dict[str, int], name: str) -> None:
    """Any other name is reported exactly once, with a hint that lists what exists."""
    value, found = collect(find("runtime", name, known, AT))

    assert value == known.get(name)
    assert len(hints(found)) == len(found) == (name not in known)
    for hint in hints(found):
        assert not known or any(each in hint for each in known)


def test_name_of_a_profile_that_is_left_out_is_not_reported() -> None:
    """The profile itself is reported, so its name is only noted as unresolved."""
    assert collect(find("release", "old", {"old": None}, AT)) == (None, (Unresolved(AT),))


@given(st.integers(0, 2**32 - 1), st.integers(0, 32))
def test_network_is_one_exactly_without_host_bits(address: int, prefix: int) -> None:
    """A range is read when its host bits are zero; any other is reported once, with the text."""
    text = f"{address >> 24}.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}/{prefix}"
    read, found = collect(network(text, AT))

    if address % 2 ** (32 - prefix) == 0:
        assert (read, found) == (IPv4Network((address, prefix)), ())
    else:
        assert read is None
        (only,) = found
        assert isinstance(only, Diagnostic)
        assert (only.rule, only.at, text in only.message) == (BAD_ADDRESS.id, AT, True)
        (own,) = re.findall("^Write `(.*?)`", only.hint)
        assert IPv4Network(own) == IPv4Network((address >> (32 - prefix) << (32 - prefix), prefix))


@pytest.mark.parametrize(
    "text", ["", "10.0.0.0/33", "10.0.0/8", "fd00::/8", "10.0.0.256/32", "nonsense"]
)
def test_text_that_is_no_network_is_reported(text: str) -> None:
    """IPv6 and broken text are not ranges."""
    read, found = collect(network(text, AT))

    assert read is None
    assert len(found) == 1


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {CLUSTER: {"fabrics": {"ib": {"addresses": "10.64.0.1/13"}}}},
            (CLUSTER, "fabrics/ib/addresses"),
        ),
        ({CLUSTER: {"networks": {"pods": "10.128.0.1/14"}}}, (CLUSTER, "networks/pods")),
        (
            {CLUSTER: {"egress": {"object-store": {"to": ["203.0.113.1/28"]}}}},
            (CLUSTER, "egress/object-store/to/0"),
        ),
        (
            {ALLOCATIONS: {"prod-east": {"ib": {"nlp": {"addresses": "10.64.0.1/20"}}}}},
            (ALLOCATIONS, "prod-east/ib/nlp/addresses"),
        ),
    ],
)
def test_bad_address_is_reported_at_its_place(
    changes: dict[str, Any], expected: tuple[str, str]
) -> None:
    """Every range in every profile is read, and one with host bits is the only finding."""
    _, found = resolved(changes)

    assert [(file, path) for file, path, _ in reported(found)] == [expected]
    assert [each.rule for each in found] == [BAD_ADDRESS.id]
