"""Queues and sample jobs, with fake controllers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tests.model.shapes import AT
from tests.rehearsal.served import Served
from trainyard.generation.generate import Generation
from trainyard.model.fabric import DeviceFabric
from trainyard.model.manifest import Manifest
from trainyard.model.providers import PROVIDERS
from trainyard.model.quantity import format_amount
from trainyard.model.space import Sample
from trainyard_rehearsal.checks import sample_runs, switches
from trainyard_rehearsal.checks.jobs import KUEUE, Pod, as_user
from trainyard_rehearsal.checks.queues import check_queues
from trainyard_rehearsal.checks.sample_runs import check_sample_jobs, pods_by_role
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.nodes import nodes
from trainyard_rehearsal.outcome import Outcome
from trainyard_rehearsal.publication import sample_jobs

_JOB = "trainjobs"


@dataclass
class Controllers:
    """Kueue, Trainer and KWOK in one, for one sample; each field makes one action wrong or late."""

    server: Served
    sample: Sample
    pool: str
    admits: bool = True
    flavor: str = ""
    requests: dict[str, str] = field(default_factory=dict)
    launcher: str = "2026-11-21T10:00:09Z"
    networks: str = ""
    uncounted: str = ""
    ends: bool = True
    phase: str = "Running"

    def react(self, path: str, body: dict[str, Any]) -> None:
        """Do what follows when an object is written."""
        if f"/{_JOB}/" in path:
            self._admit(body)
        done = body["kind"] == "Pod" and body["status"]["phase"] == "Succeeded"
        if done and self.ends:
            job = body["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-name"]
            namespace = body["metadata"]["namespace"]
            found = self.server.objects[
                f"/apis/trainer.kubeflow.org/v1alpha1/namespaces/{namespace}/{_JOB}/{job}"
            ]
            found["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}

    def _admit(self, job: dict[str, Any]) -> None:
        name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
        status = str(self.admits)
        conditions = [
            {
                "type": "Admitted",
                "status": status,
                "reason": "NoFit",
                "message": "insufficient quota",
            }
        ]
        flavors = {"cpu": self.flavor or self.pool}
        roles = pods_by_role(self.sample.grant, self.sample.nodes)
        assignments = [self._assignment(role, count, flavors) for role, count in roles.items()]
        self.server.put(
            *(KUEUE, "Workload", f"trainjob-{name}", namespace),
            metadata={"ownerReferences": [{"name": name}]},
            status={
                "conditions": conditions,
                "admission": {"podSetAssignments": assignments},
            },
        )
        if self.admits:
            self._run(name, namespace)

    def _assignment(self, role: str, count: int, flavors: dict[str, str]) -> dict[str, Any]:
        """Return what Kueue assigns to a pod set, without the resource that it does not count."""
        asked = self.sample.launch.per_node.items()
        usage = {
            each: format_amount(each, amount * count)
            for each, amount in asked
            if each != self.uncounted
        }
        return {"name": role, "count": count, "flavors": flavors, "resourceUsage": usage}

    def _run(self, name: str, namespace: str) -> None:
        asked = self.sample.launch.per_node.items()
        requests = self.requests or {each: format_amount(each, amount) for each, amount in asked}
        count = self.sample.nodes
        places = iter(range(1, count + 1))
        for role, amount in reversed(pods_by_role(self.sample.grant, count).items()):
            for index in range(amount):
                self.server.put(
                    *("v1", "Pod", f"{name}-{role}-{index}", namespace),
                    labels={
                        "jobset.sigs.k8s.io/jobset-name": name,
                        "jobset.sigs.k8s.io/replicatedjob-name": role,
                        "batch.kubernetes.io/job-completion-index": str(index),
                    },
                    metadata={
                        "annotations": {"k8s.v1.cni.cncf.io/networks": self.networks},
                        **({"creationTimestamp": self.launcher} if role == "launcher" else {}),
                    },
                    spec={
                        "nodeName": f"{self.pool}-{next(places):03}",
                        "containers": [
                            {"name": "node", "image": "i", "resources": {"requests": requests}}
                        ],
                    },
                    status={"phase": self.phase},
                )


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail at once instead of waiting."""
    monkeypatch.setattr("trainyard_rehearsal.checks.queues._PATIENCE", 0)
    monkeypatch.setattr("trainyard_rehearsal.checks.sample_runs._PATIENCE", 0)


@pytest.fixture
def samples(generation: Generation, lab: Lab) -> dict[str, tuple[Sample, Manifest]]:
    """Return the sample jobs of the cluster `lab`, by team and name."""
    found = sample_jobs(lab.plan.site, generation.manifests["lab"], "")
    return {
        f"{sample.space.team.name}/{sample.name}": (sample, manifest) for sample, manifest in found
    }


@pytest.fixture
def active(server: Served, lab: Lab) -> Served:
    """Return a server with active queues and with every node."""
    status = {"conditions": [{"type": "Active", "status": "True"}]}
    for tenant in lab.plan.site.tenants:
        for queue in tenant.queues:
            server.put(KUEUE, "ClusterQueue", queue.name, status=status)
        for space in tenant.spaces:
            for local in space.local_queues:
                server.put(KUEUE, "LocalQueue", local.name, space.namespace, status=status)
    for node in nodes(lab.plan.site):
        server.put("v1", "Node", name=node["metadata"]["name"], labels=node["metadata"]["labels"])
    return server


Run = Callable[..., Outcome]


@pytest.fixture
def run(lab: Lab, active: Served, samples: dict[str, tuple[Sample, Manifest]]) -> Run:
    """Return a function that runs an MPI sample of several GPU nodes with changed controllers."""
    sample, manifest = next(
        (sample, manifest)
        for sample, manifest in samples.values()
        if sample.launch.runtime.launcher.mpi and sample.nodes > 1 and sample.launch.fabric
    )

    def call(**changes: Any) -> Outcome:
        controllers = Controllers(active, sample, "xe9680-h200", **changes)
        active.react = controllers.react
        (outcome,) = check_sample_jobs(lab, [(sample, manifest)])
        return outcome

    return call


def _words(outcome: Outcome) -> list[str]:
    return [failure.words for failure in outcome.failures]


def test_good_job_runs_and_is_deleted(run: Run, server: Served) -> None:
    outcome = run()
    assert (outcome.held, outcome.tried, _words(outcome)) == (1, 1, [])
    assert not [path for path in server.objects if f"/{_JOB}/" in path]


def test_job_is_submitted_by_a_team_member(run: Run, server: Served) -> None:
    """The administrator, who may do anything, never submits it."""
    run()
    (created,) = (request for request in server.requests if request.method == "POST")
    headers = {name.lower(): value for name, value in created.headers}
    assert headers["impersonate-user"].startswith("somebody@")
    assert "impersonate-group" in headers


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"admits": False}, "not admitted: Admitted=False NoFit: insufficient quota"),
        ({"phase": "Pending"}, "pods of role node do not run: "),
        ({"ends": False}, "does not end when its last pods do: "),
        ({"flavor": "cpu"}, "admitted with the flavors ['cpu'], not of ['xe9680-h200']"),
        (
            {"launcher": "2026-11-21T09:59:00Z"},
            "the launcher was made at 2026-11-21T09:59:00Z, before the last node",
        ),
        ({"requests": {"cpu": "1"}}, "asks for {'cpu': '1'}, not {'cpu': "),
        ({"networks": "nowhere"}, "no network nowhere"),
        ({"uncounted": "nvidia.com/gpu"}, "Kueue counts no nvidia.com/gpu for its pods, not "),
    ],
    ids=lambda each: next(iter(each)) if isinstance(each, dict) else "",
)
def test_job_that_differs_from_its_profile_is_reported(
    run: Run, changes: dict[str, Any], words: str
) -> None:
    outcome = run(**changes)
    assert outcome.held == 0
    assert any(words in each for each in _words(outcome)), _words(outcome)


def test_refused_job_is_reported(
    run: Run, server: Served, samples: dict[str, tuple[Sample, Manifest]]
) -> None:
    """The failure has the policy's message."""
    for sample, _ in samples.values():
        path = f"/apis/trainer.kubeflow.org/v1alpha1/namespaces/{sample.space.namespace}/{_JOB}"
        server.refused["POST", path] = (403, "ValidatingAdmissionPolicy 'x' denied request")
    assert _words(run()) == ["ValidatingAdmissionPolicy 'x' denied request"]


def test_sriov_network_of_the_namespace_is_found(
    run: Run, server: Served, lab: Lab, samples: Any
) -> None:
    """The operator makes a network from the SriovNetwork of the same namespace."""
    namespaces = {sample.space.namespace for sample, _ in samples.values()}
    where = lab.plan.site.cluster.release.sriov_namespace
    server.put(
        "sriovnetwork.openshift.io/v1",
        "SriovNetwork",
        "rail",
        where,
        spec={"networkNamespace": "elsewhere"},
    )
    assert _words(run(networks="rail")) == ["no network rail"]
    for namespace in namespaces:
        server.put("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", "rail", namespace)
    assert _words(run(networks="rail")) == []


@pytest.mark.parametrize(("leaves", "count"), [("aabb", 0), ("abbb", 0), ("abab", 1), ("abca", 1)])
def test_ranks_that_return_to_a_switch_are_reported(
    lab: Lab, server: Served, samples: dict[str, tuple[Sample, Manifest]], leaves: str, count: int
) -> None:
    sample = next(sample for sample, _ in samples.values() if sample.launch.fabric)
    for node, leaf in enumerate(leaves):
        server.put("v1", "Node", str(node), labels={"ml.example.com/leaf": leaf})
    pods = [Pod({}, "node", rank, "", str(rank), "Running") for rank in range(4)]
    found = list(switches.unordered_ranks(lab, pods, sample))

    assert len(found) == count
    assert all(each.startswith("ranks are not in order: a") for each in found)


@pytest.mark.parametrize(("leaves", "count"), [("aabb", 0), ("aaab", 1)])
def test_ranks_below_several_switches_are_reported(
    lab: Lab, server: Served, samples: dict[str, tuple[Sample, Manifest]], leaves: str, count: int
) -> None:
    """Two ranks, on the last nodes; a switch with two nodes has room for both, one of four nodes
    that are below another does not count."""
    sample = next(sample for sample, _ in samples.values() if sample.launch.fabric)
    for node, leaf in enumerate(leaves):
        server.put("v1", "Node", f"gpu-{node}", labels={"ml.example.com/leaf": leaf})
    pods = [Pod({}, "node", rank, "", f"gpu-{rank + 2}", "Running") for rank in range(2)]
    found = list(switches.scattered(lab, pods, sample))

    assert found == ["ranks are below a, b, though one has room for all of them"][:count]


@pytest.mark.parametrize("networks", [["rdma-0"], ["rdma-1", "rdma-0"], ["rdma-0", "rdma-1"]])
def test_interfaces_of_pods_are_compared_with_the_fabric(
    samples: dict[str, tuple[Sample, Manifest]], networks: list[str]
) -> None:
    """One is missing; they are in another order; they are right."""
    sample = next(sample for sample, _ in samples.values() if sample.launch.rdma)
    fabric = DeviceFabric("gke", AT, PROVIDERS["gke-rdma"], "", networks=("rdma-0", "rdma-1"))
    on = replace(sample, grant=replace(sample.grant, launch=replace(sample.launch, fabric=fabric)))
    listed = [{"interfaceName": f"eth{i}", "network": each} for i, each in enumerate(networks)]
    own = [{"interfaceName": "eth0", "network": "default"}]
    annotations = {"networking.gke.io/interfaces": json.dumps(own + listed)}
    pod = Pod({"metadata": {"name": "n", "annotations": annotations}}, "node", 0, "", "", "")
    found = list(sample_runs._wrong_interfaces([pod], on))

    assert bool(found) is (networks != ["rdma-0", "rdma-1"])


def test_inactive_queue_is_reported(lab: Lab, active: Served) -> None:
    """So is a queue that does not exist. The failure has the message of the condition."""
    site = lab.plan.site
    first, second = [queue.name for tenant in site.tenants for queue in tenant.queues][:2]
    path = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/"
    why = {"reason": "FlavorNotFound", "message": "references a missing ResourceFlavor"}
    condition = {"type": "Active", "status": "False", **why}
    active.objects[path + first]["status"] = {"conditions": [condition]}
    del active.objects[path + second]
    queues, local = check_queues(lab)

    assert [each.what for each in queues.failures] == [
        f"ClusterQueue {first}",
        f"ClusterQueue {second}",
    ]
    assert _words(queues)[0] == "FlavorNotFound: references a missing ResourceFlavor"
    assert "not found" in _words(queues)[1]
    assert local.fine


def test_launcher_is_one_of_the_nodes_with_mpi(samples: dict[str, tuple[Sample, Manifest]]) -> None:
    """Without MPI all pods are nodes."""
    counts = {
        sample.launch.runtime.launcher.mpi: [pods_by_role(sample.grant, n) for n in (4, 1)]
        for sample, _ in samples.values()
    }
    assert counts == {
        True: [{"node": 3, "launcher": 1}, {"launcher": 1}],
        False: [{"node": 4}, {"node": 1}],
    }


def test_user_of_each_team_is_in_one_of_its_groups(
    samples: dict[str, tuple[Sample, Manifest]], lab: Lab
) -> None:
    for sample, _ in samples.values():
        acting = as_user(lab.api, sample.space)
        groups = [value for name, value in acting._impersonated if name == "Impersonate-Group"]
        assert groups[1:] == ["system:authenticated"]
        assert any(groups[0] in each for each in sample.space.team.groups.values())
