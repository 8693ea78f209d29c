"""Add a hardware type, a runtime or a cluster to the profiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.generation.generate import Target
from trainyard.handed_in import listed, shown
from trainyard.model.accelerator import AMD, NVIDIA
from trainyard.model.hardware import Hardware
from trainyard.model.named import by_name
from trainyard.model.platform import Platform
from trainyard.model.version import numbers
from trainyard.profiles.discover import check_name
from trainyard.profiles.read import presets
from trainyard.resolve.findings import collect
from trainyard.resolve.hardware import resolve_hardware
from trainyard.rules.names.profile_exists import RULE as PROFILE_EXISTS
from trainyard.scaffold.cluster import NewPool, cluster_profile
from trainyard.scaffold.hardware import hardware_profile, measured_profile
from trainyard.scaffold.nodes import measured
from trainyard.scaffold.plan import Plan
from trainyard.scaffold.runtime import NewRuntime, runtime_profile
from trainyard.scaffold.selection import chosen, unknown
from trainyard.workflows.add import Addition, add
from trainyard.workflows.known_releases import release_of
from trainyard.yaml_io.source import Profiles

_Planned = tuple[Plan | None, tuple[Diagnostic, ...]]

_SMALLEST_JOB = 2
"""Nodes of the largest job of a runtime whose hardware is in no pool yet."""


@dataclass(frozen=True, slots=True)
class RuntimeRequest:
    """The runtime that is wanted.

    Args:
        launcher: name of the program that starts ranks.
        image: with its digest.
        hardware: names of the hardware profiles that it runs on; needed where there are several.
    """

    name: str
    launcher: str
    image: str
    hardware: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PoolRequest:
    """A node pool of the cluster that is wanted.

    Args:
        hardware: name of its hardware profile.
    """

    name: str
    hardware: str
    nodes: int


@dataclass(frozen=True, slots=True)
class ClusterRequest:
    """The cluster that is wanted.

    Args:
        release: name of one that is shipped, or of the repository.
        pools: at least one.
    """

    name: str
    release: str
    pools: tuple[PoolRequest, ...]


def add_hardware(place: Target, name: str, preset: str, today: str) -> Addition[Plan]:
    """Write a hardware profile that extends a preset, unless it brings new errors.

    Args:
        place: as `add` takes it.
        name: of the profile.
        preset: name of one that is shipped.
        today: as `add` takes it.

    Raises:
        TreeError: as `add`.
        ToolError: as `add`, or a preset is not as it was shipped.
    """

    def plan(profiles: Profiles, _: Platform, __: object) -> _Planned:
        content = hardware_profile(preset, presets()[preset].value)
        return _new("hardware", name, content, profiles.hardware)

    return add(place, plan, today, others_may_wait=True)


def add_measured(place: Target, name: str, files: Sequence[Path], today: str) -> Addition[Plan]:
    """Write a hardware profile of what nodes say of themselves, unless it brings new errors.

    Args:
        place: as `add` takes it.
        name: of the profile.
        files: of the nodes, and of the SR-IOV operator's states of them.
        today: as `add` takes it.

    Raises:
        TreeError: as `add`; or a file can't be read, has no node, or nodes of several types.
        ToolError: as `add`.
    """
    bodies = [body for file in files for _, body in listed(file)]
    content = measured_profile(measured(" and ".join(map(shown, files)), bodies))

    def plan(profiles: Profiles, _: Platform, __: object) -> _Planned:
        return _new("hardware", name, content, profiles.hardware)

    return add(place, plan, today, others_may_wait=True)


def add_runtime(place: Target, request: RuntimeRequest, today: str) -> Addition[Plan]:
    """Write the profile of a runtime, unless it brings new errors.

    Args:
        place: as `add` takes it.
        request: the runtime that is wanted.
        today: as `add` takes it.

    Raises:
        TreeError: as `add`.
        ToolError: as `add`.
    """

    def plan(profiles: Profiles, platform: Platform, _: object) -> _Planned:
        known = _hardware(profiles, platform)
        names = request.hardware or ("",)
        if problems := tuple(_unknown(names, known)):
            return None, problems
        used = list(filter(None, (chosen(name, known) for name in names)))
        content = runtime_profile(_runtime(request, used, platform))
        return _new("runtimes", request.name, content, profiles.runtimes)

    return add(place, plan, today, others_may_wait=True)


def add_cluster(place: Target, request: ClusterRequest, today: str) -> Addition[Plan]:
    """Write the profile of a cluster, unless it brings new errors.

    Args:
        place: as `add` takes it.
        request: the cluster that is wanted.
        today: as `add` takes it.

    Raises:
        TreeError: as `add`.
        ToolError: as `add`, or a release is not as it was shipped.
    """

    def plan(profiles: Profiles, platform: Platform, _: object) -> _Planned:
        known = _hardware(profiles, platform)
        if problems := tuple(_unknown([pool.hardware for pool in request.pools], known)):
            return None, problems
        pools = [_pool(pool, known[pool.hardware]) for pool in request.pools]
        content = cluster_profile(release_of(profiles, request.release), pools)
        return _new("clusters", request.name, content, profiles.clusters)

    return add(place, plan, today, others_may_wait=True)


def _new(kind: str, name: str, content: bytes, known: Mapping[str, object]) -> _Planned:
    """Return the plan of one new profile; the reasons when its name can't be used."""
    path = f"{kind}/{name}.yaml"
    file = f"profiles/{path}"
    if problem := check_name(name, file):
        return None, (problem,)
    if name in known:
        return None, (PROFILE_EXISTS.at(Pointer(file), f"{file} is there already"),)
    return Plan({path: content}, b"", ()), ()


def _hardware(profiles: Profiles, platform: Platform) -> dict[str, Hardware]:
    """Return every hardware profile, those that no pool uses included."""
    resolved, _ = collect(resolve_hardware(profiles, platform.settings.domain))
    return by_name(filter(None, resolved.values()))


def _unknown(names: Sequence[str], known: Mapping[str, Hardware]) -> Iterator[Diagnostic]:
    """Yield the hardware that does not exist, or that must be chosen since there is more."""
    for name in names:
        if chosen(name, known) is None:
            yield unknown("hardware", name, known, Pointer("profiles/hardware"))


def _runtime(request: RuntimeRequest, used: Sequence[Hardware], platform: Platform) -> NewRuntime:
    names = [hardware.name for hardware in used]
    return NewRuntime(
        name=request.name,
        display=request.name,
        launcher=request.launcher,
        hardware=names,
        cuda=max((each.gpu.minimum_cuda for each in used if each.gpu), key=numbers, default=""),
        needs_rocm=any(each.maker is AMD for each in used),
        architectures=sorted({each.architecture for each in used}),
        nodes=_promised(platform, names),
        image=request.image,
    )


def _promised(platform: Platform, hardware: Sequence[str]) -> int:
    """Return the most nodes that teams may own of a pool of some hardware."""
    pools = chain.from_iterable(site.cluster.pools for site in platform.sites)
    promised = (pool.promised for pool in pools if pool.hardware.name in hardware)
    return max(promised, default=_SMALLEST_JOB)


def _pool(request: PoolRequest, hardware: Hardware) -> NewPool:
    return NewPool(
        request.name,
        request.hardware,
        request.nodes,
        tuple(nic.device for nic in hardware.rails),
        hardware.virtual_functions,
        hardware.maker is NVIDIA,
    )
