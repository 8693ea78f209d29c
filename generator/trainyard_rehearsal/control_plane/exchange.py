"""Exchange programs of a running control plane for those of another release, on the same etcd."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from trainyard_rehearsal.control_plane import controllers
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.build import Built
from trainyard_rehearsal.control_plane.controllers import Running
from trainyard_rehearsal.control_plane.lab import Plan, Standing, kinds_of_others, serve
from trainyard_rehearsal.control_plane.processes import START
from trainyard_rehearsal.control_plane.refusal import unless_gone

KUBERNETES = "kubernetes"
_SERVER = "kube-apiserver"
_OWN = ("kube-controller-manager", "kube-scheduler")
"""Kubernetes' controllers, which are upgraded after the API server (its version skew policy)."""
_WEBHOOKS = "admissionregistration.k8s.io/v1"


def on_tree(standing: Standing, plan: Plan) -> Standing:
    """Return a control plane that is to have another tree; its programs stay."""
    lab = standing.lab
    of_tree = replace(lab.plan, site=plan.site, tree=plan.tree, kinds=plan.kinds)
    return replace(standing, lab=replace(lab, plan=of_tree))


def exchange(standing: Standing, component: str, plan: Plan, built: Built) -> Standing:
    """Upgrade one component, as its owner does; etcd and everything in it stay.

    Args:
        standing: the control plane.
        component: of a release, e.g. ``kueue``. One that does not run here brings its kinds only.
        plan: of the new release.
        built: the new release's programs.

    Raises:
        ToolError: a program does not start or takes too long, or a kind is not served in time.
    """
    if component == KUBERNETES:
        return _exchange_kubernetes(standing, built)
    if component in standing.running:
        return _exchange_controller(standing, component, plan, built)
    published, own = kinds_of_others(plan, built)
    serve(standing.endpoint, standing.lab.api, [*published, *own])
    return standing


def hand_out(standing: Standing) -> Standing:
    """Restart the controllers whose configuration the tree changes, as who installs the file does.

    Raises:
        ToolError: a controller does not start.
    """
    running = dict(standing.running)
    tree = standing.lab.plan.tree
    for name, each in standing.running.items():
        new = replace(each, tree=tree)
        if new.configuration != each.configuration:
            standing.endpoint.processes.stop(name)
            controllers.start({name: new}, standing.lab.api)
        running[name] = new
    return replace(standing, running=running)


def _exchange_kubernetes(standing: Standing, built: Built) -> Standing:
    """Upgrade the API server, then Kubernetes' controllers; all others find it again."""
    processes, lab = standing.endpoint.processes, standing.lab
    processes.exchange(built.programs[_SERVER])
    processes.wait_until(lab.api.ready, "the start of the new API server", START)
    for name in _OWN:
        processes.exchange(built.programs[name])
    kubectl = {**lab.built.programs, "kubectl": built.programs["kubectl"]}
    return replace(standing, lab=replace(lab, built=replace(lab.built, programs=kubectl)))


def _exchange_controller(standing: Standing, name: str, plan: Plan, built: Built) -> Standing:
    """Upgrade a controller: its kinds first, then its roles and process, last its webhooks."""
    former, lab = standing.running[name], standing.lab
    endpoint = replace(standing.endpoint, built=built)
    controller = plan.components.controllers[name]
    new = Running(controller, endpoint, former.port, former.tree)
    endpoint.processes.stop(name)
    serve(endpoint, lab.api, [*new.crds()])
    controllers.start({name: new}, lab.api)
    known = {_key(body) for body in new.webhooks()}
    for body in _left(former, known):
        with unless_gone():
            lab.api.delete(body)
    running: Mapping[str, Running] = {**standing.running, name: new}
    return replace(standing, running=running)


def _left(former: Running, known: set[tuple[str, str]]) -> Iterator[Body]:
    """Yield the webhooks of a former version that the new one does not have."""
    for body in former.webhooks():
        if body["apiVersion"] == _WEBHOOKS and _key(body) not in known:
            yield body


def _key(body: Body) -> tuple[str, str]:
    return body["kind"], body["metadata"]["name"]
