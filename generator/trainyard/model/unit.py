"""What a quota counts: whole nodes, or equal parts of one."""

from __future__ import annotations

from enum import StrEnum

from trainyard.model.quantity import counted


class Unit(StrEnum):
    """Unit of a quota; its value is the key of the profile."""

    NODES = "nodes"
    GPUS = "gpus"
    CORES = "cores"

    @property
    def noun(self) -> str:
        """Name of one."""
        return {Unit.NODES: "node", Unit.GPUS: "GPU", Unit.CORES: "core"}[self]

    @property
    def plural(self) -> str:
        """Name of several."""
        return f"{self.noun}s"

    def counted(self, number: int) -> str:
        """Return a number of them as text, e.g. ``1 node`` or ``8 GPUs``."""
        return counted(number, self.noun)
