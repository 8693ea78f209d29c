"""The platform of this repository, on which the teams of the cases submit their jobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.cli.calls import REPOSITORY
from trainyard.diagnostics import Pointer
from trainyard.generation.generate import Checked, check
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform
from trainyard.model.queue_name import QueueName
from trainyard.model.tenant import Tenant
from trainyard.render.site import render_site
from trainyard_jobs.workflows.convert import tenant_of

TODAY = "2026-11-21"


@pytest.fixture(scope="session")
def checked() -> Checked:
    return check(REPOSITORY / "profiles", TODAY)


@pytest.fixture(scope="session")
def platform(checked: Checked) -> Platform:
    assert checked.platform is not None
    return checked.platform


@pytest.fixture(scope="session")
def tenant(platform: Platform) -> Callable[[str, str], Tenant]:
    """Return a team on a cluster."""

    def found(team: str, cluster: str) -> Tenant:
        tenant = tenant_of(platform, team, cluster)
        assert tenant is not None
        return tenant

    return found


@pytest.fixture(scope="session")
def of_a_site(tenant: Callable[[str, str], Tenant]) -> Tenant:
    """Return a team whose queue of GPUs is also called ``site-queue`` in its own namespace."""
    found = tenant("nlp", "lab")
    first, *others = found.spaces
    queue = QueueName("site-queue", "gpu", Pointer("a"))
    named = replace(first, profile=replace(first.profile, queues=(queue,)))
    return replace(found, spaces=(named, *others))


@pytest.fixture(scope="session")
def manifests(platform: Platform) -> Callable[[str], tuple[Manifest, ...]]:
    """Return the objects of a cluster, which is rendered once."""
    rendered: dict[str, tuple[Manifest, ...]] = {}

    def found(cluster: str) -> tuple[Manifest, ...]:
        if cluster not in rendered:
            (site,) = (each for each in platform.sites if each.name == cluster)
            rendered[cluster] = tuple(render_site(site))
        return rendered[cluster]

    return found
