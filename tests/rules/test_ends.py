"""Ends of runtimes against the day, and versions against their files."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules.cases import messages, platform_of
from trainyard.rules.ends import check_ends

RUNTIME, NLP, VISION = "runtimes/openmpi-cuda.yaml", "teams/nlp.yaml", "teams/vision.yaml"
OTHER = {
    "displayName": "Open MPI",
    "docs": "https://docs.example.com/ml/openmpi",
    "image": f"registry.example.com/ml/openmpi@sha256:{'0' * 64}",
    "libraries": {"openmpi": "4.1.6", "cuda": "12.6"},
    "hardware": ["dgx-h100"],
    "maxNodes": 8,
}


def found(end: str, today: str, changes: dict[str, Any] | None = None) -> list[tuple[str, str]]:
    """Return rule and file of what is found of the base's only runtime with an end."""
    platform = platform_of({RUNTIME: {"deprecated": {"end": end}}, **(changes or {})})
    return [
        (each.rule, each.at.file.removeprefix("profiles/")) for each in check_ends(platform, today)
    ]


@given(last=st.dates(date(2000, 1, 1), date(2098, 1, 1)), days=st.integers(-800, 800))
def test_runtime_ends_after_its_last_day(last: date, days: int) -> None:
    """It has ended exactly when today is a later day, over months, years and leap days; before it
    is a warning."""
    rule = "change/ended-runtime" if days > 0 else "runtime/deprecated-runtime"

    assert found(last.isoformat(), (last + timedelta(days=days)).isoformat()) == [
        (rule, NLP),
        (rule, VISION),
    ]


def test_without_a_day_nothing_has_ended() -> None:
    """Who asks without a date, like `show`, gets the warning."""
    assert found("2000-01-01", "") == [
        ("runtime/deprecated-runtime", NLP),
        ("runtime/deprecated-runtime", VISION),
    ]


def test_retired_team_may_list_what_it_likes() -> None:
    """Nothing is made of a tombstone."""
    assert found("2026-01-01", "2026-11-21", {VISION: {"state": "retired"}}) == [
        ("change/ended-runtime", NLP)
    ]


def test_supported_runtime_has_no_end() -> None:
    """A runtime that nobody deprecated is never told of."""
    assert list(check_ends(platform_of({}), "9999-12-31")) == []


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
def test_version_in_a_name_counts_where_the_rest_is_a_runtime(
    name: str, version: int, *, breaks: bool
) -> None:
    """Beside `openmpi-cuda` the end of `openmpi-cuda-v2` is a version; elsewhere it is part of a
    name."""
    changes = {f"runtimes/{name}.yaml": {**OTHER, "version": version}}

    assert bool(messages("runtime/version-differs-from-file", changes)) is breaks


@pytest.mark.parametrize(
    ("versions", "told"),
    [
        ({2: "", 3: ""}, ["version 1", "version 2"]),
        ({2: "2030-01-01", 3: ""}, ["version 1"]),
        ({2: "", 3: "2030-01-01"}, ["version 1", "version 2"]),
        ({}, []),
    ],
)
def test_all_but_the_newest_version_have_an_end(versions: dict[int, str], told: list[str]) -> None:
    """Also beside a newest that is deprecated itself, which the message says."""
    changes: dict[str, Any] = {
        f"runtimes/openmpi-cuda-v{version}.yaml": {
            **OTHER,
            "version": version,
            **({"deprecated": {"end": end}} if end else {}),
        }
        for version, end in versions.items()
    }
    said = messages("runtime/older-version-without-end", changes)

    assert [message[:9] for message in said] == told
    assert all(message.endswith("deprecated itself") is bool(versions[3]) for message in said)


@given(
    ends=st.lists(
        st.sampled_from(["", "2026-12-31", "2027-01-01", "2027-06-30"]), min_size=2, max_size=3
    )
)
def test_versions_end_in_their_order(ends: list[str]) -> None:
    """A version is told when the one before it ends later; on the same day both are gone."""
    versions = {
        f"runtimes/openmpi-v{i}.yaml": {
            **OTHER,
            "version": i,
            **({"deprecated": {"end": end}} if end else {}),
        }
        for i, end in enumerate(ends, 1)
    }
    found = [
        f"version {i + 2} of runtime `openmpi` ends on {newer}, before {i + 1}"
        for i, (older, newer) in enumerate(pairwise(ends))
        if newer and newer < older
    ]

    assert messages("runtime/newer-version-deprecated", versions) == found
