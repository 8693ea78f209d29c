"""Images and the hardware that they run on."""

from __future__ import annotations

from collections.abc import Iterator

from generator.diagnostics import Diagnostic, Note, Rule, Severity
from generator.model.platform import Platform
from generator.rules._check import Check
from generator.rules._walk import hardware, holdings

OPENMPI_MAJORS = (4, 5)
OTHER_MPIS = frozenset({"impi", "intel-mpi", "intelmpi", "mpich", "mvapich", "mvapich2"})

IMAGE_WITHOUT_DIGEST = Rule(
    id="runtime/image-without-digest",
    severity=Severity.ERROR,
    summary="A runtime's image is named by its digest.",
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
    summary="A runtime's MPI is Open MPI 4 or 5.",
    why=(
        "Trainer launches Open MPI only: `mpiImplementation` admits no other value (Trainer 2.1 to 2.3), and the"
        " hostfile and variables that it sets mean nothing to MPICH, MVAPICH2 or Intel MPI: all ranks would run on"
        " the launcher."
    ),
    fix="Build the image with Open MPI 4.1 or 5.0.",
)
GPU_IN_RESOURCE_NAME = Rule(
    id="runtime/gpu-in-resource-name",
    severity=Severity.ERROR,
    summary="A hardware profile with rails has no `gpu` in its name.",
    why=(
        "The name becomes that of its virtual functions' resources, and Trainer takes every resource with `gpu` in"
        " its name for GPUs: one virtual function may then count as the GPUs of a node, and a job that"
        " leaves its number of ranks open gets it wrong."
    ),
    fix="Rename the hardware profile, e.g. after the machine: dgx-h100.",
)
UNUSED_RUNTIME = Rule(
    id="runtime/unused-runtime",
    severity=Severity.WARNING,
    summary="Some team lists each runtime.",
    why="Nothing is made of it: no cluster gets the runtime, and nobody can submit to it.",
    fix="List it in a team's `runtimes`, or remove its profile.",
)
RUNTIME_WITHOUT_HARDWARE = Rule(
    id="runtime/runtime-without-hardware",
    severity=Severity.ERROR,
    summary="A team has quota on some hardware that each of its runtimes runs on.",
    why="The team gets no such runtime: its jobs are refused, as the admission policy does not list it for the team.",
    fix="Take the runtime out of the team, or give the team quota where it runs.",
)


def image_without_digest(platform: Platform) -> Iterator[Diagnostic]:
    """Find images that only a tag names."""
    for runtime in platform.runtimes:
        if "@sha256:" not in runtime.image:
            yield IMAGE_WITHOUT_DIGEST.at(runtime.at / "image", f"image `{runtime.image}` has no digest")


def cuda_too_old(platform: Platform) -> Iterator[Diagnostic]:
    """Compare each runtime's CUDA with what the GPUs of its hardware need."""
    for runtime in platform.runtimes:
        cuda = runtime.libraries.get("cuda", "")
        for each in hardware(platform):
            needed = each.gpu.minimum_cuda if each.gpu else ""
            if cuda and needed and each.name in runtime.hardware and _numbers(cuda) < _numbers(needed):
                message = f"CUDA {cuda} does not know the GPUs of a `{each.name}`, which need {needed}"
                notes = [Note("said here, or in the preset", each.at / "gpu" / "minimumCuda")]
                yield CUDA_TOO_OLD.at(runtime.at / "libraries" / "cuda", message, notes=notes)


def unsupported_mpi(platform: Platform) -> Iterator[Diagnostic]:
    """Look for other MPIs among the libraries, and at Open MPI's version."""
    for runtime in platform.runtimes:
        for library, version in runtime.libraries.items():
            at = runtime.at / "libraries" / library
            if library in OTHER_MPIS:
                yield UNSUPPORTED_MPI.at(
                    at.key(), f"runtime `{runtime.name}` brings {library}; Trainer can't launch it"
                )
            elif library == "openmpi" and _numbers(version)[0] not in OPENMPI_MAJORS:
                yield UNSUPPORTED_MPI.at(at, f"runtime `{runtime.name}` has Open MPI {version}, not 4 or 5")


def gpu_in_resource_name(platform: Platform) -> Iterator[Diagnostic]:
    """Find names that would make GPUs of virtual functions."""
    for each in hardware(platform):
        if each.rails and "gpu" in each.name:
            yield GPU_IN_RESOURCE_NAME.at(each.at, f"the virtual functions of a `{each.name}` have `gpu` in their name")


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
                yield RUNTIME_WITHOUT_HARDWARE.at(team.at / "runtimes", message, notes=notes)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


CHECKS = (
    Check(IMAGE_WITHOUT_DIGEST, image_without_digest),
    Check(CUDA_TOO_OLD, cuda_too_old),
    Check(UNSUPPORTED_MPI, unsupported_mpi),
    Check(GPU_IN_RESOURCE_NAME, gpu_in_resource_name),
    Check(UNUSED_RUNTIME, unused_runtime),
    Check(RUNTIME_WITHOUT_HARDWARE, runtime_without_hardware),
)
