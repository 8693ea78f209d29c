"""The platform of this repository, and a control plane that consists of an API only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.fixtures import (  # noqa: F401
    here,
    repository,
    trainyard,
    tree,
    written,
)
from tests.conftest import REPOSITORY
from tests.rehearsal.served import Served, api_of, served
from trainyard.generation.generate import Generation, generate
from trainyard.model.platform import Site
from trainyard_rehearsal.control_plane.api import Api
from trainyard_rehearsal.control_plane.build import Built
from trainyard_rehearsal.control_plane.certificates import Certificates, write_certificates
from trainyard_rehearsal.control_plane.components import read_components
from trainyard_rehearsal.control_plane.lab import Lab, Plan
from trainyard_rehearsal.control_plane.processes import LOOPBACK, Processes


@pytest.fixture(scope="session")
def generation() -> Generation:
    """The tree of this repository's profiles."""
    return generate(REPOSITORY / "profiles", "../profiles/components")


@pytest.fixture(scope="session")
def sites(generation: Generation) -> dict[str, Site]:
    """Clusters of this repository by name."""
    platform = generation.checked.platform
    assert platform is not None
    return {site.name: site for site in platform.sites}


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates for loopback."""
    return write_certificates(tmp_path_factory.mktemp("keys") / "certificates", LOOPBACK)


@pytest.fixture
def server(certificates: Certificates) -> Iterator[Served]:
    """An API server."""
    with served(certificates) as what:
        yield what


@pytest.fixture
def api(server: Served, certificates: Certificates) -> Iterator[Api]:
    """The administrator's client of the API server."""
    with api_of(server, certificates) as api:
        yield api


@pytest.fixture
def lab(api: Api, sites: dict[str, Site], tmp_path: Path) -> Iterator[Lab]:
    """A control plane without controllers, for the cluster `lab` of this repository."""
    site = sites["lab"]
    plan = Plan(site, tmp_path / "tree", read_components(site.cluster.release.name), ())
    kubectl = tmp_path / "kubectl"
    kubectl.write_text("#!/bin/sh\n", encoding="utf-8")
    kubectl.chmod(0o755)
    with Processes(tmp_path / "logs") as processes:
        yield Lab(
            plan,
            api,
            processes,
            Built({"kubectl": kubectl}, {}, ()),
            (),
            tmp_path / "admin.kubeconfig",
        )
