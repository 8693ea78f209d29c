"""Images and the hardware that they run on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.launcher import LAUNCHERS
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._walk import hardware, holdings

OTHER_MPIS = re.compile(r"impi\Z|intel-?(oneapi-)?mpi|mpich|mvapich")
"""How names of MPIs begin that no launcher here starts, and other names of Intel's."""

IMAGE_WITHOUT_DIGEST = Rule(
    id="runtime/image-without-digest",
    severity=Severity.ERROR,
    summary="Every image of a runtime is named by its digest.",
    why="A tag can be moved: two nodes of one job may run two builds, and what was tested is not what runs.",
    fix="Append the digest that `skopeo inspect` shows: @sha256:... and 64 hex digits.",
)
CUDA_TOO_OLD = Rule(
    id="runtime/cuda-too-old",
    severity=Severity.ERROR,
    summary="A runtime's CUDA knows the GPUs of its hardware.",
    why="The job starts and its first kernel fails: `no kernel image is available for execution on the device`.",
    fix="Build the image with a newer CUDA, or take the hardware out of the runtime.",
)
UNSUPPORTED_MPI = Rule(
    id="runtime/unsupported-mpi",
    severity=Severity.ERROR,
    summary="A runtime's MPI is the one that its launcher starts: Open MPI 4 or 5, or Intel MPI 2021.",
    why=(
        "Trainer writes its hostfile for Open MPI (`mpiImplementation` admits no other value, Trainer 2.1 to 2.3):"
        " MPICH and Intel MPI refuse it (`token slots not supported at this time`, seen with MPICH 4.0 and Intel MPI"
        " 2021), as does MVAPICH2, which has MPICH's mpiexec; and Open MPI's variables mean nothing to them. For Intel"
        " MPI there is a launcher of its own; MPICH's failed with a good hostfile too (`BAD TERMINATION`)."
    ),
    fix="Build the image with Open MPI 4.1 or 5.0, or with Intel MPI 2021 and `launcher: intel-mpi`.",
)
LAUNCHER_VERSION_UNKNOWN = Rule(
    id="runtime/launcher-version-unknown",
    severity=Severity.ERROR,
    summary="A runtime states the version of what starts its ranks.",
    why=(
        "Open MPI 5 ignores the variables of 4 in silence, and 4 those of 5: with the wrong ones all ranks run on the"
        " launcher (seen with Open MPI 5.0.11: two ranks on one host, exit code 0, no message)."
    ),
    fix='Add it to `libraries`, e.g. {openmpi: "5.0.6"}, {intel-mpi: "2021.13"} or {torch: "2.6.0"}.',
)
GPU_IN_RESOURCE_NAME = Rule(
    id="runtime/gpu-in-resource-name",
    severity=Severity.ERROR,
    summary="A fabric has no `gpu` in its name, nor in its `resources`.",
    why=(
        "The name becomes that of its virtual functions' resources, and Trainer takes every resource with `gpu` in its"
        " name for GPUs: on processors a torchrun job that leaves its number of ranks open is told `auto`, and not how"
        " many cores its pod has (seen with Trainer 2.3.0)."
    ),
    fix="Rename the fabric, e.g. after its link: ib; or give it other `resources`.",
)
UNUSED_RUNTIME = Rule(
    id="runtime/unused-runtime",
    severity=Severity.WARNING,
    summary="Some team lists each runtime.",
    why=(
        "Nothing is made of it: no cluster gets the runtime, and a job that names it is refused: `spec.runtimeRef must"
        " name one of the ClusterTrainingRuntimes [...], not ...` (seen with Kubernetes 1.36.3)."
    ),
    fix="List it in a team's `runtimes`, or remove its profile.",
)
RUNTIME_WITHOUT_HARDWARE = Rule(
    id="runtime/runtime-without-hardware",
    severity=Severity.ERROR,
    summary="A team has quota on some hardware that each of its runtimes runs on.",
    why=(
        "The team gets no such runtime, and the admission policy refuses its jobs: `spec.runtimeRef must name one of"
        " the ClusterTrainingRuntimes [...], not ...` (seen with Kubernetes 1.36.3)."
    ),
    fix="Take the runtime out of the team, or give the team quota where it runs.",
)


def image_without_digest(platform: Platform) -> Iterator[Diagnostic]:
    """Find images that only a tag names, those of the steps before the ranks too."""
    for runtime in platform.runtimes:
        images = [(runtime.at / "image", runtime.image)]
        images += [(runtime.at / "initialize" / "image", step.image) for step in runtime.initializers[:1]]
        for at, image in images:
            if "@sha256:" not in image:
                yield IMAGE_WITHOUT_DIGEST.at(at, f"image `{image}` has no digest")


def cuda_too_old(platform: Platform) -> Iterator[Diagnostic]:
    """Compare each runtime's CUDA with what the GPUs of its hardware need."""
    for runtime in platform.runtimes:
        cuda = runtime.libraries.get("cuda", "")
        for each in hardware(platform):
            needed = each.gpu.minimum_cuda if each.gpu else ""
            if cuda and needed and each.name in runtime.hardware and _numbers(cuda) < _numbers(needed):
                message = f"CUDA {cuda} does not know the GPUs of a `{each.name}`, which need {needed}"
                notes = [Note("what they need", each.stated("gpu", "minimumCuda"))]
                yield CUDA_TOO_OLD.at(runtime.at / "libraries" / "cuda", message, notes=notes)


def unsupported_mpi(platform: Platform) -> Iterator[Diagnostic]:
    """Look for other MPIs among the libraries, and at the version of the launcher's own."""
    others = {each.library: each.name for each in LAUNCHERS.values() if each.mpi}
    for runtime in platform.runtimes:
        launcher = runtime.launcher
        for library, version in runtime.libraries.items():
            at = runtime.at / "libraries" / library
            if library not in others and OTHER_MPIS.match(library):
                yield UNSUPPORTED_MPI.at(
                    at.key(), f"runtime `{runtime.name}` brings {library}, which nothing can launch"
                )
            elif library != launcher.library and library in others:
                message = f"runtime `{runtime.name}` brings {library}, but its launcher is {launcher.name}"
                yield UNSUPPORTED_MPI.at(at.key(), message, hint=f"say `launcher: {others[library]}`, or remove it")
            elif library == launcher.library and launcher.majors and _numbers(version)[0] not in launcher.majors:
                known = " or ".join(map(str, launcher.majors))
                yield UNSUPPORTED_MPI.at(at, f"runtime `{runtime.name}` has {library} {version}, not {known}")


def launcher_version_unknown(platform: Platform) -> Iterator[Diagnostic]:
    """Find runtimes whose launcher's library is not among the libraries."""
    for runtime in platform.runtimes:
        library = runtime.launcher.library
        if library not in runtime.libraries:
            message = (
                f"runtime `{runtime.name}` is started by {runtime.launcher.name} and does not state its `{library}`"
            )
            yield LAUNCHER_VERSION_UNKNOWN.at(runtime.at / "libraries", message)


def gpu_in_resource_name(platform: Platform) -> Iterator[Diagnostic]:
    """Find names that would make GPUs of virtual functions."""
    for site in platform.sites:
        for fabric in site.cluster.fabrics:
            if "gpu" in fabric.resources:
                message = f"the virtual functions of fabric `{fabric.name}` have `gpu` in their name"
                own = fabric.resources == fabric.name
                yield GPU_IN_RESOURCE_NAME.at(fabric.at.key() if own else fabric.at / "resources", message)


def unused_runtime(platform: Platform) -> Iterator[Diagnostic]:
    """Find runtimes that no team lists, retired ones left aside."""
    used = {name for team in platform.teams if team.state != "retired" for name in team.runtimes}
    for runtime in platform.runtimes:
        if runtime.name not in used:
            yield UNUSED_RUNTIME.at(runtime.at, f"no team lists runtime `{runtime.name}`")


def runtime_without_hardware(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the hardware of each runtime with that of the team's pools, on all clusters together."""
    known = {runtime.name: runtime for runtime in platform.runtimes}
    for team, flavors in holdings(platform):
        own = {flavor.pool.hardware.name for flavor in flavors}
        for runtime in (known[name] for name in team.runtimes):
            if own.isdisjoint(runtime.hardware):
                message = (
                    f"runtime `{runtime.name}` runs on {', '.join(runtime.hardware)},"
                    f" but team {team.name} has quota on {', '.join(sorted(own))}"
                )
                notes = [Note("where it runs", runtime.at / "hardware")]
                cause = f"runtime `{runtime.name}` runs on {', '.join(runtime.hardware)}, of which teams have no quota"
                yield RUNTIME_WITHOUT_HARDWARE.at(team.at / "runtimes", message, notes=notes, cause=cause)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


CHECKS = (
    Check(IMAGE_WITHOUT_DIGEST, image_without_digest),
    Check(CUDA_TOO_OLD, cuda_too_old),
    Check(UNSUPPORTED_MPI, unsupported_mpi),
    Check(LAUNCHER_VERSION_UNKNOWN, launcher_version_unknown),
    Check(GPU_IN_RESOURCE_NAME, gpu_in_resource_name),
    Check(UNUSED_RUNTIME, unused_runtime, every=("teams/", "runtimes")),
    Check(RUNTIME_WITHOUT_HARDWARE, runtime_without_hardware, each=("quota", "runtimes")),
)
