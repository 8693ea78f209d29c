"""Resolve the profiles of runtimes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.hardware import Hardware
from trainyard.model.launcher import LAUNCHERS
from trainyard.model.quantity import parse_bytes, parse_seconds
from trainyard.model.runtime import INITIALIZERS, Runtime, Step
from trainyard.resolve.findings import Resolving
from trainyard.resolve.references import find
from trainyard.yaml_io.source import Source


def resolve_runtime(
    name: str, source: Source, hardware: Mapping[str, Hardware | None]
) -> Resolving[Runtime]:
    """Return a runtime without the hardware that does not exist.

    Hardware that exists and can't be resolved is kept.
    """
    at = Pointer(source.file)
    fields = source.value
    known = yield from _known_hardware(source, hardware)
    family = name.removesuffix(f"-v{fields['version']}")
    deprecated = fields.get("deprecated", {})
    return Runtime(
        name=name,
        family=family,
        at=at,
        version=fields["version"],
        display_name=fields.get("displayName", name),
        description=fields.get("description", ""),
        docs=fields.get("docs", ""),
        framework=fields.get("framework", family),
        image=fields["image"],
        pull_secret=fields.get("pullSecret", ""),
        libraries=dict(sorted(fields["libraries"].items())),
        launcher=LAUNCHERS[fields["launcher"]],
        small_launcher=fields["launcherPod"] == "small",
        fabric=fields.get("fabric", ""),
        architectures=tuple(sorted(fields["arch"])),
        hardware=known,
        shared_memory=parse_bytes(fields["sharedMemory"]),
        binding=fields["binding"],
        ranks=fields.get("ranks", 0),
        max_nodes=fields["maxNodes"],
        end=deprecated.get("end", ""),
        deadline=parse_seconds(fields["deadline"]) if "deadline" in fields else 0,
        grace=parse_seconds(fields["grace"]),
        restarts=fields["restarts"],
        initializers=tuple(_initializers(fields.get("initialize", {}))),
        export=tuple(fields.get("export", ())),
    )


def _known_hardware(
    source: Source, hardware: Mapping[str, Hardware | None]
) -> Resolving[tuple[str, ...]]:
    """Return the names of the hardware that exists, sorted."""
    names = source.value["hardware"]
    for i, name in enumerate(names):
        if name not in hardware:
            yield from find(
                "hardware profile", name, hardware, Pointer(source.file) / "hardware" / i
            )
    return tuple(sorted(name for name in names if name in hardware))


def _initializers(fields: Mapping[str, Any]) -> Iterator[Step]:
    for field, name in INITIALIZERS.items():
        if fields.get(field):
            yield Step(
                name=name,
                image=fields["image"],
                volume=fields["volume"],
                cpu=fields["cpu"] * 1000,
                memory=parse_bytes(fields["memory"]),
            )
