"""Count what a site has: its objects, the pods that run, and the jobs that wait."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from tests.e2e.brownfield.lab import Brownfield
from tests.e2e.brownfield.manifests import WAITING, bodies, named
from trainyard_rehearsal.control_plane.api import Body

_FILES = ("namespaces", "applied", "claims", "helm", "jobs")
_CLAIMS = 14
"""Claims of the site; all are bound."""


@dataclass
class Census:
    """What a site had, beside what it has.

    Args:
        moved: what the plan ends: pods of jobs that ended, and objects that their owner deletes.
        rows: figures of each step.
    """

    site: Brownfield
    objects: dict[str, str] = field(default_factory=dict)
    pods: dict[str, tuple[str, int]] = field(default_factory=dict)
    claims: dict[str, str] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=lambda: set(WAITING))
    moved: set[str] = field(default_factory=set)
    rows: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """Remember what there is."""
        self.objects, self.pods, self.claims = self._objects(), self._pods(), self._bound()
        assert len(self.claims) == _CLAIMS

    def _objects(self) -> dict[str, str]:
        """Return the uid of each object of the site that is there, and is not being deleted."""
        return {
            named(body): now["metadata"]["uid"]
            for body, now in self._there()
            if "deletionTimestamp" not in now["metadata"]
        }

    def _there(self) -> Iterator[tuple[Body, Body]]:
        """Yield each object of the site that is there, as its file has it and as it is."""
        for body in (body for file in _FILES for body in bodies(file)):
            metadata = body["metadata"]
            place = (metadata["name"], metadata.get("namespace", ""))
            now = self.site.api.find(body["apiVersion"], body["kind"], *place)
            if now:
                yield body, now

    def _without_labels(self) -> set[str]:
        """Return the objects that have lost a label of their file."""
        return {
            named(body)
            for body, now in self._there()
            if not _labels(body).items() <= _labels(now).items()
        }

    def _bound(self) -> dict[str, str]:
        """Return the volume of each claim that is bound to it, and of which the volume says so."""
        found = {}
        for claim in (now for _, now in self._there() if now["kind"] == "PersistentVolumeClaim"):
            volume = self.site.api.get("v1", "PersistentVolume", claim["spec"]["volumeName"])
            both = (claim["status"]["phase"], volume["status"]["phase"])
            if both == ("Bound", "Bound"):
                assert volume["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"]
                found[named(claim)] = volume["metadata"]["name"]
        return found

    def _pods(self) -> dict[str, tuple[str, int]]:
        """Return uid and restarts of each pod that runs."""
        found = {}
        for pod in self.site.pods():
            if pod["status"]["phase"] == "Running":
                statuses = pod["status"].get("containerStatuses") or []
                restarts = sum(each["restartCount"] for each in statuses)
                found[named(pod)] = (pod["metadata"]["uid"], restarts)
        return found

    def count(self, step: str, unlabelled: Collection[str] = ()) -> None:
        """Assert that nothing is lost but what was moved, and note the figures of a step.

        Args:
            step: what was done.
            unlabelled: objects that have lost a label.
        """
        objects, pods = self._objects(), self._pods()
        kept = {name: uid for name, uid in self.objects.items() if name not in self.moved}
        assert {name: objects.get(name) for name in kept} == kept, step
        assert self._bound() == self.claims, step
        running = {name: each for name, each in self.pods.items() if name not in self.moved}
        assert {name: pods.get(name) for name in running} == running, step
        idle = {job for job in self.waiting if self.site.waits(job)}
        assert idle == self.waiting, (step, self.waiting - idle)
        assert self._without_labels() == set(unlabelled), step
        self.rows.append(f"| {step} | {len(kept)} | {len(running)} | {len(idle)} |")

    def ended(self, name: str) -> None:
        """Note that the pods of a workload, ``Kind/namespace/name``, end; it stays."""
        assert name in self.objects, name
        _, _, place = name.partition("/")
        self.moved |= {each for each in self.pods if each.startswith(f"Pod/{place}-")}

    def deleted(self, name: str) -> None:
        """Note that the owner of an object deletes it, as the plan says."""
        assert name in self.objects, name
        self.moved.add(name)
        self.waiting.discard(name)

    def restarted(self, name: str) -> Body:
        """Delete the pod of a workload, as a drain does; return it once another one runs."""
        (old,) = (each for each in self.pods if each.startswith(f"Pod/{name}-"))
        _, namespace, pod = old.split("/")
        self.site.run(f"kubectl --namespace {namespace} delete pod {pod} --wait=false")
        del self.pods[old]

        def others() -> list[str]:
            return [each for each in self._pods() if each.startswith(f"Pod/{name}-")]

        self.site.until(lambda: others() and old not in others(), f"{name} does not start again")
        (new,) = others()
        self.pods[new] = self._pods()[new]
        return self.site.api.get("v1", "Pod", new.split("/")[2], namespace)

    @property
    def table(self) -> str:
        """The figures of all steps."""
        head = "| step | objects of the site | running pods | waiting jobs |\n|---|---|---|---|"
        return "\n".join([head, *self.rows])


def _labels(body: Body) -> dict[str, str]:
    return dict(body["metadata"].get("labels") or {})
