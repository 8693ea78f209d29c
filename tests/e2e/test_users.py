"""The pages for users, followed by a member of a team on real controllers, with `kubectl` and the
SDK."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.kubelet import kubelet
from tests.e2e.setup import CLUSTER, NEW, OLD, Setup
from tests.e2e.stage import Stage
from tests.pages import ROOT, USERS, done, type_page
from trainyard.yaml_io.reader import read
from trainyard_rehearsal.control_plane.fakes import settle

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [OLD, NEW], indirect=True, ids=[OLD.name, NEW.name]),
]
PAGES = ("quickstart", "job-states", "troubleshooting", "common-failures")
"""Pages that need a cluster, in the order in which one reads them."""


def profiles(setup: Setup) -> dict[str, Any]:
    """Return this repository's profiles, without components, as changes of the cases' base."""
    changes: dict[str, Any] = {}
    for path in sorted((ROOT / "profiles").rglob("*.yaml")):
        name = path.relative_to(ROOT / "profiles").as_posix()
        if not name.startswith("components/"):
            source, _ = read(name, path.read_bytes())
            changes[name] = {
                key: value for key, value in source.value.items() if key != "components"
            }
    changes[f"clusters/{CLUSTER}.yaml"] |= setup.settings
    return changes


def member(stage: Stage, folder: Path) -> dict[str, str]:
    """Return the environment of a member of team nlp: a kubeconfig, `kubectl`, and the SDK."""
    config = json.loads(stage.lab.kubeconfig.read_text("utf-8"))
    for each in config["users"]:
        each["user"] |= {"as": "somebody@nlp", "as-groups": ["nlp", "system:authenticated"]}
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(json.dumps(config), "utf-8")
    programs = folder / "programs"
    programs.mkdir()
    (programs / "kubectl").symlink_to(stage.lab.built.programs["kubectl"])
    return {"KUBECONFIG": str(kubeconfig), "PATH": str(programs)}


def test_pages_do_what_they_show(stage: Stage, tmp_path: Path) -> None:
    """One folder, one person, page after page."""
    scene = stage.deploy(profiles(stage.setup))
    assert not scene.refused
    settle(scene.lab)
    variables = member(stage, tmp_path)
    for part in ("profiles", "overlays"):
        shutil.copytree(ROOT / part, tmp_path / part)
    with kubelet(scene.lab, "team-nlp"):
        for page in PAGES:
            if page == "troubleshooting":
                done(tmp_path, "kubectl", "create", "--filename", "first.yaml", **variables)
            type_page(USERS / f"{page}.md", tmp_path, variables, _needs_no_sdk)


def _needs_no_sdk(block: str) -> bool:
    return "python notebook.py" not in block


def test_pages_quote_what_kueue_writes(stage: Stage) -> None:
    """A job that waits, and jobs that are evicted, show the words that users look up."""
    borrowing = {"quota": {CLUSTER: {"dgx-h100": {"borrow": 4}}}, "largestJob": {"nodes": 8}}
    scene = stage.deploy({"teams/nlp.yaml": borrowing})
    timed = scene.submit("nlp", 2, max_exec_time_seconds="1")
    assert scene.is_evicted(timed, shown("exceeding the maximum execution time"))
    wide = scene.submit("nlp", 8)
    assert scene.runs(wide)
    waiting = scene.submit("nlp", 4)
    assert scene.waits(waiting, shown("insufficient unused quota"), shown("more needed"))

    urgent = scene.submit("nlp", 4, priority_class="production")
    assert scene.is_evicted(wide, shown("due to prioritization in the ClusterQueue"))
    assert scene.runs(urgent, waiting)
    assert scene.runs(scene.submit("vision", 4))
    assert scene.is_evicted(waiting, shown("due to reclamation within the cohort"))


def shown(words: str) -> str:
    """Return words that the page of troubleshooting has."""
    assert words in (USERS / "troubleshooting.md").read_text("utf-8")
    return words
