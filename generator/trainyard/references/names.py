"""Names in manifests, and the places where they are used."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.diagnostics import Step

Name = tuple[str, str, str]
"""Kind, namespace (empty when cluster-wide) and name of what can be referred to."""

LISTING = "*"
"""Stands for each namespace whose limits list the runtime: a ClusterTrainingRuntime's names must be
in all of them."""

VF_RESOURCE = "SR-IOV resource"
TOPOLOGY_LEVEL = "topology level"
POOL_LABEL = "MachineConfigPool label"


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a manifest's names.

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
        return "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path
        ).removeprefix(".")
