"""The page of each team on a cluster: what the team has, and how its members run jobs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import filterfalse, product
from typing import Final

from trainyard.model import names
from trainyard.model.cluster import Cluster
from trainyard.model.held import held_queues
from trainyard.model.launcher import OPENMPI
from trainyard.model.maintenance import Maintenance
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.priority import Priority
from trainyard.model.quantity import counted, format_seconds
from trainyard.model.queue import Queue
from trainyard.model.space import Grant, Sample, Space
from trainyard.model.tenant import Tenant
from trainyard.render.markdown import code, page
from trainyard.render.reach import Reach
from trainyard.render.views.counts import MOST_JOBS
from trainyard.render.views.example import Example, example_of

JOB: Final = "first-job"
"""Name of the job on the page."""

_TESTED: Final = {
    "ranks": "every process runs, in the pod and on the cores that it should",
    "fabric": "the network cards of each node, by their speed",
    "nccl": "the GPUs of all nodes together, by their speed",
    "storage": "each folder, and that all nodes read the same",
}


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
    def has_small_launcher(self) -> bool:
        """Return whether no process of a job runs in the launcher's pod."""
        return self.grant.launch.runtime.small_launcher

    @property
    def names_variables(self) -> bool:
        """Return whether a job's variables reach its processes only where they are named.

        Trainer gives them to the launcher's pod alone, and Hydra passes on all that it has.
        """
        return self.has_small_launcher and self.grant.launch.runtime.launcher == OPENMPI

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
        return list(map(GrantRow, self.space.samples))

    @property
    def priorities(self) -> list[tuple[Priority, str]]:
        """Its priority classes, highest first, with the longest time of a job."""
        rows = []
        for priority in reversed(self.space.priorities):
            longest = format_seconds(priority.deadline) if priority.deadline else ""
            rows.append((priority, longest))
        return rows

    @property
    def needs_class(self) -> bool:
        """Return whether each class has a deadline: then each job names its class."""
        return all(priority.deadline for priority in self.space.priorities)

    @property
    def has_deadlines(self) -> bool:
        """Return whether jobs of some class have a longest time."""
        return any(priority.deadline for priority in self.space.priorities)

    @property
    def is_below(self) -> bool:
        """Return whether a job without a class, of priority 0, is below each class."""
        return all(priority.value > 0 for priority in self.space.priorities)

    @property
    def torch(self) -> str:
        """Its runtimes that start programs of torch.distributed, the plain ones before others."""
        samples = list(filterfalse(_is_mpi, self.space.samples))
        plain = [sample for sample in samples if not sample.launch.runtime.initializers]
        return _either(plain or samples)

    @property
    def mpi(self) -> str:
        """Its runtimes that start MPI programs, as Markdown."""
        return _either(filter(_is_mpi, self.space.samples))

    @property
    def tests(self) -> list[tuple[str, str, str]]:
        """File of each acceptance test beside the page, its job, and what it tests."""
        tests = self.space.tests
        return [(f"{test.file}.yaml", test.name, _TESTED[test.test]) for test in tests]


def _is_mpi(sample: Sample) -> bool:
    return sample.launch.runtime.launcher.mpi


def _either(samples: Iterable[Sample]) -> str:
    return " or ".join(str(code(sample.launch.name)) for sample in samples)


@dataclass(frozen=True, slots=True)
class TeamPage:
    """What the template of a team's page reads.

    Args:
        held_queues: names of the cluster's queues in which no job can start.
    """

    cluster: Cluster
    tenant: Tenant
    held_queues: Collection[str]

    @property
    def spaces(self) -> list[SpacePage]:
        """Its namespaces in which jobs run."""
        return [SpacePage(space) for space in self.tenant.spaces if space.samples]

    @property
    def maintenance(self) -> list[tuple[Pool, Maintenance]]:
        """What is out of use of the pools of which the team has some."""
        windows: list[tuple[Pool, Maintenance]] = []
        for flavor in self.tenant.flavors:
            windows += product([flavor.pool], flavor.pool.maintenance)
        return windows

    @property
    def held(self) -> list[Queue]:
        """Its queues in which no job starts until nodes are back."""
        return [queue for queue in self.tenant.queues if queue.name in self.held_queues]

    @property
    def stopped(self) -> list[Queue]:
        """Its queues in which no job starts by a state of the team, the cluster or a pool."""
        return [queue for queue in self.tenant.queues if not queue.state.is_open]

    @property
    def example(self) -> Example:
        """The job to begin with."""
        return example_of(self.tenant.samples)

    @property
    def reach(self) -> Reach:
        """What its jobs may reach."""
        return Reach(self.cluster)

    @property
    def folder(self) -> str:
        """A folder of the team that outlives its jobs; empty without one."""
        claims = self.example.sample.space.claims
        return claims[0].mount_path if claims else ""

    @property
    def cli(self) -> str:
        """The program that members use; both take the same arguments."""
        return "oc" if "machine-config" in self.cluster.release.features else "kubectl"

    @property
    def has_mpi(self) -> bool:
        """Return whether some runtime of the team has a launcher."""
        return any(space.mpi for space in self.spaces)

    @property
    def has_workers(self) -> bool:
        """Return whether some job of the team has pods beside its launcher."""
        return any(len(sample.launch.runtime.roles) > 1 for sample in self.tenant.samples)

    @property
    def names_variables(self) -> str:
        """Its runtimes whose `mpirun` must name a job's variables, as Markdown."""
        samples = self.tenant.samples
        return _either(sample for sample in samples if GrantRow(sample).names_variables)

    @property
    def ranks_of_launchers(self) -> str:
        """The words that follow about processes in a launcher's pod; none where it has none."""
        mpi_samples = filter(_is_mpi, self.tenant.samples)
        are_small = {sample.launch.runtime.small_launcher for sample in mpi_samples}
        if False not in are_small:
            return ""
        if True in are_small:
            return "; with some runtimes, processes run in it too"
        return "; some of them run in it"

    @property
    def has_torch(self) -> bool:
        """Return whether some runtime of the team starts programs of torch.distributed."""
        return any(space.torch for space in self.spaces)

    @property
    def has_steps(self) -> bool:
        """Return whether a job to copy has a placeholder for data or a model."""
        return any(sample.launch.runtime.initializers for sample in self.tenant.samples)

    @property
    def grace(self) -> int:
        """Seconds that each job of the team has after SIGTERM."""
        return min(sample.launch.runtime.grace for sample in self.tenant.samples)

    @property
    def longest_name(self) -> int:
        """Characters that the name of a job may have with each runtime of the team."""
        return min(sample.launch.longest_job_name for sample in self.tenant.samples)

    @property
    def restarts(self) -> list[tuple[str, int]]:
        """Runtimes whose failed jobs start again, and how often."""
        launches = (sample.launch for sample in self.tenant.samples)
        return [
            (launch.name, launch.runtime.restarts) for launch in launches if launch.runtime.restarts
        ]

    @property
    def most_jobs(self) -> int:
        """TrainJobs that a namespace may hold."""
        return MOST_JOBS

    @property
    def borrows(self) -> bool:
        """Return whether the team's jobs may run on nodes of others."""
        return any(flavor.quota.borrow for flavor in self.tenant.flavors)


def team_pages(site: Site) -> Iterator[tuple[str, Tenant, str]]:
    """Yield the path, the team and the text of each page: of teams that have a job to copy."""
    held = held_queues(site)
    for tenant in site.tenants:
        if tenant.samples:
            text = page("team.md.j2").render(page=TeamPage(site.cluster, tenant, held), job=JOB)
            yield page_path(tenant), tenant, text


def page_path(tenant: Tenant) -> str:
    """Return the path of a team's page, below the cluster's folder."""
    return f"samples/{tenant.name}/README.md"
