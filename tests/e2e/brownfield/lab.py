"""A site that runs on a control plane, and its administrator, who brings it under the tree."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from tests.adoption.decided import USUAL, decide, write_runtime
from tests.adoption.sites import node
from tests.e2e.brownfield.manifests import RUNNING, SITE, WAITING, bodies, named
from tests.e2e.life import Life
from tests.e2e.life_repository import HOW_TO, tree_of
from tests.pages import call, done
from trainyard.golang import cache_folder
from trainyard_rehearsal.checks.git_delivery import Commit, GitDelivery
from trainyard_rehearsal.checks.jobs import is_true
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.argocd import ArgoCD
from trainyard_rehearsal.control_plane.build import find
from trainyard_rehearsal.control_plane.components import read_components
from trainyard_rehearsal.control_plane.exchange import hand_out, on_tree
from trainyard_rehearsal.control_plane.lab import Plan, Standing, standing
from trainyard_rehearsal.control_plane.redis import find_redis
from trainyard_rehearsal.control_plane.repository import Repository

CLUSTER = "site"
_KUEUE = "operators/kueue-configuration.yaml"
_PAGE = HOW_TO / "bring-a-running-platform.md"
_PATIENCE = 120.0
ANSWERS = {
    **USUAL,
    "server": "",
    "systemNamespaces": "systemNamespaces: [monitoring]",
    "external": "external: {StorageClass/lustre: the site}",
}
"""What the administrator decides of what the import leaves open."""


@dataclass
class Brownfield:
    """A site on a control plane.

    Args:
        folder: of this run.
        found: the control plane.
        release: that the cluster has.
    """

    folder: Path
    found: Standing
    release: str
    handed_out: int = 0

    @property
    def api(self) -> Api:
        """The API as the administrator sees it."""
        return self.found.lab.api

    @property
    def repository(self) -> Path:
        """The repository of the administrator, from which Argo CD fetches."""
        return self.folder / "repository"

    @cached_property
    def variables(self) -> dict[str, str]:
        """With which commands find `kubectl` and the cluster."""
        programs = self.folder / "programs"
        programs.mkdir()
        (programs / "kubectl").symlink_to(self.found.lab.built.programs["kubectl"])
        return {"KUBECONFIG": str(self.found.lab.kubeconfig), "PATH": str(programs)}

    def run(self, command: str) -> str:
        """Run a command in the repository as a cluster admin; return what it prints."""
        return done(self.repository, "bash", "-c", f"set -eu\n{command}", **self.variables)

    def until(self, ready: object, what: str) -> None:
        """Wait for a condition, which is a function without parameters."""
        assert callable(ready)
        assert self.found.lab.processes.waited(ready, _PATIENCE), what

    def settle_in(self) -> None:
        """Make all that the site has, and wait until it runs, or waits for quota."""
        pool = {"corp.internal/pool": "h100"}
        for number in range(1, 7):
            self._node(f"gpu-{number}", 8, pool)
        self._node("gpu-7", 8, {**pool, "corp.internal/serving": "true"})
        self._node("plain-1", 0, {"corp.internal/plain": "true"})
        self.api.apply(_namespace("sriov-network-operator"))
        for name in ("namespaces", "applied", "claims"):
            self.run(f"kubectl apply --filename {SITE / name}.yaml")
        for body in bodies("helm"):
            self.api.apply(body, manager="helm")
        text = (SITE / "kueue.yaml").read_text("utf-8")
        metadata = {"name": "kueue-manager-config", "namespace": "kueue-system"}
        data = {"controller_manager_config.yaml": text}
        self.api.apply(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
        )
        # Else a job could take the node that only Deployments may use.
        self.until(lambda: self._is_quiet(5 + 8), "a pod of a Deployment does not run")
        for body in bodies("jobs"):
            self.api.create(body)
            if named(body) in RUNNING:
                self.until(lambda body=body: self.runs(body), f"{named(body)} does not run")
        self.until(lambda: all(map(self.waits, WAITING)), "a job does not wait")
        self.until(lambda: self._is_quiet(6 + 5 + 8), "a pod of the site does not run")
        self.until(self._is_bound, "a claim of the site is not bound")

    def _node(self, name: str, gpus: int, labels: dict[str, str]) -> None:
        body = node(name, gpus=gpus, labels=labels)
        body["metadata"]["annotations"] = {"kwok.x-k8s.io/node": "fake"}
        version = self.found.lab.plan.components.programs["kubectl"].version
        body["status"]["nodeInfo"]["kubeletVersion"] = f"v{version}"
        self.api.create(body)

    def pods(self) -> list[Body]:
        """Return the pods of the site that have not ended."""
        spaces = {body["metadata"]["name"] for body in bodies("namespaces")}
        found = self.api.list("v1", "Pod")
        return [
            pod
            for pod in found
            if pod["metadata"]["namespace"] in spaces
            and pod["status"]["phase"] not in {"Succeeded", "Failed"}
            and "deletionTimestamp" not in pod["metadata"]
        ]

    def _is_quiet(self, pods: int) -> bool:
        found = self.pods()
        return len(found) >= pods and all(each["status"]["phase"] == "Running" for each in found)

    def _is_bound(self) -> bool:
        claims = self.api.list("v1", "PersistentVolumeClaim")
        return all(each["status"].get("phase") == "Bound" for each in claims)

    def pods_of(self, job: Body) -> list[Body]:
        """Return the pods of a job that run."""
        metadata = job["metadata"]
        name, namespace = metadata["name"], metadata["namespace"]
        mine = (
            pod
            for pod in self.pods()
            if pod["metadata"]["namespace"] == namespace
            and pod["metadata"]["name"].startswith(f"{name}-")
        )
        return [pod for pod in mine if pod["status"]["phase"] == "Running"]

    def runs(self, job: Body) -> bool:
        """Return whether both pods of a job run."""
        return len(self.pods_of(job)) == 2

    def workload(self, job: str) -> Body:
        """Return Kueue's Workload of a job, which is ``Kind/namespace/name``; empty without one."""
        kind, namespace, name = job.split("/")
        for body in self.api.list("kueue.x-k8s.io/v1beta2", "Workload", namespace):
            owners = body["metadata"].get("ownerReferences", [])
            if any((each["kind"], each["name"]) == (kind, name) for each in owners):
                return body
        return {}

    def waits(self, job: str) -> bool:
        """Return whether a job waits for quota, with a Workload of its own."""
        workload = self.workload(job)
        return bool(workload) and not is_true(workload, "Admitted")

    def finish(self, job: Body) -> None:
        """End the pods of a job well, as the kubelet reports it."""
        for pod in self.pods_of(job):
            names = [each["name"] for each in pod["spec"]["containers"]]
            ended = {"terminated": {"exitCode": 0, "reason": "Completed"}}
            statuses = [
                {
                    "name": each,
                    "image": "x",
                    "imageID": "",
                    "ready": False,
                    "restartCount": 0,
                    "state": ended,
                }
                for each in names
            ]
            status = {"phase": "Succeeded", "containerStatuses": statuses}
            self.api.patch(pod, {"status": status}, "status")

    def imported(self) -> None:
        """Dump the cluster, draft its profiles, and make the choices."""
        folder = self.repository
        block = _PAGE.read_text("utf-8").partition("$ kinds=")[2].partition("```")[0]
        self.run(re.sub(r"(?m)^\$ ", "", f"kinds={block}"))
        options = ("--cluster", CLUSTER, "--release", self.release)
        ended = call(folder, "trainyard", "import", "dump", *options)
        assert ended.returncode == 1, ended.stdout
        assert decide(folder / "profiles", ANSWERS) == []
        write_runtime(folder / "profiles")
        self.edit("trainyard.yaml", r"(?m)^domain: .*$", "domain: ml.corp.internal")
        self.edit("trainyard.yaml", r"(?m)^repository: .*$", f"repository: {folder.as_uri()}")
        shutil.rmtree(folder / "dump")

    def edit(self, file: str, pattern: str, text: str) -> None:
        """Replace what a pattern matches in a profile, once."""
        path = self.repository / "profiles" / file
        changed, count = re.subn(pattern, text, path.read_text("utf-8"))
        assert count == 1, (file, pattern, path.read_text("utf-8"))
        path.write_text(changed, "utf-8")

    def begin(self, message: str) -> None:
        """Generate the first tree, and commit it."""
        done(self.repository, "trainyard", "generate")
        self.run(f"git add --all && git commit --quiet --message '{message}'")

    def taken(self) -> list[str]:
        """Return what `trainyard preflight` says has a name of the tree's."""
        context = self.run("kubectl config current-context").strip()
        options = ("--context", context, "--format", "json:preflight.json")
        call(self.repository, "trainyard", "preflight", CLUSTER, *options, **self.variables)
        report = self.repository / "preflight.json"
        found = json.loads(report.read_text("utf-8"))["result"]["diagnostics"]
        report.unlink()
        messages = [each["message"] for each in found if each["rule"] == "preflight/name-taken"]
        return sorted(map(_taken, messages))

    def hand_out(self) -> None:
        """Give Kueue the configuration of the tree, and restart it, as its owner does."""
        self.handed_out += 1
        place = self.folder / f"handed-out-{self.handed_out}"
        tree = tree_of(self.repository, CLUSTER)
        assert tree
        (place / _KUEUE).parent.mkdir(parents=True)
        shutil.copy(self.repository / "overlays" / CLUSTER / _KUEUE, place / _KUEUE)
        plan = replace(self.found.lab.plan, site=tree.site, tree=place)
        self.found = hand_out(on_tree(self.found, plan))

    @contextmanager
    def delivered(self, health: Sequence[str]) -> Iterator[Life]:
        """Have Argo CD deliver the tree; return who commits to it."""
        tree = tree_of(self.repository, CLUSTER)
        assert tree
        folder = self.repository / "overlays" / CLUSTER
        lab = replace(self.found.lab, plan=replace(self.found.lab.plan, tree=folder))
        argocd = ArgoCD(lab, self.folder / "argocd", find_redis(cache_folder()))
        with argocd.running():
            origin = Repository(self.repository, tree.site.cluster.settings.branch)
            delivery = GitDelivery(lab, argocd, origin, tree)
            life = Life(self.repository, _PAGE, delivery, self.variables)
            life.bootstrap()
            life.synced(Commit(life.revision, list(delivery.units)), health)
            yield life


def _taken(message: str) -> str:
    """Return ``Kind/name`` or ``Kind/namespace/name`` of a finding of preflight."""
    found = re.match(r"(\w+) `([^`]+)`(?: in (\S+))? is there", message)
    assert found, message
    kind, name, namespace = found.groups()
    return "/".join(filter(None, (kind, namespace, name)))


def _namespace(name: str) -> Body:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


@contextmanager
def brownfield(release: str, folder: Path) -> Iterator[Brownfield]:
    """Start a control plane with the programs of a release, and with all that the site has."""
    blank = folder / "blank"
    blank.mkdir()
    done(blank, "git", "init", "--quiet")
    done(blank, "trainyard", "init", "--release", release)
    tree = tree_of(blank, "lab")
    assert tree
    own = folder / "own"
    (own / _KUEUE).parent.mkdir(parents=True)
    shutil.copy(SITE / "kueue.yaml", own / _KUEUE)
    components = read_components(release)
    kinds = {(each.body["apiVersion"], each.kind.name) for each in tree.manifests}
    bare = replace(tree.site, cluster=replace(tree.site.cluster, pools=()))
    plan = Plan(bare, own, components, kinds)
    with standing(plan, find(components, cache_folder()), folder / "run") as found:
        site = Brownfield(folder, found, release)
        site.repository.mkdir()
        done(site.repository, "git", "init", "--quiet", "--initial-branch", "main")
        site.settle_in()
        yield site
