"""The base platform of the rules' cases after some changes, resolved: right in shape, wrong in
names at will."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.rules.cases import _base, _change, shaped
from trainyard.diagnostics import Diagnostic
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.model.space import Space
from trainyard.model.tenant import Tenant
from trainyard.resolve.findings import collect
from trainyard.resolve.hardware import resolve_hardware
from trainyard.resolve.platform import resolve
from trainyard.schema.defaults import filled

CLUSTER, HARDWARE, RUNTIME = (
    "clusters/prod-east.yaml",
    "hardware/dgx-h100.yaml",
    "runtimes/openmpi-cuda.yaml",
)
NLP, VISION, ALLOCATIONS = "teams/nlp.yaml", "teams/vision.yaml", "allocations.yaml"


ROCE: dict[str, Any] = {
    CLUSTER: {
        "fabrics": {"ib": {"link": "roce", "partitions": None, "vlans": "100-199"}},
        "external": {"Vlans/ib": "us", "LosslessQueue/ib": "us", "SysctlAllowlist/multus": "us"},
    },
    ALLOCATIONS: {
        "prod-east": {
            "ib": {
                "nlp": {"partition": None, "vlan": 101},
                "vision": {"partition": None, "vlan": 102},
            }
        }
    },
}
"""The base with VLANs in place of partitions."""


def together(*changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return several changes as one; a null stays what takes something away."""
    result: dict[str, Any] = {}
    for change in changes:
        for key, value in change.items():
            known = result.get(key)
            result[key] = (
                together(known, value)
                if isinstance(known, dict) and isinstance(value, dict)
                else value
            )
    return result


def resolved(changes: Mapping[str, Any]) -> tuple[Platform, tuple[Diagnostic, ...]]:
    """Return the base after some changes, and the names that lead nowhere."""
    return resolve(filled(shaped(_change(_base(), changes))))


def hardware(changes: Mapping[str, Any]) -> tuple[dict[str, Hardware], list[Diagnostic]]:
    """Return the hardware of the base after some changes that is complete, and what is wrong with
    the rest."""
    every, findings = collect(resolve_hardware(_change(_base(), changes), "ml.example.com"))
    complete = {name: each for name, each in every.items() if each is not None}
    return complete, [each for each in findings if isinstance(each, Diagnostic)]


def tenant(changes: Mapping[str, Any], name: str = "nlp") -> Tenant:
    """Return a team on the base's cluster after some changes that break nothing."""
    platform, found = resolved(changes)
    assert found == ()
    return next(each for each in platform.sites[0].tenants if each.name == name)


def reported(found: tuple[Diagnostic, ...] | list[Diagnostic]) -> list[tuple[str, str, str]]:
    """Return the file, the path (a key's in brackets) and the message of each finding."""
    paths = ("/".join(map(str, each.at.path)) for each in found)
    return [
        (
            each.at.file.removeprefix("profiles/"),
            f"({path})" if each.at.on_key else path,
            each.message,
        )
        for each, path in zip(found, paths, strict=True)
    ]


def space(changes: Mapping[str, Any], name: str = "") -> Space:
    """Return a namespace of a team on the base's cluster after some changes that break nothing: its
    own, or another."""
    return next(each for each in tenant(changes).spaces if each.profile.name == name)
