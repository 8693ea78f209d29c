"""View of a sample job."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trainyard.model import names
from trainyard.model.acceptance import settings
from trainyard.model.named import by_name
from trainyard.model.runtime import INITIALIZERS
from trainyard.model.space import Sample
from trainyard.render.folder import script
from trainyard.render.views.runtime import RuntimeView


@dataclass(frozen=True, slots=True)
class SampleView:
    """A TrainJob to copy, as templates read it."""

    sample: Sample

    @property
    def labels(self) -> dict[str, str]:
        """The queue where it must be named, and the class, by default the lowest."""
        sample, labels = self.sample, {}
        if sample.local_queue != names.DEFAULT_QUEUE:
            labels["kueue.x-k8s.io/queue-name"] = sample.local_queue
        priority = sample.priority or next(iter(sample.space.priorities), None)
        return dict(sorted({**labels, **(priority.labels if priority else {})}.items()))

    @property
    def job_command(self) -> tuple[str, ...]:
        """Command of the job: by default that of the runtime, which starts the ranks."""
        if self.sample.test:
            return ("/bin/bash",)
        return self.sample.command or RuntimeView(self.sample.launch.runtime).command

    @property
    def job_args(self) -> tuple[str, ...]:
        """Arguments of the command: by default a program that shows the host of each rank."""
        test, space = self.sample.test, self.sample.space
        if test:
            told = settings(test, self.sample.launch, space.mounts)
            return ("-c", script(test), f"test-{test}", *told)
        return self.sample.args or self.sample.launch.runtime.launcher.example

    @property
    def initializer(self) -> dict[str, dict[str, str]]:
        """Sources of the steps before the ranks, with a placeholder ``storageUri``."""
        steps, sources = by_name(self.sample.launch.runtime.initializers), {}
        for field, name in INITIALIZERS.items():
            if name in steps:
                sources[field] = {"storageUri": f"s3://example/{field}"}
        return sources

    @property
    def manager(self) -> str:
        """Name of the runtime patch's manager: a domain and a path, as Trainer wants it."""
        return f"{self.sample.space.cluster.settings.domain}/job"

    @property
    def volumes(self) -> list[dict[str, Any]]:
        """The team's storage, as pod volumes."""
        return list(self._volumes())

    def _volumes(self) -> Iterator[dict[str, Any]]:
        for claim in self.sample.claims:
            yield {"name": claim.name, "persistentVolumeClaim": {"claimName": claim.name}}
        for secret in self.sample.buckets:
            yield {"name": secret.name, "secret": {"secretName": secret.name}}

    @property
    def volume_mounts(self) -> list[dict[str, Any]]:
        """Mounts of these volumes; secrets are files."""
        return list(self._volume_mounts())

    def _volume_mounts(self) -> Iterator[dict[str, Any]]:
        for claim in self.sample.claims:
            yield {"name": claim.name, "mountPath": claim.mount_path}
        for secret in self.sample.buckets:
            yield {"name": secret.name, "mountPath": secret.mount_path, "readOnly": True}
