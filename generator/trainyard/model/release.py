"""A release: tested operator versions and what follows from them for every manifest. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainyard.diagnostics import Pointer, ToolError
from trainyard.model.derived import DerivedName
from trainyard.model.dns import Dns
from trainyard.model.monitoring import MetricSource
from trainyard.model.version import numbers


@dataclass(frozen=True, slots=True)
class KnownBad:
    """A version, or a combination of versions, that is known to fail.

    Args:
        components: component -> (from version, below version); an empty bound is open.
        needs: feature without which a release does not have the fault; empty for none.
        lacks: feature with which a release does not have the fault; empty for none.
        consequence: what was seen, in the controller's words.
    """

    components: Mapping[str, tuple[str, str]]
    needs: str
    lacks: str
    consequence: str

    def applies(self, versions: Mapping[str, str]) -> bool:
        """Return whether every component of it has one of these versions."""
        return all(
            component in versions
            and numbers(start) <= numbers(versions[component])
            and (not end or numbers(versions[component]) < numbers(end))
            for component, (start, end) in self.components.items()
        )

    def concerns(self, features: frozenset[str]) -> bool:
        """Return whether a release with some features can have the fault."""
        return self.needs in {"", *features} and self.lacks not in features


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed between versions of a component, of all that a tree writes or relies on.

    Args:
        first, last: the versions that were compared, both included.
        steps: minor version -> what it changed. One between `first` and `last` that is not here
            changed nothing; of later ones only what upstream announces is known.
    """

    first: str
    last: str
    steps: Mapping[str, str]

    def between(self, one: str, other: str) -> dict[str, str]:
        """Return the changes from one version to another, either way."""
        low, high = sorted((numbers(one)[:2], numbers(other)[:2]))
        return {at: what for at, what in self.steps.items() if low < numbers(at) <= high}

    def compares(self, *versions: str) -> bool:
        """Return whether the CRDs of some versions were compared."""
        ours = (numbers(version)[:2] for version in versions)
        return all(numbers(self.first) <= version <= numbers(self.last) for version in ours)


@dataclass(frozen=True, slots=True)
class Threshold:
    """A version of a component that an upgrade passes once.

    Args:
        means: ``one-way``: there is no way back; ``stuck-mpi-jobs``: jobs of MPI from before
            neither start nor stop.
        start: the first such version; empty where each newer version is one.
    """

    means: str
    component: str
    why: str
    start: str = ""

    def applies(self, before: str, after: str) -> bool:
        """Return whether an upgrade from one version to another passes it."""
        if not self.start:
            return numbers(before) < numbers(after)
        return numbers(before) < numbers(self.start) <= numbers(after)


@dataclass(frozen=True, slots=True)
class Schemas:
    """The strict schemas of a release.

    Args:
        base: name of the shipped release that has every schema that is not among its own.
        own: content by path, e.g. ``schemas/v1/namespace_v1.json``, of those that a release of the
            repository has itself.
        digest: of its folder, e.g. ``sha256:01..``; empty for a release that is shipped.
    """

    base: str
    own: Mapping[str, bytes] = field(default_factory=dict)
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Release:
    """The versions, names and features that a release pins.

    Args:
        name: e.g. ``openshift-ai-3.5``.
        tested: ``rehearsed`` with the real controllers, ``schemas``: only against those, or
            ``none``.
        versions: component -> version.
        brought_by: component -> who brings it; what one brings is upgraded at once.
        sdk: version of the Kubeflow SDK for its Trainer.
        features: what its controllers take, by name; templates of the catalog ask for them.
        sriov_namespace: the only namespace whose policies and networks the SR-IOV operator reads.
        resource_prefix: of SR-IOV resources.
        ipam: address plugin on the rails, ``whereabouts`` or ``nv-ipam``.
        ipam_namespace: of its pools; empty when it has none.
        argocd_namespace: default home of Argo CD.
        argocd_account: service account that its application controller applies with.
        namespace_labels: on each team's namespace.
        dns: who resolves names, unless a cluster states it.
        workspace_ingress: namespaces that must reach a project's workbenches and pipelines.
        metrics: component -> where its metrics are.
        controllers: user names that the admission policies exempt.
        system_namespaces: whose pods may use any node; one that ends with ``*`` is a prefix.
        gpu_namespace: of the GPU operator, whose daemons are on every node with GPUs.
        derived_names: what controllers name the objects that they make in a team's namespace.
        groups_podsets: whether Kueue can place a launcher and its nodes as one topology group.
        job_scc: SecurityContextConstraints that job pods are pinned to; empty where ids are given
            instead.
        pod_ids: user and groups of job pods; empty where the SCC gives them.
        display_name_key: annotation that a dashboard reads names from; empty when it has none.
        component_kinds: what a hand-written component may hold -> its ``apiVersion``.
        most_flavors, most_resources: of a queue, as the CRDs of its Kueue limit both ClusterQueue
        and LocalQueue.
        known_bad: versions that fail, alone or together.
        changes: component -> what its versions changed.
        thresholds: versions that an upgrade passes once.
        external: ``Kind/name`` -> owner, for what the platform ships.
        plurals: kind with its group, e.g. ``Topology.kueue.x-k8s.io`` -> its name in the API's
            paths, from its CRD or Kubernetes' OpenAPI specification.
        schemas: of the kinds that it has.
    """

    name: str
    at: Pointer
    tested: str
    versions: Mapping[str, str]
    brought_by: Mapping[str, str]
    sdk: str
    features: frozenset[str]
    sriov_namespace: str
    resource_prefix: str
    ipam: str
    ipam_namespace: str
    argocd_namespace: str
    argocd_account: str
    namespace_labels: Mapping[str, str]
    dns: Dns
    workspace_ingress: tuple[str, ...]
    metrics: Mapping[str, MetricSource]
    controllers: tuple[str, ...]
    system_namespaces: tuple[str, ...]
    gpu_namespace: str
    derived_names: tuple[DerivedName, ...]
    groups_podsets: bool
    job_scc: str
    pod_ids: Mapping[str, object]
    display_name_key: str
    component_kinds: Mapping[str, str]
    most_flavors: int
    most_resources: int
    known_bad: tuple[KnownBad, ...]
    changes: Mapping[str, Changes]
    thresholds: tuple[Threshold, ...]
    external: Mapping[str, str]
    plurals: Mapping[str, str]
    schemas: Schemas

    @property
    def digest(self) -> str:
        """Digest of its folder, e.g. ``sha256:01..``; empty for a release that is shipped."""
        return self.schemas.digest

    @property
    def identity(self) -> str:
        """Its name, and the digest of its folder where that may change under the same name."""
        return f"{self.name} {self.digest}".rstrip()

    def plural(self, group: str, kind: str) -> str:
        """Return the name of a kind in RBAC rules, e.g. ``topologies``.

        Raises:
            ToolError: a developer has added the kind, and not yet derived its schema.
        """
        name = f"{kind}.{group}" if group else kind
        if name not in self.plurals:
            raise ToolError(
                f"release {self.name} has no schema of {name}: a template or a component may write "
                "it, so run `make schemas` in the checkout"
            )
        return self.plurals[name]

    @property
    def reserved_config_maps(self) -> tuple[str, ...]:
        """Endings of the ConfigMaps that Trainer keeps beside a job, sorted."""
        of_jobs = [config_map for config_map in self._config_maps if config_map.of == "TrainJob"]
        return tuple(sorted(config_map.name.removeprefix("*") for config_map in of_jobs))

    @property
    def controller_config_maps(self) -> tuple[str, ...]:
        """Patterns of the names of ConfigMaps that controllers keep, but for those of jobs."""
        of_others = [config_map for config_map in self._config_maps if not config_map.is_of_a_job]
        return tuple(sorted(config_map.name for config_map in of_others))

    @property
    def _config_maps(self) -> list[DerivedName]:
        return [derived for derived in self.derived_names if derived.kind == "ConfigMap"]

    @property
    def isolates_jobs(self) -> bool:
        """Return whether Trainer writes a NetworkPolicy for each job; ours must not cancel it."""
        return "NetworkPolicy" in self.named_like_jobs

    @property
    def named_like_jobs(self) -> frozenset[str]:
        """Kinds of which each TrainJob gets an object with just its own name."""
        of_jobs = [derived for derived in self.derived_names if derived.of == "TrainJob"]
        return frozenset(derived.kind for derived in of_jobs if derived.is_bare)

    @property
    def patches_runtimes(self) -> bool:
        """Return whether a job has ``runtimePatches`` (Trainer 2.2) or ``podTemplateOverrides``."""
        return "runtime-patches" in self.features

    @property
    def has_projects(self) -> bool:
        """Return whether users may request projects: namespaces in which they are admins."""
        return "projects" in self.features
