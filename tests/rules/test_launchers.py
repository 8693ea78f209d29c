"""MPI libraries of a runtime and its launcher."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.rules.cases import findings
from trainyard.diagnostics import Diagnostic

RUNTIME = "runtimes/openmpi-cuda.yaml"
OPENMPI, INTEL, TORCH = {"openmpi": "4.1.6"}, {"intel-mpi": "2021.13"}, {"torch": "2.6.0"}


def unsupported(launcher: str, libraries: Mapping[str, str]) -> list[Diagnostic]:
    """Return the findings about the MPIs of a runtime that has only these libraries."""
    fields = {"launcher": launcher, "libraries": {"openmpi": None, **libraries}}
    return [each for each in findings({RUNTIME: fields}) if each.rule == "runtime/unsupported-mpi"]


@pytest.mark.parametrize(
    ("launcher", "libraries", "culprits"),
    [
        ("openmpi", OPENMPI, []),
        ("intel-mpi", INTEL, []),
        ("torchrun", TORCH, []),
        ("openmpi", OPENMPI | INTEL, ["intel-mpi"]),
        ("intel-mpi", OPENMPI | INTEL, ["openmpi"]),
        ("torchrun", TORCH | OPENMPI | INTEL, ["intel-mpi", "openmpi"]),
    ],
)
def test_library_of_another_launcher_is_reported(
    launcher: str, libraries: dict[str, str], culprits: list[str]
) -> None:
    """The finding is at the library, and its hint names the launcher that starts it."""
    found = unsupported(launcher, libraries)

    assert [each.at.path[-1] for each in found] == culprits
    assert all(
        f"Set `launcher: {library}`" in each.hint
        for each, library in zip(found, culprits, strict=True)
    )


@pytest.mark.parametrize(
    ("launcher", "library", "version", "known"),
    [
        ("openmpi", "openmpi", "3.1.6", False),
        ("openmpi", "openmpi", "5.0.6", True),
        ("intel-mpi", "intel-mpi", "2019.9", False),
        ("intel-mpi", "intel-mpi", "2021.17", True),
        ("torchrun", "torch", "1.13.1", True),
    ],
)
def test_launcher_supports_tested_major_versions_only(
    launcher: str, library: str, version: str, *, known: bool
) -> None:
    assert (not unsupported(launcher, {library: version})) is known
