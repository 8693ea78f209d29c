"""One cluster's control plane, up to the point where Argo CD would begin: components run, nodes are there, no tree."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from generator.diagnostics import ToolError
from generator.dialect.manifests import parse_manifests
from generator.model.platform import Site
from generator.rehearse import control_plane, controllers
from generator.rehearse.api import Api, Body
from generator.rehearse.build import Built
from generator.rehearse.certificates import write_certificates
from generator.rehearse.components import Components
from generator.rehearse.control_plane import ADMIN, Place
from generator.rehearse.controllers import Running
from generator.rehearse.custom_resource import custom_resource
from generator.rehearse.nodes import nodes
from generator.rehearse.processes import Processes, free_ports

_KUBERNETES_USERS = {
    "kube-controller-manager": "system:kube-controller-manager",
    "kube-scheduler": "system:kube-scheduler",
    "kwok": "kwok",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a control plane is started for.

    Args:
        site: the cluster.
        tree: its folder in the committed tree.
        components: of its release.
        kinds: ``apiVersion`` and kind of every object that will be applied.
    """

    site: Site
    tree: Path
    components: Components
    kinds: Collection[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Lab:
    """A control plane that runs.

    Args:
        own_crds: kinds whose CustomResourceDefinition was made from our own closed schema.
        kubeconfig: of its administrator.
    """

    plan: Plan
    api: Api
    processes: Processes
    built: Built
    own_crds: tuple[str, ...]
    kubeconfig: Path


@contextmanager
def alone(cache: Path) -> Iterator[None]:
    """Keep other rehearsals away.

    Raises:
        ToolError: one is running.
    """
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ToolError(f"another rehearsal is running (it holds {cache / 'lock'}); wait for its end") from None
        yield


@contextmanager
def opened(plan: Plan, built: Built, folder: Path) -> Iterator[Lab]:
    """Start a control plane with the nodes of a cluster, and end it whatever happens.

    Args:
        plan: what is to stand there.
        built: the release's programs.
        folder: of this run, ours alone; what an earlier run left there goes.

    Raises:
        ToolError: something does not start; its last words are told.
    """
    site, components = plan.site, plan.components
    shutil.rmtree(folder, ignore_errors=True)
    users = {ADMIN: ADMIN, **_KUBERNETES_USERS, **{each.name: each.account for each in components.controllers.values()}}
    with ExitStack() as stack:
        processes = stack.enter_context(Processes(folder / "logs"))
        certificates = write_certificates(folder / "certificates")
        port, *webhooks = free_ports(1 + len(components.controllers))
        place = Place(folder, built, certificates, port, users)
        control_plane.start_api(place, processes)
        api = stack.enter_context(place.api())
        running = {
            each.name: Running(each, place, own, plan.tree)
            for each, own in zip(components.controllers.values(), webhooks, strict=True)
        }
        own_crds = _serve_kinds(plan, place, api, processes, running)
        control_plane.start_controllers(place, processes)
        for namespace in _namespaces(site, components):
            api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        for node in nodes(site):
            api.create(node)
        controllers.start(running, processes, api)
        yield Lab(plan, api, processes, built, own_crds, place.kubeconfig(ADMIN))


def _serve_kinds(
    plan: Plan, place: Place, api: Api, processes: Processes, running: dict[str, Running]
) -> tuple[str, ...]:
    """Have the API server know every kind of the release; return those that no module has."""
    published = [*_published(place.built), *(body for each in running.values() for body in each.crds())]
    published += controllers.kustomized(place.built.programs["kubectl"], place.built.manifests["argocd"] / "crds")
    own = list(_handwritten(plan.components, plan.kinds))
    names = [body["metadata"]["name"] for body in (*published, *own)]
    for body in (*published, *own):
        body.pop("status", None)
        api.apply(body)
    for name in names:
        processes.wait_until(partial(_established, api, name), f"the readiness of {name}", 120)
    return tuple(f"{body['spec']['names']['kind']}.{body['spec']['group']}" for body in own)


def _published(built: Built) -> Iterator[Body]:
    for path in built.crds:
        for body in parse_manifests(path.read_text(encoding="utf-8")):
            assert isinstance(body, dict)
            body["spec"].pop("conversion", None)
            yield body


def _handwritten(components: Components, kinds: Collection[tuple[str, str]]) -> Iterator[Body]:
    """Yield custom resources made from our own schemas, for kinds of the tree that no module ships."""
    for path in sorted((components.folder / "handwritten").rglob("*.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        kind = schema["properties"]["kind"]["const"]
        group, version = path.parent.name, path.stem.rpartition("_")[2]
        if (f"{group}/{version}", kind) in kinds:
            yield custom_resource(group, version, kind, schema)


def _established(api: Api, name: str) -> bool:
    body = api.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)
    conditions = body.get("status", {}).get("conditions") or []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


def _namespaces(site: Site, components: Components) -> list[str]:
    """Return the namespaces that others than Trainyard make: declared as external, and the controllers' own."""
    external = (name.removeprefix("Namespace/") for name in site.cluster.external if name.startswith("Namespace/"))
    return sorted({*external, *(each.namespace for each in components.controllers.values())})
