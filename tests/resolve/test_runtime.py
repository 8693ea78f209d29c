"""A runtime: its defaults, the family in its file's name, and times in seconds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.resolve.changes import NLP, RUNTIME, VISION, resolved
from trainyard.model.launcher import INTEL_MPI, OPENMPI, TORCHRUN
from trainyard.model.runtime import Runtime

SHORTEST: dict[str, Any] = {
    "version": 2,
    "image": f"registry.example.com/ml/mpi@sha256:{'a' * 64}",
    "libraries": {"openmpi": "4.1.6"},
    "hardware": ["dgx-h100"],
    "maxNodes": 4,
}


def runtime(name: str, **changes: Any) -> Runtime:
    """Return a runtime of that name, as short as can be but for the changes."""
    teams = {team: {"runtimes": [name]} for team in (NLP, VISION)}
    platform, found = resolved(
        {RUNTIME: None, f"runtimes/{name}.yaml": {**SHORTEST, **changes}, **teams}
    )
    assert found == ()
    (only,) = platform.runtimes
    return only


def test_short_runtime_has_defaults() -> None:
    """What a profile leaves out is what most runtimes want: Open MPI over the rails, bound, for any
    time."""
    short = runtime("mpi")

    assert (short.launcher, short.fabric, short.binding) == (OPENMPI, "", "cores")
    assert (short.shared_memory, short.pull_secret, short.end) == (64 << 30, "", "")
    assert (short.deadline, short.restarts) == (0, 0)


@pytest.mark.parametrize(
    ("name", "version", "family"),
    [
        ("openmpi-cuda", 2, "openmpi-cuda"),
        ("openmpi-cuda-v2", 2, "openmpi-cuda"),
        ("openmpi-cuda-v2", 3, "openmpi-cuda-v2"),
        ("openmpi-cuda-v22", 2, "openmpi-cuda-v22"),
        ("cuda-v2-mpi", 2, "cuda-v2-mpi"),
        ("v2", 2, "v2"),
    ],
)
def test_file_of_a_version_belongs_to_its_family(name: str, version: int, family: str) -> None:
    """A file that ends with its own version is an older one of the family; any other number is part
    of the name."""
    made = runtime(name, version=version)

    assert (made.name, made.family, made.framework) == (name, family, family)


@given(st.integers(1, 99999), st.sampled_from("mhd"))
def test_times_are_seconds(deadline: int, unit: str) -> None:
    """Controllers count seconds."""
    made = runtime("mpi", deadline=f"{deadline}{unit}")

    assert made.deadline == deadline * {"m": 60, "h": 3600, "d": 86400}[unit]


@pytest.mark.parametrize(
    ("launcher", "libraries", "version"),
    [
        (OPENMPI, {"openmpi": "5.0.6", "torch": "2.6.0"}, "5.0.6"),
        (INTEL_MPI, {"intel-mpi": "2021.13"}, "2021.13"),
        (TORCHRUN, {"openmpi": "5.0.6", "torch": "2.6.0"}, "2.6.0"),
        (TORCHRUN, {"openmpi": "5.0.6"}, ""),
    ],
    ids=str,
)
def test_launcher_is_found_by_its_name(
    launcher: Any, libraries: dict[str, str], version: str
) -> None:
    """Its version is that of its own library; a rule asks for one that is missing."""
    made = runtime("mpi", launcher=launcher.name, libraries=libraries)

    assert (made.launcher, made.launcher_version) == (launcher, version)


def test_older_version_has_its_last_day() -> None:
    """It is kept as it is stated: only rules and waivers look at a clock."""
    assert runtime("mpi-v2", deprecated={"end": "2027-03-31"}).end == "2027-03-31"
