"""Templates of jobs: each sample job with its queue, to submit jobs of other sizes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, zip_longest

from trainyard.diagnostics import Pointer
from trainyard.model.manifest import Manifest
from trainyard.model.priority import Priority
from trainyard.model.queue import Flavor, Queue
from trainyard.model.space import Grant, Sample, Space
from trainyard_rehearsal.checks.jobs import with_name, with_trainer
from trainyard_rehearsal.control_plane.api import Body


@dataclass(frozen=True, slots=True)
class JobTemplate:
    """A sample job, its queue, and the flavors whose quota its pods count against."""

    sample: Sample
    manifest: Manifest
    queue: Queue
    flavors: tuple[Flavor, ...]

    @property
    def space(self) -> Space:
        """The namespace of the jobs."""
        return self.sample.space

    @property
    def grant(self) -> Grant:
        """The runtime and its largest job."""
        return self.sample.grant

    @property
    def at(self) -> Pointer:
        """The place of the quota in the profile."""
        return self.flavors[0].quota.at

    @property
    def name(self) -> str:
        """The name of the queue and of the runtime, for messages."""
        return f"ClusterQueue {self.queue.name}, {self.sample.launch.name}"

    @property
    def smallest(self) -> int:
        """The number of pods of the smallest job."""
        return self.sample.launch.runtime.smallest_job

    @property
    def has_one_pod(self) -> bool:
        """True if it is MPI in one pod: Trainer itself refuses more.

        kubeflow/trainer:pkg/runtime/framework/plugins/mpi/mpi.go@v2.3.0
        """
        return self.sample.launch.runtime.roles == ("launcher",)

    @property
    def part(self) -> Fraction:
        """The part of a node that a pod takes; 1 for a whole node."""
        return self.sample.launch.part

    @property
    def own_pods(self) -> tuple[int, ...]:
        """The number of pods that the nominal quota of each flavor holds."""
        return tuple(self._pods(flavor.quota.nodes) for flavor in self.flavors)

    @property
    def maximum_pods(self) -> tuple[int, ...]:
        """The number of pods that each flavor holds with everything borrowed."""
        return tuple(self._pods(flavor.quota.maximum) for flavor in self.flavors)

    def fillable(self, pods: int) -> int:
        """Return the most pods, up to this number, that jobs of permitted sizes add up to."""
        return sum(job_sizes(pods, self.smallest, self.grant.nodes))

    def _pods(self, nodes: Fraction) -> int:
        return int(nodes / self.part)

    def body(self, name: str, pods: int, priority: Priority | None = None) -> Body:
        """Return a job with this number of pods, with the sample's priority or the given one."""
        body = with_trainer(with_name(self.manifest.body, name), numNodes=pods)
        if priority is None:
            return body
        lowest = self.space.priorities[0].labels
        written = body["metadata"].get("labels", {})
        labels = {key: value for key, value in written.items() if key not in lowest}
        return {**body, "metadata": {**body["metadata"], "labels": labels | priority.labels}}


def templates_of(samples: Iterable[tuple[Sample, Manifest]]) -> list[JobTemplate]:
    """Return the template of each sample job."""
    return [_template(sample, manifest) for sample, manifest in samples]


def _template(sample: Sample, manifest: Manifest) -> JobTemplate:
    launch = sample.launch
    (queue,) = (
        each for each in sample.space.queues if each.node_class == launch.hardware.node_class
    )
    flavors = (
        flavor
        for flavor in queue.flavors
        if launch.node_selector.items() <= flavor.pool.labels.items()
    )
    return JobTemplate(sample, manifest, queue, tuple(flavors))


def one_per_flavor(templates: Iterable[JobTemplate]) -> list[JobTemplate]:
    """Return one template for each flavor of each queue: without steps and small, if there is one.

    One of one pod only where there is no other.

    A template whose jobs may run on several flavors is left out.
    """
    found: dict[tuple[str, str], JobTemplate] = {}
    for template in sorted(templates, key=_unfitness):
        if len(template.flavors) == 1:
            found.setdefault((template.queue.name, template.flavors[0].name), template)
    return [found[key] for key in sorted(found)]


def _unfitness(template: JobTemplate) -> tuple[bool, bool, int]:
    steps = template.sample.launch.runtime.initializers
    return bool(steps), template.has_one_pod, template.smallest


def sizes_beyond_quota(templates: Iterable[JobTemplate]) -> list[tuple[JobTemplate, int]]:
    """Return each template with the least pods beyond its quota that no other of its queue has.

    Of equal jobs in a ClusterQueue, Kueue evaluates one and gives the others no condition
    (``SchedulingEquivalenceHashing``, since 0.18;
    kubernetes-sigs/kueue:pkg/cache/queue/cluster_queue.go@v0.19.2). Jobs are equal if priority,
    count and pods are; of pods it compares neither namespace, image nor variables
    (pkg/workload/workload.go:computeSchedulingHash).
    """
    found = []
    taken: set[tuple[str, int]] = set()
    for template in templates:
        beyond = count(sum(template.maximum_pods) + 1)
        pods = next(each for each in beyond if (template.queue.name, each) not in taken)
        taken.add((template.queue.name, pods))
        found.append((template, pods))
    return found


def independent_rounds(
    templates: Sequence[JobTemplate], pods: Callable[[JobTemplate], int]
) -> list[list[JobTemplate]]:
    """Return templates in rounds whose jobs take no quota from each other.

    A round has at most one template of each queue. A template that borrows is alone in its round.

    Args:
        templates: any.
        pods: returns the number of pods that a template gets.
    """
    found = []
    within_quota: dict[str, list[JobTemplate]] = defaultdict(list)
    for template in templates:
        if pods(template) > sum(template.own_pods):
            found.append([template])
        else:
            within_quota[template.queue.name].append(template)
    columns = zip_longest(*within_quota.values())
    return found + [list(filter(None, column)) for column in columns]


def job_sizes(pods: int, smallest: int, largest: int) -> list[int]:
    """Return the sizes of as few jobs as have this number of pods together, the largest first.

    Where jobs of permitted sizes can't have exactly as many, they have the most that they can.
    """
    jobs = -(-pods // largest)
    if jobs * smallest > pods:
        return job_sizes(pods - 1, smallest, largest)
    more, room = pods - jobs * smallest, largest - smallest
    return [smallest + min(room, max(0, more - i * room)) for i in range(jobs)]
