"""One cluster's control plane with its components and nodes, ready for its tree."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trainyard.diagnostics import ToolError, TreeError
from trainyard.model.platform import Site
from trainyard.yaml_io.manifests import parse_manifests
from trainyard_rehearsal.control_plane import compute_domains, controllers, local_cluster
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.build import Built
from trainyard_rehearsal.control_plane.components import Components
from trainyard_rehearsal.control_plane.controllers import Running
from trainyard_rehearsal.control_plane.custom_resource import (
    custom_resource,
    mpi_jobs,
    of_operators,
)
from trainyard_rehearsal.control_plane.endpoint import ADMIN, ControlPlane, Endpoint
from trainyard_rehearsal.control_plane.job_policies import JobPolicies, played
from trainyard_rehearsal.control_plane.kind import KindCluster
from trainyard_rehearsal.control_plane.nodes import nodes, nodes_of, start_kwok
from trainyard_rehearsal.control_plane.processes import LOGS, START, Processes, free_ports

AUDIT_POLICY = "operators/audit-policy.yaml"
"""The file of a tree that its API server takes, in a release that has it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of a control plane.

    Args:
        site: the cluster.
        tree: the cluster's folder in the committed tree.
        components: components of the cluster's release.
        kinds: ``apiVersion`` and kind of every object that will be applied.
    """

    site: Site
    tree: Path
    components: Components
    kinds: Collection[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Lab:
    """A running control plane.

    Args:
        own_crds: kinds whose CustomResourceDefinition is generated from our own schema.
        kubeconfig: the administrator's.
        job_policies: what plays Trainer's NetworkPolicies; None where the release has none.
    """

    plan: Plan
    api: Api
    processes: Processes
    built: Built
    own_crds: tuple[str, ...]
    kubeconfig: Path
    job_policies: JobPolicies | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A running control plane, whose programs can be exchanged.

    Args:
        running: controllers by name.
    """

    lab: Lab
    endpoint: Endpoint
    running: Mapping[str, Running]


@contextmanager
def alone(cache: Path) -> Iterator[None]:
    """Hold the lock of the cache, so that no other rehearsal runs.

    Raises:
        ToolError: another rehearsal is running.
        TreeError: a file of the cache can't be written or read, usually because the disk is full.
    """
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise TreeError(f"{cache} is not a folder; have TRAINYARD_CACHE name one") from None
    with (cache / "lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ToolError(
                f"another rehearsal is running (it holds {cache / 'lock'}); wait for its end"
            ) from None
        try:
            yield
        except OSError as error:
            raise TreeError(f"{error.filename or cache}: {error.strerror or error}") from error


@contextmanager
def opened(plan: Plan, built: Built, folder: Path) -> Iterator[Lab]:
    """Start a control plane with the nodes of a cluster, and end it on any exit.

    Args:
        plan: as `standing` takes it.
        built: as `standing` takes it.
        folder: as `standing` takes it.

    Raises:
        ToolError: as `standing`.
    """
    with standing(plan, built, folder) as found:
        yield found.lab


@contextmanager
def standing(plan: Plan, built: Built, folder: Path) -> Iterator[Standing]:
    """Start a control plane whose programs can be exchanged, and end it on any exit.

    Its logs stay.

    Args:
        plan: cluster, tree and components.
        built: the release's programs.
        folder: folder of this run; it is deleted first.

    Raises:
        ToolError: a program does not start; the message has the end of its log.
    """
    site, components = plan.site, plan.components
    plane: ControlPlane = local_cluster
    if components.node_image:
        plane = KindCluster(components.node_image)
    policy = plan.tree / AUDIT_POLICY
    with (
        cleared(folder),
        plane.running(built, folder, policy if policy.exists() else None) as endpoint,
        endpoint.api() as api,
    ):
        ports = free_ports(len(components.controllers), endpoint.address)
        running = {
            each.name: Running(each, endpoint, port, plan.tree)
            for each, port in zip(components.controllers.values(), ports, strict=True)
        }
        own_crds = _serve_kinds(plan, endpoint, api, running)
        plane.start_controllers(endpoint)
        start_kwok(endpoint)
        for namespace in _namespaces(site, components):
            api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        for node in nodes(site):
            api.create(node)
        controllers.start(running, api)
        kubeconfig = endpoint.kubeconfig(ADMIN)
        with _job_policies(plan, api) as policies, _compute_domains(plan, api):
            lab = Lab(plan, api, endpoint.processes, built, own_crds, kubeconfig, policies)
            yield Standing(lab, endpoint, running)


@contextmanager
def _job_policies(plan: Plan, api: Api) -> Iterator[JobPolicies | None]:
    """Play the part of the release's Trainer that upstream's lacks; None where it lacks nothing."""
    if not plan.site.cluster.release.isolates_jobs:
        yield None
        return
    with played(api, plan.components.controllers["trainer"].account) as policies:
        yield policies


@contextmanager
def _compute_domains(plan: Plan, api: Api) -> Iterator[None]:
    """Play the driver that gives pods NVLink to other nodes, where the tree uses it."""
    pools = [pool for pool in plan.site.cluster.pools if pool.has_nvlink]
    if not pools:
        yield
        return
    connected = [node["metadata"]["name"] for pool in pools for node in nodes_of(pool)]
    with compute_domains.played(api, connected):
        yield


@contextmanager
def cleared(folder: Path) -> Iterator[None]:
    """Delete a folder, and in the end all but the logs of what ran in it: etcd has 600 MB."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield
    finally:
        for path in folder.glob("*"):
            if not path.is_dir():
                path.unlink()
            elif path.name != LOGS:
                shutil.rmtree(path, ignore_errors=True)


def _serve_kinds(
    plan: Plan, endpoint: Endpoint, api: Api, running: Mapping[str, Running]
) -> tuple[str, ...]:
    """Serve every kind of the release; return the kinds that come from our own schemas."""
    published, own = kinds_of_others(plan, endpoint.built)
    controlled = (body for each in running.values() for body in each.crds())
    serve(endpoint, api, [*controlled, *published, *own])
    return tuple(f"{body['spec']['names']['kind']}.{body['spec']['group']}" for body in own)


def kinds_of_others(plan: Plan, built: Built) -> tuple[list[Body], list[Body]]:
    """Return the custom resources of operators that do not run here: modules', and our own."""
    published = [
        *_published(built),
        *controllers.kustomized(built.programs["kubectl"], built.manifests["argocd"] / "crds"),
    ]
    own = [*_handwritten(plan), *([mpi_jobs()] if plan.site.mpi_spaces else []), *of_operators()]
    return published, own


def serve(endpoint: Endpoint, api: Api, bodies: Sequence[Body]) -> None:
    """Serve custom resources.

    Raises:
        ToolError: one is not served in time.
    """
    for body in bodies:
        body.pop("status", None)
        api.apply(body)
    for name in [body["metadata"]["name"] for body in bodies]:
        endpoint.processes.wait_until(
            partial(_established, api, name), f"the readiness of {name}", START
        )


def _published(built: Built) -> Iterator[Body]:
    for path in built.crds:
        for body in parse_manifests(path.read_text(encoding="utf-8")):
            assert isinstance(body, dict)
            body["spec"].pop("conversion", None)
            yield body


def _handwritten(plan: Plan) -> Iterator[Body]:
    """Yield custom resources from our own schemas, for kinds of the tree that no module has."""
    for path in sorted((plan.components.folder.parent / "handwritten").rglob("*.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        kind = schema["properties"]["kind"]["const"]
        group, version = path.parent.name, path.stem.rpartition("_")[2]
        if (f"{group}/{version}", kind) in plan.kinds:
            plural = plan.site.cluster.release.plural(group, kind)
            yield custom_resource(group, version, kind, plural, schema)


def _established(api: Api, name: str) -> bool:
    body = api.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)
    conditions = body.get("status", {}).get("conditions") or []
    return any(
        condition["type"] == "Established" and condition["status"] == "True"
        for condition in conditions
    )


def _namespaces(site: Site, components: Components) -> list[str]:
    """Return the namespaces outside the tree: the external ones and the controllers' own."""
    found = {controller.namespace for controller in components.controllers.values()}
    for name in site.cluster.external:
        kind, _, namespace = name.partition("/")
        if kind == "Namespace":
            found.add(namespace)
    return sorted(found)
