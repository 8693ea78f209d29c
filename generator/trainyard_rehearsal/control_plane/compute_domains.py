"""Play NVIDIA's DRA driver, which gives pods NVLink to other nodes.

It does what kubernetes-sigs/dra-driver-nvidia-gpu does in the API at 95932046: the class of its
channels, those of each node (cmd/compute-domain-kubelet-plugin), and a template of claims for each
ComputeDomain, by its account (templates/compute-domain-workload-claim-template.tmpl.yaml). No
daemon of NVLink runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from trainyard.diagnostics import ToolError
from trainyard.model.nvlink import DEVICE_CLASS
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.refusal import Refused

_DOMAINS = "resource.nvidia.com/v1beta1"
_CLAIMS = "resource.k8s.io/v1"
_RBAC = "rbac.authorization.k8s.io"
_DRIVER = "compute-domain.nvidia.com"
_LABEL = "resource.nvidia.com/computeDomain"
_NAMESPACE, _ACCOUNT = "nvidia-dra-driver-gpu", "compute-domain-controller"
_SECONDS = 1.0
"""Between two looks at all ComputeDomains."""


@contextmanager
def played(api: Api, nodes: list[str]) -> Iterator[None]:
    """Play the driver in a thread until the end.

    Args:
        api: the administrator's client.
        nodes: with NVLink to each other.
    """
    for body in (_device_class(), *map(_channels, nodes), *_rights()):
        api.apply(body)
    groups = ["system:authenticated", "system:serviceaccounts"]
    own = [*groups, f"system:serviceaccounts:{_NAMESPACE}"]
    driver = api.acting(f"system:serviceaccount:{_NAMESPACE}:{_ACCOUNT}", own)
    end = Event()

    def work() -> None:
        while not end.wait(_SECONDS):
            try:
                _look(driver)
            except (Refused, ToolError):
                # Its rights are still to come, or the API server ends, which the rehearsal sees.
                continue

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def _look(driver: Api) -> None:
    """Write the template of each ComputeDomain that has none; delete those of domains that went."""
    domains = {body["metadata"]["uid"]: body for body in driver.list(_DOMAINS, "ComputeDomain")}
    templates = driver.list(_CLAIMS, "ResourceClaimTemplate", labels=_LABEL)
    of_domains = {body["metadata"]["labels"][_LABEL]: body for body in templates}
    for uid in domains.keys() - of_domains.keys():
        driver.create(_template(domains[uid]))
    for uid in of_domains.keys() - domains.keys():
        driver.delete(of_domains[uid])


def _template(domain: Body) -> Body:
    metadata, channel = domain["metadata"], domain["spec"]["channel"]
    parameters = {
        "apiVersion": _DOMAINS,
        "kind": "ComputeDomainChannelConfig",
        "domainID": metadata["uid"],
        "allocationMode": channel["allocationMode"],
    }
    opaque = {"driver": _DRIVER, "parameters": parameters}
    devices = {
        "requests": [{"name": "channel", "exactly": {"deviceClassName": DEVICE_CLASS}}],
        "config": [{"requests": ["channel"], "opaque": opaque}],
    }
    labels = {_LABEL: metadata["uid"], "resource.nvidia.com/computeDomainTarget": "Workload"}
    name = channel["resourceClaimTemplate"]["name"]
    return {
        "apiVersion": _CLAIMS,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": metadata["namespace"], "labels": labels},
        "spec": {"spec": {"devices": devices}},
    }


def _device_class() -> Body:
    attributes = f"device.attributes['{_DRIVER}']"
    expression = (
        f"device.driver == '{_DRIVER}' && {attributes}.type == 'channel' && {attributes}.id == 0"
    )
    return {
        "apiVersion": _CLAIMS,
        "kind": "DeviceClass",
        "metadata": {"name": DEVICE_CLASS},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


def _channels(node: str) -> Body:
    """Return what a node's plugin advertises: one channel, since the class takes no other."""
    attributes = {"type": {"string": "channel"}, "id": {"int": 0}}
    return {
        "apiVersion": _CLAIMS,
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{_DRIVER}"},
        "spec": {
            "driver": _DRIVER,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "channel-0", "attributes": attributes}],
        },
    }


def _rights() -> Iterator[Body]:
    """Yield the part of the driver's role that it needs here, and its binding."""
    rules = [
        _rule("resource.nvidia.com", "computedomains", "get list watch"),
        _rule("resource.k8s.io", "resourceclaimtemplates", "get list watch create update delete"),
    ]
    metadata, version = {"name": _ACCOUNT}, f"{_RBAC}/v1"
    yield {"apiVersion": version, "kind": "ClusterRole", "metadata": metadata, "rules": rules}
    yield {
        "apiVersion": version,
        "kind": "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": _ACCOUNT},
        "subjects": [{"kind": "ServiceAccount", "name": _ACCOUNT, "namespace": _NAMESPACE}],
    }


def _rule(group: str, resource: str, verbs: str) -> Body:
    return {"apiGroups": [group], "resources": [resource], "verbs": verbs.split()}
