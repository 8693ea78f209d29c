"""A change that an audit must find, and the places of such changes in the committed tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.audit.tree import Tree

Audit = Callable[[Tree], Iterator[str]]
PROD, LAB = "prod-east", "lab"


@dataclass(frozen=True)
class Defect:
    """A change to one object that an audit must find.

    Args:
        at: path of the file, or its end.
        path: keys and indexes of the changed value; empty to remove the whole object.
        value: the new value; None to remove it.
        cluster: cluster of the tree.
    """

    audit: Audit
    at: str
    path: tuple[str | int, ...]
    value: Any = None
    cluster: str = PROD


NETWORK = "teams/nlp/networkattachmentdefinition-ib-rail-0.yaml"
QUEUE = "clusterqueue-nlp-gpu.yaml"
RESOURCES = ("spec", "resourceGroups", 0, "flavors", 0, "resources")
RUNTIME = "clustertrainingruntime-deepspeed-v1-dgx-h100.yaml"
REPLICATED = ("spec", "template", "spec", "replicatedJobs")
POD = (*REPLICATED, 0, "template", "spec", "template", "spec")
CONTAINER = (*POD, "containers", 0)
FLAVOR = RESOURCES[:-1]
VLAN = "sriovnetwork-team-nlp-roce-rail-0.yaml"
POOL = "ippool-nlp-roce-rail-0.yaml"
PORT = "sriovnetworknodepolicy-dgx-h100-rail-0.yaml"
