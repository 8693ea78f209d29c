"""Check that Argo CD brings the tree from Git to an empty cluster."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from trainyard.model.cluster import Cluster
from trainyard.render.alerts.rulesets import runbooks_url
from trainyard_rehearsal.checks.acceptance import in_sync_order
from trainyard_rehearsal.checks.git_delivery import Commit, GitDelivery
from trainyard_rehearsal.control_plane.fakes import STATUSES
from trainyard_rehearsal.control_plane.refusal import Refused
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_NO_MORE = "drift and changes can't be tried after that"


def check_sync(delivery: GitDelivery) -> Generator[Outcome, None, bool]:
    """Publish the tree, apply only its ``argocd/`` by hand, and wait for the rest.

    Args:
        delivery: to a control plane without a tree.

    Returns:
        Whether every Application is synced and healthy.
    """
    yield _compare_files(delivery)
    commit = Commit(delivery.repository.commit(delivery.tree.files), delivery.units)
    began = time.monotonic()
    if refused := tuple(_apply_by_hand(delivery)):
        yield Outcome("applications synced and healthy", 0, len(delivery.units), refused, _NO_MORE)
        return False
    failures = delivery.wait_until_synced(commit)
    written = sum(manifest.kind.name in STATUSES for manifest in delivery.tree.manifests)
    seconds = time.monotonic() - began
    remark = f"in {seconds:.0f} s; the rehearsal writes the status of {written} objects"
    remark += "; it starts the sync of the nodes' objects" if _has_manual_nodes(delivery) else ""
    remark += f"; {_NO_MORE}" if failures else ""
    yield counted("applications synced and healthy", len(delivery.units), failures, remark)
    return not failures


def _has_manual_nodes(delivery: GitDelivery) -> bool:
    cluster = delivery.lab.plan.site.cluster
    return cluster.has_node_unit and cluster.node_sync == "manual"


def _apply_by_hand(delivery: GitDelivery) -> Iterator[Failure]:
    """Apply the objects that Argo CD starts from; yield those that are refused."""
    for manifest in in_sync_order(delivery.tree.manifests):
        if manifest.unit != "argocd":
            continue
        content = delivery.tree.files[delivery.path(manifest)]
        try:
            delivery.lab.api.apply(manifest.body, content, manager="kubectl")
        except Refused as refused:
            yield Failure(manifest.path, str(refused), manifest.at)


def _compare_files(delivery: GitDelivery) -> Outcome:
    """Compare the files with the committed ones, which may differ in the repository's address."""
    site, tree = delivery.lab.plan.site, delivery.lab.plan.tree
    addresses = [*_addresses(site.cluster, delivery.repository.address)]
    files = _files_in(delivery, PurePosixPath(site.folder("")))
    count = 0
    failures = []
    for path, content in files.items():
        committed = (tree / path).read_bytes()
        count += content != committed
        for address, own in addresses:
            committed = committed.replace(address.encode(), own.encode())
        if content != committed:
            words = "differs from the committed file in more than the repository's address"
            failures.append(Failure(str(path), words, site.cluster.at))
    remark = f"{count} with the address of a repository of ours"
    return counted("files equal the committed ones", len(files), failures, remark)


def _addresses(cluster: Cluster, repository: str) -> Iterator[tuple[str, str]]:
    """Yield the repository's addresses that are there, and those of another repository."""
    ours = replace(cluster, settings=replace(cluster.settings, repository=repository))
    yield runbooks_url(cluster), runbooks_url(ours)
    yield cluster.settings.repository, repository


def _files_in(delivery: GitDelivery, root: PurePosixPath) -> dict[PurePosixPath, bytes]:
    """Return the files below a folder, by their path in it."""
    found = {}
    for name, content in delivery.tree.files.items():
        path = PurePosixPath(name)
        if path.is_relative_to(root):
            found[path.relative_to(root)] = content
    return found
