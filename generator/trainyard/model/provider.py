"""A kind of fabric: what pods request, who owns the network, what separates teams there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from trainyard.model.link import Link


class Request(Enum):
    """What a pod requests of a fabric."""

    RAILS = "one virtual function of each rail"
    """Of virtual functions that the tree makes, each with the team's own network."""

    DEVICES = "every device of the node"
    """N of one extended resource, by the hardware: a device belongs to one pod."""

    SLOT = "one slot"
    """1 of one extended resource, whatever the number of ports: pods share them."""

    INTERFACES = "an interface in each network"
    """Of a list of networks, by annotations: the cloud adds what the scheduler counts."""


class Separation(Enum):
    """What a fabric keeps apart by itself."""

    PODS = "pods"
    """Each pod is in the segment of its team, on any node."""

    POOLS = "pools"
    """What the network's owner binds to the nodes: every pod on them reaches every other."""

    NOTHING = "nothing"
    """Pods of all nodes reach each other."""


@dataclass(frozen=True, slots=True)
class Annotations:
    """Annotations by which a pod asks for an interface in each of several networks.

    Args:
        interfaces: key of a JSON list of ``{"interfaceName": ..., "network": ...}``, the pod's own
            network first.
        default: key of the name of the interface with the default route.
        first: index of the first interface after the pod's own, ``eth0``.
        resources: extended resources by which nodes advertise a network; ``{}`` is its name.
    """

    interfaces: str
    default: str
    first: int
    resources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Provider:
    """A kind of fabric.

    Args:
        title: its name in the field, for pages.
        places: where people have it: clouds, or servers of their own.
        request: what a pod requests.
        link: technology of the rails; None where it has none.
        devices: extended resource that pods request; empty where the profile names it, or for
            rails and interfaces.
        network_owner: who makes the objects of the network.
        external: kinds under which a cluster declares the owners of what it needs.
        separation: what it keeps apart by itself.
        separated_by: what does so, in the field's words.
        whole_nodes: whether a pod must have all devices of its node, or its GPUs and its devices
            would be on different sides of the node.
        environment: variables of every rank.
        launcher: variables of what starts ranks, by the launcher's name.
        annotations: by which pods ask for interfaces; None where they do not.
        ucx: whether UCX has a transport for it that is known to work (verbs).
        proof: what NCCL's log has where the fabric is used, as a pattern of the shell.
        needs: what its owner sets up, one sentence each; ``{devices}`` is the resource.
        quota: how Kueue counts it, one sentence.
    """

    name: str
    title: str
    places: tuple[str, ...]
    request: Request
    link: Link | None
    devices: str
    network_owner: str
    external: tuple[str, ...]
    separation: Separation
    separated_by: str
    whole_nodes: bool
    proof: str
    needs: tuple[str, ...]
    quota: str
    ucx: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)
    launcher: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    annotations: Annotations | None = None

    @property
    def named(self) -> str:
        """Key under which the profile of a fabric names what pods ask for; empty without one."""
        if self.request is Request.INTERFACES:
            return "networks"
        return "" if self.request is Request.RAILS or self.devices else "devices"
