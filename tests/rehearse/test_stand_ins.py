from __future__ import annotations

import pytest

from generator.diagnostics import ToolError
from generator.rehearse.lab import Lab
from generator.rehearse.stand_ins import settle
from tests.rehearse.served import Served


@pytest.mark.parametrize("used", [{}, {"pods": "0"}])
def test_quota_counts_all_that_it_limits(
    lab: Lab, server: Served, monkeypatch: pytest.MonkeyPatch, used: dict[str, str]
) -> None:
    """A quota that knows one of its kinds is not settled: whoever creates another is refused."""
    monkeypatch.setattr("generator.rehearse.stand_ins._PATIENCE", 0.1)
    hard = {"pods": "9", "count/trainjobs.trainer.kubeflow.org": "9"}
    quota = server.put("v1", "ResourceQuota", "jobs", "a", spec={"hard": hard}, status={"hard": hard, "used": used})
    with pytest.raises(ToolError, match="first count"):
        settle(lab)
    quota["status"]["used"] = dict.fromkeys(hard, "0")
    assert settle(lab) > 0
