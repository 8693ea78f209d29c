"""Last days of runtimes, and versions of runtimes and their files."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules.cases import messages, platform_of
from trainyard.rules.check import check_meaning

RUNTIME, NLP, VISION = "runtimes/openmpi-cuda.yaml", "teams/nlp.yaml", "teams/vision.yaml"
QUOTA_EXPIRED = "capacity/quota-expired"
ABOUT_ENDS = {"change/ended-runtime", "runtime/deprecated-runtime"}
OTHER = {
    "displayName": "Open MPI",
    "docs": "https://docs.example.com/ml/openmpi",
    "image": f"registry.example.com/ml/openmpi@sha256:{'0' * 64}",
    "libraries": {"openmpi": "4.1.6", "cuda": "12.6"},
    "hardware": ["dgx-h100"],
    "maxNodes": 8,
}


def found(end: str, today: str, changes: dict[str, Any] | None = None) -> list[tuple[str, str]]:
    """Return rule and file of the findings about the end of the base's only runtime."""
    platform = platform_of({RUNTIME: {"deprecated": {"end": end}}, **(changes or {})})
    return [
        (each.rule, each.at.file.removeprefix("profiles/"))
        for each in check_meaning(platform, today)
        if each.rule in ABOUT_ENDS
    ]


@given(last=st.dates(date(2000, 1, 1), date(2098, 1, 1)), days=st.integers(-800, 800))
def test_runtime_ends_after_its_last_day(last: date, days: int) -> None:
    """On its last day and before it is a warning, on every later day an error."""
    rule = "change/ended-runtime" if days > 0 else "runtime/deprecated-runtime"

    assert found(last.isoformat(), (last + timedelta(days=days)).isoformat()) == [
        (rule, NLP),
        (rule, VISION),
    ]


def test_without_a_date_no_runtime_has_ended() -> None:
    """Commands without a date, like `show`, report the warning."""
    assert found("2000-01-01", "") == [
        ("runtime/deprecated-runtime", NLP),
        ("runtime/deprecated-runtime", VISION),
    ]


def test_retired_team_may_list_an_ended_runtime() -> None:
    assert found("2026-01-01", "2026-11-21", {VISION: {"state": "retired"}}) == [
        ("change/ended-runtime", NLP)
    ]


def test_runtime_without_an_end_causes_no_finding() -> None:
    assert list(check_meaning(platform_of({}), "9999-12-31")) == []


@pytest.mark.parametrize(
    ("name", "version", "breaks"),
    [
        ("openmpi-cuda-v2", 3, True),
        ("openmpi-cuda-v2", 2, False),
        ("openmpi-cuda-v02", 2, True),
        ("openmpi-v2", 1, False),
        ("openmpi-cudav2", 1, False),
        ("openmpi-cuda-v2b", 1, False),
    ],
)
def test_version_in_a_file_name_counts_beside_other_versions(
    name: str, version: int, *, breaks: bool
) -> None:
    """Beside `openmpi-cuda` the end of `openmpi-cuda-v2` is a version; alone it is part of a
    name."""
    changes = {f"runtimes/{name}.yaml": {**OTHER, "version": version}}

    assert bool(messages("runtime/version-differs-from-file", changes)) is breaks


@pytest.mark.parametrize(
    ("versions", "reported"),
    [
        ({2: "", 3: ""}, ["version 1", "version 2"]),
        ({2: "2030-01-01", 3: ""}, ["version 1"]),
        ({2: "", 3: "2030-01-01"}, ["version 1", "version 2"]),
        ({}, []),
    ],
)
def test_all_versions_but_the_newest_need_an_end(
    versions: dict[int, str], reported: list[str]
) -> None:
    """The message states when the newest version is deprecated itself."""
    changes: dict[str, Any] = {
        f"runtimes/openmpi-cuda-v{version}.yaml": {
            **OTHER,
            "version": version,
            **({"deprecated": {"end": end}} if end else {}),
        }
        for version, end in versions.items()
    }
    found = messages("runtime/older-version-without-end", changes)

    assert [message[:9] for message in found] == reported
    assert all(message.endswith("deprecated itself") is bool(versions[3]) for message in found)


@given(
    ends=st.lists(
        st.sampled_from(["", "2026-12-31", "2027-01-01", "2027-06-30"]), min_size=2, max_size=3
    )
)
def test_versions_end_in_their_order(ends: list[str]) -> None:
    """A version is reported when the one before it ends later, but not when both end on one day."""
    versions = {
        f"runtimes/openmpi-v{i}.yaml": {
            **OTHER,
            "version": i,
            **({"deprecated": {"end": end}} if end else {}),
        }
        for i, end in enumerate(ends, 1)
    }
    found = [
        f"version {i + 2} of runtime `openmpi` ends on {newer}, before version {i + 1}"
        for i, (older, newer) in enumerate(pairwise(ends))
        if newer and newer < older
    ]

    assert messages("runtime/newer-version-deprecated", versions) == found


def quota(**term: Any) -> dict[str, Any]:
    """Return changes of the base that give team nlp its four nodes for a time."""
    return {NLP: {"quota": {"prod-east": {"dgx-h100": {"reason": "a deadline", **term}}}}}


@given(last=st.dates(date(2000, 1, 1), date(2098, 1, 1)), days=st.integers(-800, 800))
def test_quota_expires_after_its_last_day(last: date, days: int) -> None:
    """Not on it, and without a day never."""
    platform = platform_of(quota(until=last.isoformat(), then=1))
    day = (last + timedelta(days=days)).isoformat()
    found = [each for each in check_meaning(platform, day) if each.rule == QUOTA_EXPIRED]

    assert len(found) == (days > 0)
    assert all(f"ended on {last}: 3 nodes of dgx-h100" in each.message for each in found)
    assert not any(each.rule == QUOTA_EXPIRED for each in check_meaning(platform))


@given(st.integers(0, 9))
def test_quota_is_smaller_after_its_last_day(then: int) -> None:
    assert bool(messages("capacity/then-not-smaller", quota(until="2027-01-31", then=then))) == (
        then >= 4
    )


def test_share_of_a_node_ends_with_its_entry() -> None:
    """A quota of 0 GPUs has no form; the help asks for its removal."""
    quota = {"gpus": 2, "nodes": None, "lend": "none", "until": "2026-01-31", "reason": "a course"}
    platform = platform_of({NLP: {"quota": {"prod-east": {"dgx-h100": quota}}}})
    (found,) = (
        each for each in check_meaning(platform, "2026-02-01") if each.rule == QUOTA_EXPIRED
    )

    assert "2 GPUs of dgx-h100" in found.message
    assert found.hint == "Remove the quota of the pool, or agree on a later day."
