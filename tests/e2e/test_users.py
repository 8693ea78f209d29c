"""The pages for users, followed by a member of a team on real controllers, with `kubectl` and the
SDK."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.kubelet import kubelet
from tests.e2e.setup import CLUSTER, NEW, OLD, Setup
from tests.e2e.stage import Scene, Stage
from tests.pages import ROOT, USERS, done, type_page
from trainyard.golang import cache_folder
from trainyard.yaml_io.reader import read
from trainyard_rehearsal.checks.jobs import member as as_member
from trainyard_rehearsal.checks.kubeconfigs import kubeconfig
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.processes import LOOPBACK, START, answers, free_ports
from trainyard_rehearsal.control_plane.sdk import find_sdk

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [OLD, NEW], indirect=True, ids=[OLD.name, NEW.name]),
]
NAMESPACE = "team-nlp"
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


def member(scene: Scene, folder: Path) -> dict[str, str]:
    """Return the environment of a member of team nlp: a kubeconfig, `kubectl`, and the SDK."""
    lab = scene.lab
    config = kubeconfig(lab, "user", *as_member(scene.space(NAMESPACE)))
    programs = folder / "programs"
    programs.mkdir()
    (programs / "kubectl").symlink_to(lab.built.programs["kubectl"])
    modules = find_sdk(scene.site.cluster.release.sdk, cache_folder())
    python = programs / "python"
    python.write_text(
        f'#!/bin/sh\nKUBECONFIG="{proxied(lab, config)}" PYTHONPATH="{modules}"'
        f' exec "{sys.executable}" "$@"\n',
        "utf-8",
    )
    python.chmod(0o755)
    return {"KUBECONFIG": str(config), "PATH": str(programs)}


def proxied(lab: Lab, config: Path) -> Path:
    """Return a kubeconfig with which the SDK acts as the user of another one.

    The Kubernetes client for Python can't impersonate, so kubectl does it between both.
    """
    (port,) = free_ports(1)
    command = [str(lab.built.programs["kubectl"]), "--kubeconfig", str(config), "proxy"]
    lab.processes.start_as("user-proxy", [*command, "--port", str(port)], {})
    lab.processes.wait_until(lambda: answers(port), "the start of kubectl proxy", START)
    context = {"cluster": "proxy", "user": "proxy", "namespace": NAMESPACE}
    path = config.with_name("user-proxy.kubeconfig")
    path.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "proxy",
                "clusters": [{"name": "proxy", "cluster": {"server": f"http://{LOOPBACK}:{port}"}}],
                "users": [{"name": "proxy", "user": {}}],
                "contexts": [{"name": "proxy", "context": context}],
            }
        ),
        "utf-8",
    )
    return path


def test_pages_do_what_they_show(stage: Stage, tmp_path: Path) -> None:
    """One folder, one person, page after page."""
    scene = stage.deploy(profiles(stage.setup))
    assert not scene.refused
    settle(scene.lab)
    variables = member(scene, tmp_path)
    for part in ("profiles", "overlays"):
        shutil.copytree(ROOT / part, tmp_path / part)
    with kubelet(scene.lab, NAMESPACE):
        for page in PAGES:
            if page == "troubleshooting":
                done(tmp_path, "kubectl", "create", "--filename", "first.yaml", **variables)
            type_page(USERS / f"{page}.md", tmp_path, variables)


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
