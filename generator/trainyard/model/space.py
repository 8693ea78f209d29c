"""A namespace of a team on one cluster, with its jobs, networks and storage."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from trainyard.model import names
from trainyard.model.acceptance import TESTS, lacks
from trainyard.model.cluster import Cluster
from trainyard.model.ids import Ids
from trainyard.model.launch import Launch
from trainyard.model.network import Network
from trainyard.model.priority import Priority
from trainyard.model.quantity import counted
from trainyard.model.queue import LocalQueue, Queue
from trainyard.model.storage import Allowance, Claim, StoredSecret
from trainyard.model.team import NO_QUEUE, MpiJobs, Team, TeamSpace


@dataclass(frozen=True, slots=True)
class Grant:
    """A runtime that a namespace's jobs may use.

    Args:
        nodes: pods of the largest job with it, launcher included.
    """

    launch: Launch
    nodes: int

    @property
    def size(self) -> str:
        """The largest job as text, e.g. ``8 nodes``; on a share of a node its pods."""
        return counted(self.nodes, "node" if self.launch.part == 1 else "pod")

    @property
    def gpus(self) -> int:
        """GPUs of the largest job."""
        return self.nodes * self.launch.gpus


def _plainness(grant: Grant) -> tuple[bool | int | str, ...]:
    """Return the order of runtimes by what their jobs show of the nodes."""
    launch, runtime = grant.launch, grant.launch.runtime
    return (
        bool(runtime.end),
        grant.nodes < 2,
        launch.part < 1,
        -launch.ports,
        -launch.gpus,
        bool(runtime.export),
        runtime.launcher.name not in runtime.name,
        len(runtime.libraries),
        launch.name,
    )


@dataclass(frozen=True, slots=True)
class Sample:
    """A TrainJob to copy, or one that somebody asks for.

    Args:
        size: pods of the job; 0 for two, or one where two are too many or partly borrowed.
        command: of the job; that of the launcher when empty.
        args: of the command; the launcher's example when empty.
        priority: class of the job; None for the lowest.
        prefix: of its name, which ends in random letters then; empty for the name of its runtime.
        queue: name of a LocalQueue that leads to its nodes; empty for the usual one.
        test: name of the acceptance test that it runs; empty for none.
    """

    space: Space
    grant: Grant
    size: int = 0
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    priority: Priority | None = None
    prefix: str = ""
    test: str = ""
    queue: str = ""

    @property
    def launch(self) -> Launch:
        """The runtime on its nodes."""
        return self.grant.launch

    @property
    def local_queue(self) -> str:
        """The LocalQueue that it is in: without a label where that leads to its nodes."""
        own = self.launch.hardware.node_class
        return self.queue or (names.DEFAULT_QUEUE if self.space.default_class == own else own)

    @property
    def nodes(self) -> int:
        """Pods of the job."""
        return self.size or min(2, self.grant.nodes if self.test else self._own)

    @property
    def _own(self) -> int:
        """Pods of the largest job on the team's own nodes, at least those of the smallest job."""
        own = self.launch.runtime.smallest_job
        for flavor in chain.from_iterable(queue.flavors for queue in self.space.queues):
            if flavor.pool.hardware.name in self.launch.runtime.hardware:
                own = max(own, int(flavor.quota.nodes / self.launch.part))
        return min(self.grant.nodes, own)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The team's storage that it mounts; of the acceptance tests only one needs it."""
        return self.space.claims if self.test in {"", "storage"} else ()

    @property
    def buckets(self) -> tuple[StoredSecret, ...]:
        """S3 connections that it mounts."""
        return () if self.test else self.space.buckets

    @property
    def file(self) -> str:
        """Its file in the team's folder: namespace, runtime, and nodes if the runtime has several.

        The team's own namespace is left out.
        """
        if self.test:
            return f"test-{self.test}"
        runtime = self.launch.runtime.name
        several = sum(launch.runtime.name == runtime for launch in self.space.launches) > 1
        parts = (self.space.profile.name, runtime, self.launch.nodes if several else "")
        return "-".join(filter(None, parts))

    @property
    def name(self) -> str:
        """Name of the TrainJob."""
        return names.sample(self.space.team.name, self.file)


@dataclass(frozen=True, slots=True)
class Space:
    """A namespace of a team on one cluster, complete.

    Args:
        ids: user ids that the ledger gives it; None where OpenShift or the release does.
    """

    team: Team
    profile: TeamSpace
    cluster: Cluster
    queues: tuple[Queue, ...]
    grants: tuple[Grant, ...]
    priorities: tuple[Priority, ...]
    networks: tuple[Network, ...]
    claims: tuple[Claim, ...]
    allowances: tuple[Allowance, ...]
    secrets: tuple[StoredSecret, ...]
    ids: Ids | None

    @property
    def namespace(self) -> str:
        """Its name on the cluster."""
        return self.profile.namespace

    @property
    def default_queue(self) -> Queue | None:
        """Queue of jobs without a queue's label; None where the team wants none.

        It is that of the class that the team names, else of nodes with GPUs, else the only one.
        """
        wanted = self.team.default_queue
        if wanted == NO_QUEUE:
            return None
        return max(
            self.queues,
            key=lambda each: (each.node_class == wanted, each.node_class == "gpu"),
            default=None,
        )

    @property
    def default_class(self) -> str:
        """Class of node for jobs without a queue's label; empty where no queue takes them."""
        queue = self.default_queue
        return queue.node_class if queue and self.is_led_to(queue) else ""

    @property
    def local_queues(self) -> tuple[LocalQueue, ...]:
        """Names by which its jobs ask for a queue: classes of node, none at all, further ones."""
        named = [LocalQueue(queue.node_class, queue) for queue in self.queues]
        if self.default_queue and self.default_class:
            named.append(LocalQueue(names.DEFAULT_QUEUE, self.default_queue))
        for queue in self.queues:
            named += [LocalQueue(name, queue) for name in self.further_names(queue)]
        return tuple(named)

    def leads(self, name: str, node_class: str) -> bool:
        """Return whether a queue of this name leads to nodes of a class."""
        there = ((each.name, each.queue.node_class) for each in self.local_queues)
        return (name, node_class) in there

    def further_names(self, queue: Queue) -> tuple[str, ...]:
        """Return the further names of a queue; none before it is led to."""
        stated = self.profile.queues if self.is_led_to(queue) else ()
        return tuple(sorted(each.name for each in stated if each.node_class == queue.node_class))

    def is_led_to(self, queue: Queue) -> bool:
        """Return whether a queue has more names than its class of node.

        While a site is adopted, not before it is open: the site's own queues have the further
        names, and `default` would hold jobs that start without a queue today.
        """
        return queue.state.is_open or not (self.cluster.adoption.until or self.team.stage.until)

    @property
    def launches(self) -> tuple[Launch, ...]:
        """Runtimes that its jobs may use."""
        return tuple(grant.launch for grant in self.grants)

    @property
    def default_launch(self) -> Launch | None:
        """The team's default runtime, in the default queue if it is there; None without one."""
        wanted, queue = self.team.default_runtime, self.default_queue
        preferred = queue.node_class if queue else ""
        return max(
            (launch for launch in self.launches if launch.runtime.name == wanted),
            key=lambda each: (each.hardware.node_class == preferred, each.part == 1),
            default=None,
        )

    @property
    def samples(self) -> tuple[Sample, ...]:
        """A job to copy for each runtime."""
        return tuple(Sample(self, grant) for grant in self.grants)

    @property
    def mounts(self) -> tuple[str, ...]:
        """Paths of its volumes in its jobs."""
        return tuple(claim.mount_path for claim in self.claims)

    @property
    def tests(self) -> tuple[Sample, ...]:
        """The acceptance tests that its runtimes can run; none in a team's further namespaces."""
        if self.profile.name:
            return ()
        chosen = ((test, self.tested(test)) for test in TESTS)
        return tuple(Sample(self, grants[0], test=test) for test, grants in chosen if grants)

    def tested(self, test: str) -> tuple[Grant, ...]:
        """Return the runtimes that can run an acceptance test.

        First that with the most rails and GPUs and with nothing that the test does not use.
        """
        able = (grant for grant in self.grants if not self.lacks(test, grant))
        return tuple(sorted(able, key=_plainness))

    def lacks(self, test: str, grant: Grant) -> str:
        """Return what a runtime lacks for an acceptance test; empty when it can run it."""
        return lacks(test, grant.launch, grant.nodes, bool(self.claims))

    @property
    def buckets(self) -> tuple[StoredSecret, ...]:
        """S3 connections."""
        return tuple(secret for secret in self.secrets if secret.kind == "s3")

    @property
    def made_volumes(self) -> tuple[Claim, ...]:
        """Claims whose PersistentVolume we make."""
        return tuple(claim for claim in self.claims if claim.storage.kind == "nfs")

    @property
    def claimable_classes(self) -> tuple[str, ...]:
        """Storage classes that its admins may claim of."""
        return tuple(sorted({allowance.storage.storage_class for allowance in self.allowances}))

    @property
    def mpi_jobs(self) -> MpiJobs | None:
        """Time in which its users may create MPIJobs; None where they may not."""
        return self.team.mpi_jobs.get(self.cluster.name)

    @property
    def limits_name(self) -> str:
        """Name of the ConfigMap with limits of jobs, and of the binding of their policy."""
        return names.job_limits(self.namespace)

    @property
    def own_runtimes_name(self) -> str:
        """Name of the binding of the policy on its TrainingRuntimes."""
        return names.own_runtimes(self.namespace)

    @property
    def help_name(self) -> str:
        """Name of the binding of the policy that keeps a job from hanging."""
        return names.job_help(self.namespace)

    @property
    def mpi_limits_name(self) -> str:
        """Name of the binding of the policy that limits MPIJobs."""
        return names.mpi_job_limits(self.namespace)

    @property
    def mpi_end_name(self) -> str:
        """Name of the binding of the policy that warns of the last day of MPIJobs."""
        return names.mpi_job_end(self.namespace)
