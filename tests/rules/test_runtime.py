"""MPIs by name, versions known to fail, and names of rails."""

from __future__ import annotations

import pytest

from tests.rules.cases import broken, messages, platform_of

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
    """Builds of one MPI have different names; HPC-X is Open MPI, and bindings are not MPI."""
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
    ("release", "installed", "bad"),
    [
        ("openshift-ai-3.5", {"argocd": "3.1"}, True),
        ("openshift-ai-3.5", {"argocd": "3.2.12"}, True),
        ("openshift-ai-3.5", {"argocd": "3.3.12"}, False),
        ("openshift-ai-3.5", {"argocd": "3.4"}, False),
        ("openshift-ai-3.5", {"gitopsOperator": "1.18"}, True),
        ("openshift-ai-3.5", {"gitopsOperator": "1.19.1"}, True),
        ("openshift-ai-3.5", {"gitopsOperator": "1.20"}, False),
        ("openshift-ai-3.5", {}, False),
        ("kubernetes-1.36", {"argocd": "3.1"}, True),
        ("kubernetes-1.36", {"argocd": "3.3"}, False),
    ],
)
def test_argocd_that_drops_names_of_projects_is_an_error(
    release: str, installed: dict[str, str], *, bad: bool
) -> None:
    """Its projects would permit every Namespace, and no job would show it."""
    changes = {CLUSTER: {"release": release, "installed": installed}}
    consequences = [each for each in messages("release/known-bad-pair", changes) if "3.3" in each]

    assert bool(messages("release/known-bad-pair", changes)) == bad
    assert all("permits every Namespace and every ClusterRole" in each for each in consequences)
    assert bool(consequences) == (bad and "argocd" in installed)


def test_release_of_openshift_names_an_argocd_that_openshift_gitops_ships() -> None:
    """Each OpenShift GitOps has the Argo CD of its go.mod, and none of them is 3.5."""
    shipped = {"1.20": "3.3", "1.21": "3.4"}
    (site,) = platform_of({}).sites
    versions = site.cluster.release.versions

    assert shipped[versions["gitopsOperator"]] == versions["argocd"]


@pytest.mark.parametrize(
    ("fabrics", "place"), [({"ib": {"resources": "gpu-net"}}, 1), ({"ib": {"resources": "ib"}}, 0)]
)
def test_resources_of_a_fabric_do_not_contain_gpu(fabrics: dict[str, object], place: int) -> None:
    """The prefix of the rails' resource names counts, not the fabric's name."""
    assert len(messages("runtime/gpu-in-resource-name", {CLUSTER: {"fabrics": fabrics}})) == place
