"""Fields that a node type needs and that neither its profile nor what it extends gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.accelerator import meant
from trainyard.rules._measured import MEASURED
from trainyard.rules.shape.incomplete_hardware import RULE

_SHARE = ("cpu", "memory", "ephemeralStorage")
_REQUIRED = ("cpu", "numaNodes", "memory", "ephemeralStorage", "pods", "system", "kubelet")


def missing(at: Pointer, merged: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield a finding for each field that is not given."""
    for field in _missing(merged):
        hint = MEASURED.get(field, "") or _hint(field, merged)
        yield RULE.at(at, f"`{field}` is not given", hint=hint)


def has_rails(merged: Mapping[str, Any]) -> bool:
    """Return whether some port of a node is a rail."""
    return any(nic["role"] == "rail" for nic in merged.get("nics", ()))


def _missing(merged: Mapping[str, Any]) -> list[str]:
    missing = [field for field in _REQUIRED if field not in merged]
    for group, fields in _required_groups(merged).items():
        given = merged.get(group, {})
        if group not in missing:
            missing += [f"{group}.{field}" for field in fields if field not in given]
    return missing


def _required_groups(merged: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the fields that a node type needs inside of others."""
    groups = {
        "cpu": ("sockets", "cores", "threads"),
        "system": (*_SHARE, "pods"),
        "kubelet": _SHARE,
    }
    if "launcher" in merged:
        groups["launcher"] = ("cores", "memory")
    if "gpu" in merged:
        groups["gpu"] = ("product", "count", *_unknown(merged["gpu"]))
    if has_rails(merged):
        groups["nic"] = ("vendor", "device", "rate", "virtualFunctions")
    return groups


def _unknown(gpu: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a known product would have filled in, one at a time."""
    if "product" not in gpu:
        return ()
    return ("resource", "minimumCuda") if "resource" in gpu else ("resource",)


def _hint(field: str, merged: Mapping[str, Any]) -> str:
    """Return how to give what follows from a known product; empty for other fields."""
    wanted = {
        "gpu.resource": "the extended resource that the nodes' device plugin advertises",
        "gpu.minimumCuda": 'the first CUDA version that supports it, quoted, e.g. "12.8"',
    }.get(field)
    if wanted is None:
        return ""
    product = merged["gpu"]["product"]
    near = meant(product)
    question = f"Did you mean `{near}`? " if near else ""
    unknown = f"Trainyard does not know the product `{product}`."
    return f"{unknown} {question}If it is right, give {wanted}."
