"""Hosts of the profiles, and the namespaces and jobs that would answer for them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import platform_of
from trainyard.model.platform import Site
from trainyard.model.reserved import hosts, is_no_job_name, shadowing_namespaces


def site(endpoint: str, server: str = "nfs.corp.internal", **settings: Any) -> Site:
    """Return the base's cluster with other addresses."""
    storage = {"checkpoints": {"s3": {"endpoint": endpoint}}, "home": {"nfs": {"server": server}}}
    changes = {"clusters/prod-east.yaml": {"storage": storage}, "trainyard.yaml": settings}
    (found,) = platform_of(changes).sites
    return found


@pytest.mark.parametrize(
    ("endpoint", "namespace"),
    [
        ("https://s3.example.com", "com"),
        ("https://S3.Example.NET:9000/a.b/c", "net"),
        ("http://minio.storage.svc:9000", "svc"),
        ("http://minio.storage", "storage"),
        ("http://s3.example.dev./x", "dev"),
    ],
)
def test_last_label_of_a_host_is_no_namespace_of_a_tenant(endpoint: str, namespace: str) -> None:
    assert namespace in shadowing_namespaces(site(endpoint))


def test_an_address_is_no_name() -> None:
    found = site("https://203.0.113.7:9000", "203.0.113.8")

    assert {"203.0.113.7", "203.0.113.8"} <= set(hosts(found))
    assert not [each for each in shadowing_namespaces(found) if each.isdecimal()]


@pytest.mark.parametrize(
    "repository", ["ssh://git@git.example.org:22/a", "https://git.example.org/a"]
)
def test_the_repository_has_a_host(repository: str) -> None:
    assert "org" in shadowing_namespaces(site("https://s3.example.com", repository=repository))


def test_a_repository_on_disk_has_none() -> None:
    found = site("https://s3.example.com", repository="file:///srv/platform.git")

    assert not {"file", "srv"} & set(hosts(found))


def test_a_job_does_not_answer_for_a_host_of_one_word() -> None:
    """Its Service would be found in the team's own namespace first."""
    found = site("http://minio:9000")

    assert is_no_job_name("minio", found)
    assert not is_no_job_name("minio", site("https://s3.example.com"))
