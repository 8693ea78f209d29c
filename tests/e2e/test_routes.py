"""Alertmanager's own amtool reads our routes, and sends each alert to who fixes it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.e2e.engines import AMTOOL, engine
from trainyard.yaml_io.reader import read

pytestmark = pytest.mark.e2e

OWNER = "platform-oncall"
NOBODY = "trainyard-nobody"
MAILED, TOLD = ("severity=warning",), ("severity=info",)


def body(path: Path) -> Any:
    return read(path.name, path.read_bytes())[0].value


def configured(cluster: str, folder: Path) -> Path:
    """Return a configuration as an owner has it, with the routes of a cluster added."""
    piece = body(REPOSITORY / f"overlays/{cluster}/monitoring/alertmanager-routes.yaml")
    config = {
        "global": {"smtp_smarthost": "mail.example.com:25", "smtp_from": "am@example.com"},
        "route": {"receiver": OWNER, **piece["route"]},
        "receivers": [{"name": OWNER}, *piece["receivers"]],
    }
    path = folder / "alertmanager.yml"
    path.write_text(json.dumps(config), "utf-8")
    return path


def amtool(*arguments: object) -> str:
    done = subprocess.run(
        [engine(AMTOOL), *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("cluster", ["lab", "prod-east"])
def test_alerts_of_a_team_go_to_its_contact(cluster: str, tmp_path: Path) -> None:
    config = configured(cluster, tmp_path)
    assert "SUCCESS" in amtool("check-config", config)
    receivers = {each["name"]: each for each in json.loads(config.read_text("utf-8"))["receivers"]}
    assert receivers[NOBODY] == {"name": NOBODY}

    def receiver(*labels: str, of: str = cluster) -> str:
        command = ("config", "routes", "test", f"--config.file={config}", f"cluster={of}")
        return amtool(*command, *labels).strip()

    teams = sorted(path.name for path in (REPOSITORY / f"overlays/{cluster}/teams").iterdir())
    for team in teams:
        contact = body(REPOSITORY / f"profiles/teams/{team}.yaml")["contact"]
        assert receiver("alertname=TrainyardJobIdle", f"team={team}", *MAILED) == contact
        # A job that fails is one of fifty, and only told.
        assert receiver("alertname=TrainyardJobFailed", f"team={team}", *TOLD) == NOBODY
        assert receiver("alertname=TrainyardJobIdle", f"team={team}", of="other") == OWNER
        # An alert of others, and a team whose name only begins alike.
        assert receiver("alertname=KubePodCrashLooping", f"team={team}", *TOLD) == OWNER
        assert receiver("alertname=TrainyardJobIdle", f"team={team}x") == OWNER
    assert receiver("alertname=TrainyardGpuXid", "team=platform", *MAILED) == OWNER
    assert receiver("alertname=TrainyardPoolPaused", "team=platform", *TOLD) == NOBODY
