"""Find names, addresses, network ranges and image digests that no site can have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Network

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.cluster import Cluster
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware
from trainyard.rules._measured import MEASURED

EXAMPLE_HOSTS = (".example", ".example.com", ".example.net", ".example.org")
"""Names that cannot be registered (RFC 2606)."""


EXAMPLE_NETWORKS = tuple(map(IPv4Network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")))
"""Ranges for documentation, which are never routed (RFC 5737)."""


NO_DIGEST = f"@sha256:{'0' * 64}"
"""A digest that no image has."""


_SCHEME = re.compile(r"\A[a-z+]+://")


RULE = Rule(
    id="delivery/placeholder-left",
    severity=Severity.WARNING,
    summary="""
        The domain, addresses, network ranges, images and sizes of nodes in profiles are the site's
        own, not the placeholders that `trainyard init` and `add` write.
    """,
    why="""
        Argo CD cannot clone the repository or reach the cluster, pods cannot pull the image or
        mount the volume, and mail to the team reaches nobody. Policies are written for networks
        that the cluster does not have.
    """,
    fix="""
        Write your own values. `grep -rn '# placeholder' profiles` lists what `trainyard init` and
        `add` guessed.
    """,
)
_CAUSE = "placeholders are left that no site can have"
_GUESSED = (
    "Quota is computed from these numbers. With more than a node has, admitted jobs stay Pending; "
    "with less, a part of every node is never used."
)
_PERMANENT = (
    "The domain is permanent once a cluster has the tree: it is in the name of every label by "
    "which queues, policies and pools find namespaces and nodes."
)
_FIX_DOMAIN = (
    "Set `domain` to a domain of yours before the first sync. If a cluster has the tree already, "
    "remove the comment beside it."
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    messages = dict(_impossible(platform))
    for at, value in platform.placeholders:
        if isinstance(value, str) and _is_reserved(_host(value)):
            messages.setdefault(at, _reserved(_host(value)))
    domain = platform.settings.at / "domain"
    if messages.pop(domain, ""):
        message = f"`domain` is the placeholder `{platform.settings.domain}`"
        yield replace(RULE.at(domain, message, hint=_FIX_DOMAIN), consequence=_PERMANENT)
    for at, message in messages.items():
        yield RULE.at(at, message, cause=_CAUSE)
    yield from _unmeasured(platform)


def _unmeasured(platform: Platform) -> Iterator[Diagnostic]:
    """Yield a finding for each hardware profile with numbers that nobody has measured."""
    for each in hardware(platform):
        guesses = [at for at, _ in platform.placeholders if _is_size(at, each.at.file)]
        if guesses:
            fields = ", ".join(f"`{at.path[0]}`" for at in guesses)
            message = f"placeholders are left of what a `{each.name}` has: {fields}"
            hint = " ".join(MEASURED[str(at.path[0])] for at in guesses)
            found = RULE.at(guesses[0], message, hint=f"{hint} Remove the comments.")
            yield replace(found, consequence=_GUESSED)


def _is_size(at: Pointer, file: str) -> bool:
    return at.file == file and len(at.path) == 1 and at.path[0] in MEASURED


def _impossible(platform: Platform) -> Iterator[tuple[Pointer, str]]:
    """Yield the places of values that a site cannot have, whoever wrote them."""
    settings = platform.settings
    hosts = [(settings.repository, settings.at / "repository")]
    for cluster in (site.cluster for site in platform.sites):
        hosts += _hosts(cluster)
        yield from _networks(cluster)
    for text, at in hosts:
        if _is_reserved(_host(text)):
            yield at, _reserved(_host(text))
    for image, at in _images(platform):
        if image.endswith(NO_DIGEST):
            name = f"the digest of image `{image.partition('@')[0]}`"
            yield at, f"{name} is a placeholder: no image has a digest of zeros"


def _is_reserved(host: str) -> bool:
    return f".{host}".endswith(EXAMPLE_HOSTS)


def _reserved(host: str) -> str:
    return f"`{host}` is a placeholder: the name is reserved for examples (RFC 2606)"


def _images(platform: Platform) -> Iterator[tuple[str, Pointer]]:
    """Yield the images in profiles."""
    for runtime in platform.runtimes:
        yield runtime.image, runtime.at / "image"
        if runtime.initializers:
            yield runtime.initializers[0].image, runtime.at / "initialize" / "image"
    for site in platform.sites:
        cleanup = site.cluster.finished_jobs
        if cleanup:
            yield cleanup.image, cleanup.at / "image"


def _hosts(cluster: Cluster) -> list[tuple[str, Pointer]]:
    """Return the addresses in a cluster's profile that are resolved by name."""
    hosts = [(cluster.server, cluster.at / "server")]
    for storage in cluster.storage:
        if storage.kind == "nfs":
            hosts.append((storage.server, storage.at / "nfs" / "server"))
        if storage.kind == "s3":
            hosts.append((storage.endpoint, storage.at / "s3" / "endpoint"))
    return hosts


def _host(text: str) -> str:
    """Return the host of a URL, or of a bare name."""
    authority = _SCHEME.sub("", text.lower()).partition("/")[0]
    return authority.rpartition("@")[2].partition(":")[0]


def _networks(cluster: Cluster) -> Iterator[tuple[Pointer, str]]:
    for name, network in cluster.networks.items():
        if any(network.subnet_of(example) for example in EXAMPLE_NETWORKS):
            message = (
                f"{network} is a placeholder: the range is reserved for documentation (RFC 5737)"
            )
            yield cluster.at / "networks" / name, message


CHECK = Check(RULE, find)
