from __future__ import annotations

import pytest

from tests.audit import capacity, delivery, isolation, roles, workloads
from tests.audit.tree import clusters, load

AUDITS = (*roles.AUDITS, *isolation.AUDITS, *capacity.AUDITS, *delivery.AUDITS, *workloads.AUDITS)


@pytest.mark.parametrize("audit", AUDITS, ids=lambda audit: audit.__name__)
@pytest.mark.parametrize("cluster", clusters())
def test_committed_tree_passes(cluster: str, audit) -> None:  # type: ignore[no-untyped-def]
    """Nothing in the committed tree is what the auditor forbids."""
    assert list(audit(load(cluster))) == []
