"""A hardware profile with what it extends: one complete node type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.accelerator import known
from trainyard.model.hardware import AMD64, ARM64, Gpu, Hardware, Nic, Share
from trainyard.model.quantity import parse_bytes
from trainyard.resolve.accelerator import with_known
from trainyard.resolve.findings import Resolving
from trainyard.resolve.incomplete import has_rails, missing
from trainyard.resolve.inherited import kept, paths
from trainyard.resolve.references import find
from trainyard.rules.shape.incomplete_hardware import RULE as INCOMPLETE_HARDWARE
from trainyard.yaml_io.source import Plain, Profiles, Source

NODE_LABEL = "node-type"
"""Label below the settings' domain that no daemon removes (NVIDIA/k8s-device-plugin#1597)."""


def resolve_hardware(profiles: Profiles, domain: str) -> Resolving[dict[str, Hardware | None]]:
    """Return every hardware profile of the repository; None for one that is not complete.

    Args:
        profiles: of the repository, and the presets.
        domain: prefix of the label that selects a node whose profile names none.
    """
    resolved: dict[str, Hardware | None] = dict.fromkeys(profiles.hardware)
    for name, source in sorted(profiles.hardware.items()):
        if source.value is not None:
            resolved[name] = yield from _hardware(name, source, profiles, domain)
    return resolved


def _hardware(
    name: str, source: Source, profiles: Profiles, domain: str
) -> Resolving[Hardware | None]:
    chain = yield from _chain(source, profiles)
    if "extends" in chain[-1].value:
        return None
    merged: dict[str, Plain] = {}
    for profile in reversed(chain):
        merged = _merge(merged, profile.value)
    yield from kept(name, chain, has_rails(merged))
    if "gpu" in merged:
        merged["gpu"] = with_known(merged["gpu"])
    incomplete = tuple(missing(Pointer(source.file), merged))
    yield from incomplete
    if incomplete:
        return None
    merged.setdefault("labels", {f"{domain}/{NODE_LABEL}": name})
    return _build(name, merged, chain)


def _chain(source: Source, profiles: Profiles) -> Resolving[tuple[Source, ...]]:
    """Return the profile and what it extends, most specific first."""
    chain = [source]
    while "extends" in chain[-1].value:
        parent = yield from _parent(chain, profiles)
        if parent is None:
            break
        chain.append(parent)
    return tuple(chain)


def _parent(chain: Sequence[Source], profiles: Profiles) -> Resolving[Source | None]:
    """Return what the last profile of a chain extends; None where the chain is a circle."""
    at = Pointer(chain[-1].file) / "extends"
    name = chain[-1].value["extends"]
    earlier = [PurePosixPath(source.file).stem for source in chain]
    if name not in profiles.presets and name in earlier:
        circle = " extends ".join(f"`{profile}`" for profile in [*earlier, name])
        yield INCOMPLETE_HARDWARE.at(at, f"{circle}, and no preset")
        return None
    return (yield from find("hardware profile or preset", name, _parents(chain, profiles), at))


def _parents(chain: Sequence[Source], profiles: Profiles) -> dict[str, Source | None]:
    """Return everything that the last profile of a chain may extend."""
    # A profile may have the name of the preset that it extends.
    parents: dict[str, Source | None] = {**profiles.presets}
    for name, source in profiles.hardware.items():
        if source not in chain:
            parents[name] = None if source.value is None else source
    return parents


def _merge(base: Mapping[str, Plain], over: Mapping[str, Plain]) -> dict[str, Plain]:
    """Return base with every field of `over` in its place; mappings merge, lists are replaced."""
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict) and key != "labels"
        merged[key] = _merge(merged[key], value) if both else value
    return merged


def _share(fields: Mapping[str, Any]) -> Share:
    return Share(
        cpu=fields["cpu"] * 1000,
        memory=parse_bytes(fields["memory"]),
        ephemeral_storage=parse_bytes(fields["ephemeralStorage"]),
        pods=fields.get("pods", 0),
    )


def _launcher(merged: Mapping[str, Any]) -> Share:
    """Return what is kept for a small launcher, in whole cores as the CPU manager gives them."""
    if "launcher" not in merged:
        return Share(0, 0)
    own, cpu = merged["launcher"], merged["cpu"]
    threads = own["cores"] * cpu["threads"] // cpu["cores"]
    return Share(threads * 1000, parse_bytes(own["memory"]))


def _build(name: str, merged: Mapping[str, Any], chain: tuple[Source, ...]) -> Hardware:
    gpu = merged.get("gpu")
    nic = merged.get("nic", {})
    origins: dict[str, str] = {}
    for source in reversed(chain):
        origins |= dict.fromkeys(paths(source.value), source.file)
    nics_at = Pointer(origins.get("nics", chain[0].file)) / "nics"
    return Hardware(
        name=name,
        at=Pointer(chain[0].file),
        files=tuple(source.file for source in chain),
        origins=origins,
        architecture=_architecture(merged),
        sockets=merged["cpu"]["sockets"],
        cores=merged["cpu"]["cores"],
        threads=merged["cpu"]["threads"],
        numa_nodes=merged["numaNodes"],
        total=_share({**merged, "cpu": merged["cpu"]["threads"]}),
        system=_share(merged["system"]),
        launcher=_launcher(merged),
        kubelet=_share(merged["kubelet"]),
        gpu=None if gpu is None else _gpu(gpu),
        nics=tuple(_nic(fields, nics_at / i) for i, fields in enumerate(merged.get("nics", ()))),
        nic_vendor=nic.get("vendor", ""),
        nic_device=nic.get("device", ""),
        link_rate=nic.get("rate", 0),
        virtual_functions=nic.get("virtualFunctions", 0),
        devices=dict(sorted(merged.get("devices", {}).items())),
        labels=dict(sorted(merged["labels"].items())),
        taint=merged.get("taint", ""),
    )


def _architecture(merged: Mapping[str, Any]) -> str:
    """Return the architecture of a node's processors, which follows from its GPUs."""
    if "arch" in merged:
        return str(merged["arch"])
    product = known(merged["gpu"]["product"]) if "gpu" in merged else None
    return ARM64 if product and product.has_grace else AMD64


def _gpu(fields: Mapping[str, Any]) -> Gpu:
    return Gpu(
        product=fields["product"],
        count=fields["count"],
        resource=fields["resource"],
        minimum_cuda=fields["minimumCuda"],
    )


def _nic(fields: Mapping[str, Any], at: Pointer) -> Nic:
    return Nic(
        pci=fields["pci"],
        interface=fields.get("interface", ""),
        device=fields.get("device", ""),
        numa=fields.get("numa", -1),
        role=fields["role"],
        gpu=fields.get("gpu", -1),
        at=at,
    )
