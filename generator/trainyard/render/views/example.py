"""View of the jobs that a team's page submits."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from trainyard.model import names
from trainyard.model.launcher import TORCHRUN
from trainyard.model.space import Sample
from trainyard.render.views.runtime import RuntimeView
from trainyard.render.views.sample import SampleView

_CODE: Final = "/mnt/code"
"""Where a script from a ConfigMap is mounted."""


@dataclass(frozen=True, slots=True)
class Example:
    """The job that the page submits with ``kubectl`` and with the SDK."""

    sample: Sample

    @property
    def labels(self) -> str:
        """Its labels as a YAML flow mapping, which is a Python dictionary too; empty for none."""
        labels = SampleView(self.sample).labels
        return json.dumps(labels) if labels else ""

    @property
    def command(self) -> str:
        """Its command as a YAML flow sequence, which is a Python list too."""
        runtime = self.sample.launch.runtime
        words = (*RuntimeView(runtime).command, *runtime.launcher.example)
        return json.dumps(words)

    @property
    def is_in_default_queue(self) -> bool:
        """Return whether the job needs no label for its queue."""
        return self.sample.local_queue == names.DEFAULT_QUEUE

    @property
    def mpi(self) -> bool:
        """Return whether a launcher starts its processes."""
        return self.sample.launch.runtime.launcher.mpi

    @property
    def notebook(self) -> Example | None:
        """The job that trains a function: beside this one, with torchrun; None without such one."""
        able = [
            each
            for each in self.sample.space.samples
            if each.launch.runtime.launcher == TORCHRUN and not each.launch.runtime.initializers
        ]
        return Example(max(able, key=lambda each: each.nodes)) if able else None

    @property
    def has_workers(self) -> bool:
        """Return whether it has pods beside its launcher."""
        return self.mpi and "node" in self.sample.launch.runtime.roles

    @property
    def roles(self) -> str:
        """Its replicated jobs, as a Python list."""
        return json.dumps(self.sample.launch.runtime.roles)

    @property
    def has_storage(self) -> bool:
        """Return whether the team has storage that the job can mount."""
        return bool(SampleView(self.sample).volumes)

    @property
    def volumes(self) -> str:
        """What the job mounts, as a Python list: the team's storage, and without folders a script.

        The script is in the ConfigMap that the page creates.
        """
        code = {"name": "code", "configMap": {"name": "my-code"}}
        return repr([*SampleView(self.sample).volumes, *([] if self._folders else [code])])

    @property
    def volume_mounts(self) -> str:
        """Mounts of these volumes as a Python list."""
        code = {"name": "code", "mountPath": _CODE}
        return repr([*SampleView(self.sample).volume_mounts, *([] if self._folders else [code])])

    @property
    def own_command(self) -> str:
        """The command with a program of one's own, as a Python list."""
        python = ["python"] if self.mpi else []
        return json.dumps([*RuntimeView(self.sample.launch.runtime).command, *python, self.program])

    @property
    def program(self) -> str:
        """A program of one's own: on the team's first folder, else where a ConfigMap is mounted."""
        return f"{self._folders[0] if self._folders else _CODE}/my_train.py"

    @property
    def _folders(self) -> list[str]:
        return [claim.mount_path for claim in self.sample.space.claims]


def example_of(samples: Iterable[Sample]) -> Example:
    """Return the job to begin with: two nodes, no steps, the default runtime and queue.

    Else the runtime of the largest jobs, which is the most general one.

    Args:
        samples: all jobs to copy of a team; at least one.
    """
    return Example(
        min(
            samples,
            key=lambda each: (
                -each.nodes,
                bool(each.launch.runtime.initializers),
                each.launch != each.space.default_launch,
                each.local_queue != names.DEFAULT_QUEUE,
                -each.grant.nodes,
            ),
        )
    )
