"""Build each program of `tests/e2e/programs` once, into the cache of the rehearsal's programs.

`python -m tests.e2e.engines` builds all, and fetches the packet filter of kube-router.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.e2e.image import packet_filter
from trainyard.golang import (
    build_program,
    cache_folder,
    compile_program,
    find_go,
    program_path,
    run_go,
)
from trainyard_jobs.admission.evaluator import build
from trainyard_rehearsal.control_plane.components import read_components

KUBE_ROUTER, MPI_OPERATOR, SRIOV_OPERATOR, TEKTON = (
    "kube-router",
    "mpi-operator",
    "sriov-network-operator",
    "tekton",
)
AMTOOL, KUBE_STATE_METRICS, NODE_EXPORTER, PROMETHEUS, PROMTOOL = (
    "amtool",
    "kube-state-metrics",
    "node-exporter",
    "prometheus",
    "promtool",
)
_PROGRAMS = Path(__file__).parent / "programs"
_PACKAGES = {
    AMTOOL: ("alertmanager", "github.com/prometheus/alertmanager/cmd/amtool"),
    KUBE_STATE_METRICS: ("kube-state-metrics", "k8s.io/kube-state-metrics/v2"),
    NODE_EXPORTER: ("node-exporter", "github.com/prometheus/node_exporter"),
    PROMETHEUS: ("prometheus", "github.com/prometheus/prometheus/cmd/prometheus"),
    PROMTOOL: ("prometheus", "github.com/prometheus/prometheus/cmd/promtool"),
}
"""A program that is built as it is: the folder of its go.mod, which two may share, and package."""
_FILES = {
    MPI_OPERATOR: ("github.com/kubeflow/mpi-operator", "deploy/v2beta1/mpi-operator.yaml"),
    SRIOV_OPERATOR: (
        "github.com/k8snetworkplumbingwg/sriov-network-operator",
        "deploy/configmap.yaml",
    ),
}
"""A file of a program's module that is kept beside the program."""


def engine(name: str) -> Path:
    """Return the path of a program; the first call builds it, which takes minutes.

    Raises:
        ToolError: there is no Go, a checksum does not match, or the program does not build.
    """
    if name in _PACKAGES:
        return _packaged(name, *_PACKAGES[name])
    source = _PROGRAMS / name
    if name in _FILES and not program_path(source).exists():
        _keep_file(source, program_path(source).parent)
    return build_program(source)


def _packaged(name: str, folder: str, package: str) -> Path:
    """Return the path of a program that is a package of a module, built if need be."""
    source = _PROGRAMS / folder
    target = program_path(source).with_name(name)
    if not target.exists():
        compile_program(find_go(), source, package, target)
    return target


def pytorch_jobs() -> Path:
    """Return the CRD of PyTorchJobs, of the training operator's module that Kueue is built with."""
    source = read_components("kubernetes-1.36").programs["kueue"].folder
    target = cache_folder() / "programs" / "kubeflow.org_pytorchjobs.yaml"
    if not target.exists():
        module = "github.com/kubeflow/training-operator"
        found = run_go(find_go(), source, "list", "-m", "-f", "{{.Dir}}", module)
        shutil.copyfile(Path(found.strip()) / "manifests/base/crds" / target.name, target)
    return target


def _keep_file(source: Path, folder: Path) -> None:
    """Copy a file of a program's module."""
    module, file = _FILES[source.name]
    found = run_go(find_go(), source, "list", "-m", "-f", "{{.Dir}}", module)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(Path(found.strip()) / file, folder / Path(file).name)


if __name__ == "__main__":
    for program in (KUBE_ROUTER, MPI_OPERATOR, SRIOV_OPERATOR, TEKTON, *_PACKAGES):
        engine(program)
    pytorch_jobs()
    build()
    packet_filter(cache_folder())
