"""Runtimes as their profiles tell them."""

from __future__ import annotations

from collections.abc import Mapping

from generator.diagnostics import Pointer
from generator.dialect.source import Source
from generator.model.hardware import Hardware
from generator.model.quantity import parse_bytes
from generator.model.runtime import Runtime
from generator.resolve.references import Found, find


def resolve_runtime(name: str, source: Source, hardware: Mapping[str, Hardware], found: Found) -> Runtime:
    """Return a runtime; hardware that doesn't exist is reported and left out."""
    at = Pointer(source.file)
    fields = source.value
    runs_on = fields["hardware"]
    known = [find("hardware profile", each, hardware, at / "hardware" / i, found) for i, each in enumerate(runs_on)]
    return Runtime(
        name=name,
        at=at,
        version=fields["version"],
        display_name=fields["displayName"],
        docs=fields["docs"],
        framework=fields.get("framework", name),
        image=fields["image"],
        pull_secret=fields.get("pullSecret", ""),
        libraries=dict(sorted(fields["libraries"].items())),
        hardware=tuple(sorted(each.name for each in known if each is not None)),
        shared_memory=parse_bytes(fields.get("sharedMemory", "64Gi")),
        binding=fields.get("binding", "cores"),
        max_nodes=fields["maxNodes"],
    )
