"""Views of a runtime and of its steps."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.model.quantity import format_bytes, format_cpu
from trainyard.model.runtime import Runtime, Step


def guaranteed(amounts: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return requests equal to limits, which make a pod Guaranteed if all its containers have them.

    The CPU manager gives cores of its own only to such a pod.
    """
    return {"limits": amounts, "requests": amounts}


@dataclass(frozen=True, slots=True)
class StepView:
    """A pod before the ranks, as templates read it."""

    step: Step

    @property
    def resources(self) -> dict[str, dict[str, str]]:
        """Requests equal to limits."""
        return guaranteed(
            {"cpu": format_cpu(self.step.cpu), "memory": format_bytes(self.step.memory)}
        )

    @property
    def labels(self) -> dict[str, str]:
        """Label by which Trainer recognizes the step."""
        return {"trainer.kubeflow.org/trainjob-ancestor-step": self.step.name}


@dataclass(frozen=True, slots=True)
class RuntimeView:
    """A runtime, as templates read it."""

    runtime: Runtime

    @property
    def targets(self) -> list[dict[str, str]]:
        """Its replicated jobs after the steps, as an override of pods names them."""
        return [{"name": role} for role in self.runtime.roles]

    @property
    def command(self) -> tuple[str, ...]:
        """Beginning of a job's own command.

        The export runs in the first rank's pod: a replicated job after the ranks would never be
        ready while they run, and Kueue evicts a job whose pods are not all ready in time
        (sigs.k8s.io/kueue:pkg/controller/jobs/trainjob).
        """
        command = self.runtime.launcher.command
        return ("/opt/trainyard/with-export", *command) if self.runtime.export else command
