"""MPIs by name, versions known to hang together, and names of rails."""

from __future__ import annotations

import pytest

from tests.rules.cases import broken, messages

CLUSTER, RUNTIME = "clusters/prod-east.yaml", "runtimes/openmpi-cuda.yaml"


@pytest.mark.parametrize(
    ("library", "refused"),
    [
        ("mvapich2", True),
        ("mvapich2-gdr", True),
        ("mpich", True),
        ("intel-oneapi-mpi", True),
        ("intelmpi", True),
        ("impi", True),
        ("mpi4py", False),
        ("hpcx", False),
        ("intel-mkl", False),
        ("impish", False),
    ],
)
def test_mpis_without_a_launcher_are_found_by_the_beginning_of_their_names(
    library: str, *, refused: bool
) -> None:
    """Builds of one MPI have different names; HPC-X is Open MPI, and bindings are no MPI."""
    found = messages("runtime/unsupported-mpi", {RUNTIME: {"libraries": {library: "2.3"}}})

    assert found == (
        [f"runtime `openmpi-cuda` has {library}, which no launcher can start"] if refused else []
    )


def test_intel_mpi_has_its_own_launcher() -> None:
    beside = {RUNTIME: {"libraries": {"intel-mpi": "2021.13"}}}
    own = {
        RUNTIME: {"libraries": {"openmpi": None, "intel-mpi": "2021.13"}, "launcher": "intel-mpi"}
    }

    assert messages("runtime/unsupported-mpi", beside) == [
        "runtime `openmpi-cuda` has intel-mpi, but its launcher is openmpi"
    ]
    assert messages("runtime/unsupported-mpi", own) == []


@pytest.mark.parametrize("release", ["openshift-ai-3.5", "kubernetes-1.36"])
@pytest.mark.parametrize(("jobset", "bad"), [("0.8", True), ("0.9.1", True), ("0.10.1", False)])
def test_trainer_needs_a_recent_jobset(release: str, jobset: str, *, bad: bool) -> None:
    """An older JobSet is an error, not only an untested version."""
    rules = broken({CLUSTER: {"release": release, "installed": {"jobset": jobset}}})

    assert ("release/known-bad-pair" in rules, "release/untested-version" in rules) == (
        bad,
        not bad,
    )


@pytest.mark.parametrize(
    ("fabrics", "place"), [({"ib": {"resources": "gpu-net"}}, 1), ({"ib": {"resources": "ib"}}, 0)]
)
def test_resources_of_a_fabric_do_not_contain_gpu(fabrics: dict[str, object], place: int) -> None:
    """The prefix of the rails' resource names counts, not the fabric's name."""
    assert len(messages("runtime/gpu-in-resource-name", {CLUSTER: {"fabrics": fabrics}})) == place
