"""What a runtime brings against what starts it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.rules.cases import findings
from trainyard.diagnostics import Diagnostic

RUNTIME = "runtimes/openmpi-cuda.yaml"
OPENMPI, INTEL, TORCH = {"openmpi": "4.1.6"}, {"intel-mpi": "2021.13"}, {"torch": "2.6.0"}


def unsupported(launcher: str, libraries: Mapping[str, str]) -> list[Diagnostic]:
    """Return what is told of the MPIs of a runtime with these libraries only."""
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
def test_one_mpi_that_the_launcher_starts(
    launcher: str, libraries: dict[str, str], culprits: list[str]
) -> None:
    """The library of another launcher is told at its own line, with the launcher that would start
    it."""
    found = unsupported(launcher, libraries)

    assert [each.at.path[-1] for each in found] == culprits
    assert all(
        f"say `launcher: {library}`" in each.hint
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
def test_version_of_the_launchers_own_library(
    launcher: str, library: str, version: str, *, known: bool
) -> None:
    """Versions that were seen to obey what we set, and no others."""
    assert (not unsupported(launcher, {library: version})) is known
