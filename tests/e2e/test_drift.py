"""`trainyard drift` beside real API servers: the tree as they store it, and edits by kubectl."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.calls import REPOSITORY, Ended, process
from trainyard.cli.document import envelope
from trainyard.facts.collect import collect
from trainyard.facts.kubectl import Kubectl
from trainyard.generation.generate import generate
from trainyard.generation.objects import component_manifests
from trainyard.golang import cache_folder
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.render.views.site import SiteView
from trainyard.workflows.facts import scope_of
from trainyard_rehearsal.checks.acceptance import in_sync_order
from trainyard_rehearsal.control_plane.build import find
from trainyard_rehearsal.control_plane.components import queueing, read_components
from trainyard_rehearsal.control_plane.endpoint import ADMIN
from trainyard_rehearsal.control_plane.lab import Lab, Plan, opened

pytestmark = pytest.mark.e2e

ARGOCD = "argocd-controller"
_NOT_SYNCED = ("node-files/", "operators/", "samples/")
EDITS = {
    """patch clusterqueue nlp-gpu --type merge --patch {"spec":{"stopPolicy":"Hold"}}""": (
        "! held: nlp-gpu; by hand since "
    ),
    """patch localqueue gpu --namespace team-nlp --type merge --patch
    {"spec":{"stopPolicy":"HoldAndDrain"}}""": "! draining: gpu of team-nlp; by hand since ",
    "label namespace team-speech pod-security.kubernetes.io/enforce=privileged --overwrite": (
        "~ team-speech: label pod-security.kubernetes.io/enforce restricted -> privileged"
    ),
    "delete networkpolicy egress-object-store --namespace team-nlp": (
        "- team-nlp: egress to 203.0.113.64/28, TCP 443"
    ),
    "create rolebinding help --namespace team-nlp --clusterrole admin --group helpers": (
        "+ group helpers: admin in team-nlp"
    ),
}
"""What somebody does with kubectl, and what is said of it."""


def tree_of(cluster: str) -> tuple[Site, list[Manifest]]:
    generation = generate(REPOSITORY / "profiles", "../profiles/components")
    assert generation.checked.platform
    (site,) = (each for each in generation.checked.platform.sites if each.name == cluster)
    made = [*generation.manifests[cluster], *component_manifests(site)]
    return site, [each for each in made if not each.path.startswith(_NOT_SYNCED)]


@contextmanager
def synced(cluster: str, folder: Path) -> Iterator[tuple[Site, Lab]]:
    """Start a cluster's control plane, and apply the committed tree as Argo CD does."""
    site, manifests = tree_of(cluster)
    release = read_components(site.cluster.release.name)
    components = queueing(release, SiteView(site).framework_names)
    kinds = {(each.body["apiVersion"], each.kind.name) for each in manifests}
    plan = Plan(site, REPOSITORY / "overlays" / cluster, components, kinds)
    built = find(components, cache_folder())
    with opened(plan, built, folder / "run") as lab:
        for manifest in in_sync_order(manifests):
            lab.api.apply(manifest.body, manager=ARGOCD)
        yield site, lab


def compared(site: Site, lab: Lab, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Ended:
    """Read the cluster, and compare it: the profile has another address than this machine's."""
    monkeypatch.setenv("PATH", str(lab.built.programs["kubectl"].parent))
    monkeypatch.setenv("KUBECONFIG", str(lab.kubeconfig))
    kubectl = Kubectl(ADMIN)
    facts = collect(kubectl.get, (site.name, kubectl.server()), scope_of(site))
    file = folder / "facts.json"
    file.write_text(envelope("facts", facts), "utf-8")
    return process("drift", site.name, "--from", str(file), cwd=REPOSITORY)


def kubectl(lab: Lab, arguments: str) -> None:
    program = str(lab.built.programs["kubectl"])
    command = [program, f"--kubeconfig={lab.kubeconfig}", *arguments.split()]
    subprocess.run(command, check=True, capture_output=True)


@pytest.mark.parametrize("cluster", ["lab", pytest.param("prod-east", marks=pytest.mark.slow)])
def test_changes_by_hand_are_said_of_a_real_cluster(
    cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is said of what the API server and Kueue fill in; then of each change once."""
    with synced(cluster, tmp_path) as (site, lab):
        before = compared(site, lab, tmp_path, monkeypatch)
        assert (before.code, before.err) == (0, ""), before
        assert "no difference in" in before.out
        if cluster != "lab":
            return
        for arguments, words in EDITS.items():
            kubectl(lab, arguments)
            after = compared(site, lab, tmp_path, monkeypatch)
            assert (after.code, words in after.out) == (1, True), after
        assert after.out.startswith("lab: 3 changed, 1 missing, 1 added, of ")
        assert "by kubectl-patch" in after.out
