"""What a name in a manifest is, and how it is found there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from generator.diagnostics import Step

Name = tuple[str, str, str]
"""Kind, namespace (empty when cluster-wide) and name of what can be referred to."""

EVERY = "*"
"""Step that stands for each member of a list."""

LISTING = "*"
"""Stands for each namespace whose limits list the runtime: a ClusterTrainingRuntime's names must be in all of them."""

VF_RESOURCE = "SR-IOV resource"
TOPOLOGY_LEVEL = "topology level"
POOL_LABEL = "MachineConfigPool label"


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a manifest stands.

    Args:
        namespace: its own; empty when it is cluster-wide.
        prefix: of the release's SR-IOV resources, e.g. ``openshift.io``.
    """

    namespace: str
    prefix: str


@dataclass(frozen=True, slots=True)
class Use:
    """A name that a manifest uses, and where in it."""

    kind: str
    namespace: str
    name: str
    path: tuple[Step, ...]

    @property
    def where(self) -> str:
        """The path as text, e.g. ``spec.flavors[0].name``."""
        return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path).removeprefix(".")


def reach(value: Any, steps: tuple[str, ...], path: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], Any]]:
    """Yield the path and value of everything that the steps lead to; what has another shape leads nowhere."""
    if not steps:
        yield path, value
    elif steps[0] == EVERY:
        for i, each in enumerate(value if isinstance(value, list) else ()):
            yield from reach(each, steps[1:], (*path, i))
    elif isinstance(value, dict) and steps[0] in value:
        yield from reach(value[steps[0]], steps[1:], (*path, steps[0]))


def mapping(value: Any, *steps: str) -> dict[str, Any]:
    """Return the mapping that the steps lead to, empty when there is none."""
    return next((found for _, found in reach(value, steps) if isinstance(found, dict)), {})
