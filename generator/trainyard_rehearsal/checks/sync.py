"""Whether Argo CD brings the tree to an empty cluster from Git."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from pathlib import PurePosixPath

from trainyard_rehearsal.checks.acceptance import in_order
from trainyard_rehearsal.checks.git_delivery import Commit, GitDelivery
from trainyard_rehearsal.control_plane.api import Refused
from trainyard_rehearsal.control_plane.fakes import STATUSES
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_NO_MORE = "drift and changes can't be tried after that"


def check_sync(delivery: GitDelivery) -> Generator[Outcome, None, bool]:
    """Publish the tree, apply its ``argocd/`` by hand and nothing else, and wait for the rest.

    Args:
        delivery: to a control plane without a tree.

    Returns:
        Whether everything came.
    """
    yield _moved(delivery)
    commit = Commit(delivery.repository.commit(delivery.tree.files), delivery.units)
    began = time.monotonic()
    if refused := tuple(_applied(delivery)):
        yield Outcome("applications synced and healthy", 0, len(delivery.units), refused, _NO_MORE)
        return False
    failures = delivery.settled(commit)
    fakes = sum(manifest.kind.name in STATUSES for manifest in delivery.tree.manifests)
    remark = (
        f"in {time.monotonic() - began:.0f} s; the rehearsal writes the status of {fakes} objects"
    )
    remark += "; it starts the sync of the nodes' objects" if _is_by_hand(delivery) else ""
    remark += f"; {_NO_MORE}" if failures else ""
    yield counted("applications synced and healthy", len(delivery.units), failures, remark)
    return not failures


def _is_by_hand(delivery: GitDelivery) -> bool:
    cluster = delivery.lab.plan.site.cluster
    return cluster.has_node_unit and cluster.node_sync == "manual"


def _applied(delivery: GitDelivery) -> Iterator[Failure]:
    """Apply by hand what Argo CD begins with; yield what is refused."""
    for manifest in (each for each in in_order(delivery.tree.manifests) if each.unit == "argocd"):
        try:
            delivery.lab.api.apply(
                manifest.body, delivery.tree.files[delivery.path(manifest)], manager="kubectl"
            )
        except Refused as refused:
            yield Failure(manifest.path, str(refused), manifest.at)


def _moved(delivery: GitDelivery) -> Outcome:
    """Compare the files with the committed ones: another repository's address is all that may differ."""
    site, tree = delivery.lab.plan.site, delivery.lab.plan.tree
    address, own = site.cluster.settings.repository.encode(), delivery.repository.address.encode()
    root = PurePosixPath(site.folder(""))
    ours = {PurePosixPath(path): content for path, content in delivery.tree.files.items()}
    ours = {
        path.relative_to(root): content
        for path, content in ours.items()
        if path.is_relative_to(root)
    }
    committed = {path: (tree / path).read_bytes() for path in ours}
    failures = [
        Failure(str(path), "differs from the committed file in more than that", site.cluster.at)
        for path, content in ours.items()
        if content != committed[path].replace(address, own)
    ]
    count = sum(content != committed[path] for path, content in ours.items())
    return counted(
        "files as committed",
        len(ours),
        failures,
        f"{count} with the address of a repository of ours",
    )
