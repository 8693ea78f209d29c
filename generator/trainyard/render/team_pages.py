"""The page of each team on a cluster: what the team has, and how its members run jobs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trainyard.model import names
from trainyard.model.cluster import Cluster, Priority
from trainyard.model.platform import Site
from trainyard.model.quantity import counted, format_seconds
from trainyard.model.space import Grant, Sample, Space
from trainyard.model.tenant import Tenant
from trainyard.render.markdown import page
from trainyard.render.views.launch import RuntimeView
from trainyard.render.views.sample import SampleView
from trainyard.render.views.space import MOST_JOBS

JOB: Final = "first-job"
"""Name of the job on the page."""

_TESTED: Final = {
    "ranks": "every process runs, in the pod and on the cores that it should",
    "fabric": "the network cards of each node, by their speed",
    "nccl": "the GPUs of all nodes together, by their speed",
    "storage": "each folder, and that all nodes read the same",
}


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
    def has_workers(self) -> bool:
        """Return whether a launcher starts ranks in other pods, which ``trainer.image`` skips."""
        return self.sample.launch.runtime.launcher.mpi and self.sample.nodes > 1

    @property
    def steps(self) -> list[tuple[str, str, str]]:
        """Each pod with ranks: what it is, its replicated job, and its index in that."""
        nodes = self.sample.nodes
        if not self.sample.launch.runtime.launcher.mpi:
            return [(f"node {number}", "node", str(number)) for number in range(nodes)]
        return [
            ("the launcher", "launcher", "0"),
            *((f"worker {number}", "node", str(number)) for number in range(nodes - 1)),
        ]


@dataclass(frozen=True, slots=True)
class GrantRow:
    """A runtime as the page lists it, and the job to copy."""

    sample: Sample

    @property
    def grant(self) -> Grant:
        """The runtime with the largest job."""
        return self.sample.grant

    @property
    def file(self) -> str:
        """File of the job, beside the page."""
        return f"{self.sample.file}.yaml"

    @property
    def is_default(self) -> bool:
        """Return whether it is the team's default runtime."""
        return self.grant.launch == self.sample.space.default_launch

    @property
    def queue(self) -> str:
        """The queue that its job must name; empty where that is the default one."""
        queue = self.sample.local_queue
        return "" if queue == names.DEFAULT_QUEUE else queue

    @property
    def sizes(self) -> str:
        """Sizes of a job that are admitted, e.g. ``2 to 16 nodes``."""
        least = self.grant.launch.runtime.smallest_job
        return self.grant.size if least == self.grant.nodes else f"{least} to {self.grant.size}"

    @property
    def node(self) -> str:
        """Resources of each node of a job, or of each pod."""
        launch = self.grant.launch
        gpus = [counted(launch.gpus, "GPU")] if launch.gpus else []
        cpus, memory = launch.per_node["cpu"] // 1000, launch.per_node["memory"] >> 30
        return ", ".join((*gpus, f"{cpus} CPUs", f"{memory}Gi of memory"))


@dataclass(frozen=True, slots=True)
class SpacePage:
    """A namespace of the team."""

    space: Space

    @property
    def rows(self) -> list[GrantRow]:
        """Its runtimes."""
        return [GrantRow(sample) for sample in self.space.samples]

    @property
    def priorities(self) -> list[tuple[Priority, str]]:
        """Its priority classes, highest first, with the longest time of a job."""
        classes = reversed(self.space.priorities)
        return [(each, format_seconds(each.deadline) if each.deadline else "") for each in classes]

    @property
    def needs_class(self) -> bool:
        """Return whether each class has a deadline: then each job names its class."""
        return all(priority.deadline for priority in self.space.priorities)

    @property
    def tests(self) -> list[tuple[str, str]]:
        """File of each acceptance test beside the page, and what it tests."""
        return [(f"{each.file}.yaml", _TESTED[each.test]) for each in self.space.tests]


@dataclass(frozen=True, slots=True)
class TeamPage:
    """What the template of a team's page reads."""

    cluster: Cluster
    tenant: Tenant

    @property
    def spaces(self) -> list[SpacePage]:
        """Its namespaces in which jobs run."""
        return [SpacePage(space) for space in self.tenant.spaces if space.samples]

    @property
    def example(self) -> Example:
        """The job to begin with: two nodes, no steps before it, the default runtime and queue.

        Else the runtime of the largest jobs, which is the most general one.
        """
        samples = (sample for space in self.tenant.spaces for sample in space.samples)
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

    @property
    def cli(self) -> str:
        """The program that members use; both take the same arguments."""
        return "oc" if "machine-config" in self.cluster.release.features else "kubectl"

    @property
    def most_jobs(self) -> int:
        """TrainJobs that a namespace may hold."""
        return MOST_JOBS

    @property
    def borrows(self) -> bool:
        """Return whether the team's jobs may run on nodes of others."""
        flavors = (flavor for queue in self.tenant.queues for flavor in queue.flavors)
        return any(flavor.quota.borrow for flavor in flavors)


def team_pages(site: Site) -> Iterator[tuple[str, Tenant, str]]:
    """Yield the path, the team and the text of each page: of teams that have a job to copy."""
    for tenant in site.tenants:
        if any(space.samples for space in tenant.spaces):
            text = page("team.md.j2").render(page=TeamPage(site.cluster, tenant), job=JOB)
            yield page_path(tenant), tenant, text


def page_path(tenant: Tenant) -> str:
    """Return the path of a team's page, below the cluster's folder."""
    return f"samples/{tenant.name}/README.md"
