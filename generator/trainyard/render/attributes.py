"""Read attributes for templates: those of an object of the model, and those of its view.

A template gets objects of the model. A view adds what only templates ask for, so both are read in
the same way: ``{{ cluster.name }}`` and ``{{ cluster.taint_list }}``. No attribute is in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trainyard.model.cleanup import FinishedJobs
from trainyard.model.cluster import Cluster, Cohort
from trainyard.model.dns import Dns
from trainyard.model.fabric import DeviceFabric
from trainyard.model.ids import Ids
from trainyard.model.launch import Launch
from trainyard.model.monitoring import Logs, MetricSource
from trainyard.model.network import AddressPool, Egress, Network
from trainyard.model.platform import Site
from trainyard.model.pool import Pool, Rail
from trainyard.model.priority import Priority
from trainyard.model.queue import Queue
from trainyard.model.release import Release
from trainyard.model.runtime import Runtime, Step
from trainyard.model.space import Sample, Space
from trainyard.model.storage import StoredSecret
from trainyard.model.tenant import Tenant
from trainyard.model.topology import Topology
from trainyard.render.views.cluster import ClusterView, CohortView, PriorityView
from trainyard.render.views.dns import DnsView
from trainyard.render.views.launch import LaunchView
from trainyard.render.views.logs import LogsView
from trainyard.render.views.monitoring import MetricSourceView
from trainyard.render.views.network import (
    AddressPoolView,
    DeviceFabricView,
    EgressView,
    NetworkView,
    TopologyView,
)
from trainyard.render.views.pool import PoolView, RailView
from trainyard.render.views.queue import QueueView
from trainyard.render.views.release import FinishedJobsView, ReleaseView
from trainyard.render.views.runtime import RuntimeView, StepView
from trainyard.render.views.sample import SampleView
from trainyard.render.views.site import SiteView
from trainyard.render.views.space import IdsView, SpaceView
from trainyard.render.views.storage import StoredSecretView
from trainyard.render.views.tenant import TenantView

View = Callable[[Any], object]
"""Class of views: called with an object of the model."""

VIEWS: Mapping[type, View] = {
    AddressPool: AddressPoolView,
    Cluster: ClusterView,
    Cohort: CohortView,
    DeviceFabric: DeviceFabricView,
    Dns: DnsView,
    Egress: EgressView,
    FinishedJobs: FinishedJobsView,
    Ids: IdsView,
    Launch: LaunchView,
    Logs: LogsView,
    Network: NetworkView,
    Pool: PoolView,
    Priority: PriorityView,
    Queue: QueueView,
    Rail: RailView,
    Release: ReleaseView,
    Runtime: RuntimeView,
    Sample: SampleView,
    Site: SiteView,
    MetricSource: MetricSourceView,
    Space: SpaceView,
    Step: StepView,
    StoredSecret: StoredSecretView,
    Tenant: TenantView,
    Topology: TopologyView,
}


def _properties() -> Iterator[tuple[tuple[type, str], View]]:
    for model, view in VIEWS.items():
        for name, value in vars(view).items():
            if isinstance(value, property):
                yield (model, name), view


_VIEW_OF: Mapping[tuple[type, str], View] = dict(_properties())


def owner(value: object, name: str) -> object:
    """Return the object whose attribute a template means: a view of a value, or the value."""
    view = _VIEW_OF.get((type(value), name))
    return value if view is None else view(value)


def read(value: Any, name: str) -> Any:
    """Return an entry of a mapping, or an attribute of any other value or of its view.

    Raises:
        KeyError, AttributeError: there is none.
    """
    return value[name] if isinstance(value, Mapping) else getattr(owner(value, name), name)
