"""Settings of every cluster and team."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.diagnostics import Pointer
from trainyard.model.owners import Owners
from trainyard.model.review import Review


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of every cluster and team (``trainyard.yaml``), as a cluster has them.

    Args:
        domain: prefix of labels and annotations; a cluster may have another one.
        domain_at: where it is stated.
        path: folder of the generated tree inside the repository.
        owners: who approves changes.
        review: limits of a change.
    """

    at: Pointer
    domain: str
    domain_at: Pointer
    repository: str
    branch: str
    path: str
    owners: Owners
    review: Review
