"""Whom pods of teams may ask for names, judged path by path."""

from __future__ import annotations

from typing import Any

import pytest

from tests.change.impact.paths import Path, is_open
from tests.rules.cases import messages, platform_of
from trainyard.change.impact.policies import EGRESS, NAME
from trainyard.render.site import render_site

CLUSTER, HOME = "clusters/prod-east.yaml", "openshift-dns"
LABELS = {"dns.operator.openshift.io/daemonset-dns": "default"}
CACHE, SERVICE = "169.254.20.10", "172.30.0.10"
OTHER_HOME = {"external": {"Namespace/resolvers": "network team"}}


def ask(
    address: str = "", port: int = 53, protocol: str = "UDP", namespace: str = "", **labels: str
) -> Path:
    """Return the path from a rank of a job to a host, or to a pod of a namespace."""
    where = {NAME.label: namespace} if namespace else None
    return Path({"job": "a"}, where, labels, address, protocol, port, "")


def may(dns: dict[str, Any] | None, path: Path) -> bool:
    """Return whether a team's pod may take a path, with what a profile states of name servers."""
    (site,) = platform_of({CLUSTER: {"dns": dns, **OTHER_HOME}} if dns else {}).sites
    policies = [
        each.body["spec"]
        for each in render_site(site)
        if (each.kind.name, each.namespace) == ("NetworkPolicy", "team-nlp")
    ]
    assert policies
    return is_open(policies, EGRESS, path)


POD = ask(namespace=HOME, port=5353)


@pytest.mark.parametrize("protocol", ["UDP", "TCP"])
def test_release_knows_the_pods(protocol: str) -> None:
    """On their own port, and no host is open."""
    assert may(None, POD._replace(protocol=protocol))
    assert not may(None, POD._replace(protocol=protocol, port=53))
    assert not may(None, ask(CACHE, protocol=protocol))


@pytest.mark.parametrize("protocol", ["UDP", "TCP"])
def test_caches_are_open_on_one_port_beside_the_pods(protocol: str) -> None:
    """Neither their neighbours nor the metadata service are."""
    dns = {"addresses": [CACHE, SERVICE]}

    assert may(dns, POD._replace(protocol=protocol))
    for address in (CACHE, SERVICE):
        assert may(dns, ask(address, protocol=protocol))
        assert not may(dns, ask(address, protocol=protocol, port=80))
    for address in ("169.254.20.11", "169.254.169.254", "172.30.0.1"):
        assert not may(dns, ask(address, protocol=protocol))


def test_labels_leave_out_the_other_pods_of_the_namespace() -> None:
    dns = {"labels": LABELS}

    assert may(dns, POD._replace(pod=LABELS))
    assert not may(dns, POD)


def test_stated_namespace_and_ports_replace_those_of_the_release() -> None:
    """`dns` is the whole answer for each key that it has."""
    dns = {"namespace": "resolvers", "ports": [1053]}

    assert may(dns, ask(namespace="resolvers", port=1053))
    assert not may(dns, POD)
    assert not may({"ports": [1053]}, POD)
    assert may({"ports": [1053]}, POD._replace(port=1053))


def test_namespace_of_others_needs_an_owner_and_that_of_the_release_none() -> None:
    """What nobody asks any more is not in the README's list."""
    changes = {CLUSTER: {"dns": {"namespace": "resolvers"}}}
    (message,) = messages("references/undeclared-external", changes)

    assert "`Namespace/resolvers`" in message
    changes[CLUSTER] |= OTHER_HOME
    assert messages("references/undeclared-external", changes) == []
    assert messages("references/stale-external", changes) == []


def test_addresses_are_sorted() -> None:
    """The order in the profile says nothing."""
    (one,), (two,) = (
        platform_of({CLUSTER: {"dns": {"addresses": addresses}}}).sites
        for addresses in ([CACHE, SERVICE], [SERVICE, CACHE])
    )
    assert [each.body for each in render_site(one)] == [each.body for each in render_site(two)]
