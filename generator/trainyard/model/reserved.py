"""Names that nobody but the delivery gives: those of the tree, and what would answer for a host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import chain

from trainyard.model import names
from trainyard.model.named import by_name
from trainyard.model.platform import Site

BINDINGS = (
    *("admin", "debugger", names.FINISHED_JOBS, "mpijobs-admin", "mpijobs-user", "mpijobs-viewer"),
    *("runtimes", "user", "viewer"),
    # KubeRay binds a role to the account with the name of a RayCluster.
    names.JOB_ACCOUNT,
)
"""Names of RoleBindings in a team's namespace that only the tree gives, now or later."""


def job_names(site: Site) -> tuple[str, ...]:
    """Return patterns of the names that no job of a cluster may have, sorted.

    A controller makes objects with just the name of a job. So a job may have no name that the tree
    or another controller gives to an object of such a kind, now or later.
    """
    alike = site.cluster.release.named_like_jobs
    found = {f"{names.RESERVED_PREFIX}*", *_of_others(site), *_stems(site)}
    if "NetworkPolicy" in alike:
        found |= {*names.NETWORK_POLICIES, names.egress_policy()}
    if "Service" in alike:
        found |= {host for host in hosts(site) if "." not in host}
    return tuple(sorted(found))


def _of_others(site: Site) -> Iterator[str]:
    """Yield other controllers' patterns for kinds of which each job gets an object too."""
    alike = site.cluster.release.named_like_jobs
    for derived_name in site.cluster.release.derived_names:
        if derived_name.kind in alike and not derived_name.is_of_a_job and not derived_name.is_bare:
            yield derived_name.name


def _stems(site: Site) -> Iterator[str]:
    """Yield names of MPIJobs for which their operator needs the name of an object of the tree."""
    if not site.mpi_spaces:
        return
    cluster = site.cluster
    secret_names = {*by_name(cluster.storage), *by_name(cluster.pull_secrets)}
    taken = {"ConfigMap": set(config_maps(site)), "Secret": secret_names}
    for derived_name in cluster.release.derived_names:
        if derived_name.of == "MPIJob":
            ending = derived_name.name.removeprefix("*")
            for name in taken.get(derived_name.kind, ()):
                if name.endswith(ending):
                    yield name.removesuffix(ending)


def is_no_job_name(name: str, site: Site) -> bool:
    """Return whether no job of a cluster may have a name."""
    return fits(name, job_names(site))


def fits(name: str, patterns: Iterable[str]) -> bool:
    """Return whether a name is of one of some patterns."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def claims(site: Site) -> tuple[str, ...]:
    """Return the names of claims that the tree makes now, or when a team requests them."""
    mounted = [storage.name for storage in site.cluster.storage if storage.kind != "s3"]
    return tuple(sorted(mounted))


def config_maps(site: Site) -> tuple[str, ...]:
    """Return the names of the ConfigMaps of the components that teams list, sorted."""
    names_of_config_maps = set()
    for component in chain.from_iterable(tenant.components for tenant in site.tenants):
        for _, _, body in component.each():
            if body["kind"] == "ConfigMap":
                names_of_config_maps.add(str(body["metadata"]["name"]))
    return tuple(sorted(names_of_config_maps))


def shadowing_namespaces(site: Site) -> tuple[str, ...]:
    """Return the namespaces in which a Service would answer for a host of the profiles, sorted.

    Pods look a name with less than five dots up in the cluster first: ``s3.example.com`` is
    ``s3`` behind the Service ``example`` of the namespace ``com``, and
    ``kubernetes.default.svc`` is in the namespace ``svc``.
    """
    shadowing = {"svc"}
    for host in hosts(site):
        _, dot, last = host.rpartition(".")
        if dot and not last.isdecimal():
            shadowing.add(last)
    return tuple(sorted(shadowing))


def secrets(site: Site) -> tuple[str, ...]:
    """Return the names that Secrets of the tree have in teams' namespaces, sorted."""
    buckets = [storage.name for storage in site.cluster.storage if storage.kind == "s3"]
    return tuple(sorted({*buckets, *by_name(site.cluster.pull_secrets)}))


def hosts(site: Site) -> tuple[str, ...]:
    """Return the hosts that the profiles of a cluster name, sorted."""
    found = map(_host, (*_addresses(site), *_registries(site)))
    return tuple(sorted({*found} - {""}))


def _host(address: str) -> str:
    """Return the host of a URL, or of an address without scheme."""
    authority = address.rpartition("://")[2].partition("/")[0]
    return authority.rpartition("@")[2].partition(":")[0].rstrip(".").lower()


def _addresses(site: Site) -> Iterator[str]:
    """Yield the addresses of the Git repository, object stores and NFS servers."""
    cluster = site.cluster
    yield cluster.settings.repository
    for storage in cluster.storage:
        yield from (storage.endpoint, storage.server)


def _registries(site: Site) -> Iterator[str]:
    """Yield the registry of each image; an image without one has a host without dot or port."""
    cleanup = site.cluster.finished_jobs
    images = [cleanup.image] if cleanup else []
    for launch in site.launches:
        images.append(launch.runtime.image)
        images += [step.image for step in launch.runtime.initializers]
    for image in images:
        registry = image.partition("/")[0]
        if not {".", ":"}.isdisjoint(registry):
            yield registry
