"""MPIs by their names, what a release leaves out, and versions that don't go together."""

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
def test_other_mpis_are_known_by_the_beginning_of_their_names(
    library: str, *, refused: bool
) -> None:
    """Builds of one MPI have names of their own; HPC-X is Open MPI, and bindings are no MPI."""
    told = messages("runtime/unsupported-mpi", {RUNTIME: {"libraries": {library: "2.3"}}})

    assert told == (
        [f"runtime `openmpi-cuda` brings {library}, which nothing can launch"] if refused else []
    )


def test_intel_mpi_has_a_launcher_of_its_own() -> None:
    """Beside Open MPI the message says which; as the launcher it is fine."""
    beside = {RUNTIME: {"libraries": {"intel-mpi": "2021.13"}}}
    own = {
        RUNTIME: {"libraries": {"openmpi": None, "intel-mpi": "2021.13"}, "launcher": "intel-mpi"}
    }

    assert messages("runtime/unsupported-mpi", beside) == [
        "runtime `openmpi-cuda` brings intel-mpi, but its launcher is openmpi"
    ]
    assert messages("runtime/unsupported-mpi", own) == []


@pytest.mark.parametrize("release", ["openshift-ai-3.5", "kubernetes-1.36"])
@pytest.mark.parametrize(("jobset", "bad"), [("0.8", True), ("0.9.1", True), ("0.10.1", False)])
def test_trainer_wants_a_jobset_of_its_time(release: str, jobset: str, *, bad: bool) -> None:
    """An error, and not only a version that nobody has run."""
    rules = broken({CLUSTER: {"release": release, "installed": {"jobset": jobset}}})

    assert ("release/known-bad-pair" in rules, "release/untested-version" in rules) == (
        bad,
        not bad,
    )


@pytest.mark.parametrize(
    ("fabrics", "place"), [({"ib": {"resources": "gpu-net"}}, 1), ({"ib": {"resources": "ib"}}, 0)]
)
def test_stem_of_the_rails_names_is_no_gpu_either(fabrics: dict[str, object], place: int) -> None:
    """What a fabric's rails are called decides, whatever the fabric is called."""
    assert len(messages("runtime/gpu-in-resource-name", {CLUSTER: {"fabrics": fabrics}})) == place
