"""A job of a rendered runtime, run as Trainer and JobSet do: keys, hostfile, nodes, launcher."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.e2e.image import Image
from tests.e2e.network import Network
from tests.e2e.pods import Pod, Template, waited
from tests.rules.cases import platform_of
from trainyard.render.site import render_site

RANKS_PER_NODE = 2
_PATIENCE = 120.0
_NAME = "job"

_SMALL = {
    "hardware/small.yaml": {
        "extends": "cpu-node",
        "cpu": {"sockets": 1, "cores": 4, "threads": 4},
        "numaNodes": 1,
        "memory": "64Gi",
        "ephemeralStorage": "200Gi",
        "system": {"cpu": 1, "memory": "12Gi", "ephemeralStorage": "64Gi"},
        "launcher": {"cores": 1, "memory": "4Gi"},
        "labels": {"ml.example.com/node-type": "small"},
    },
    "clusters/prod-east.yaml": {"pools": {"small": {"nodes": 8, "reserve": 0}}},
    "teams/nlp.yaml": {
        "runtimes": ["openmpi-cuda", "ranks"],
        "quota": {"prod-east": {"small": {"nodes": 8}}},
    },
}
"""Nodes that give ranks two cores, as many as the smallest CI machine has."""


def runtime(release: str, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the delivered ClusterTrainingRuntime of a profile on small nodes."""
    about = {
        "version": 1,
        "image": f"registry.example.com/ml/ranks@sha256:{'0' * 64}",
        "hardware": ["small"],
    }
    size = {"maxNodes": 8, "sharedMemory": "1Gi", "ranks": RANKS_PER_NODE}
    changes: dict[str, Any] = {**_SMALL, "runtimes/ranks.yaml": {**about, **size, **fields}}
    changes["clusters/prod-east.yaml"] = {**changes["clusters/prod-east.yaml"], "release": release}
    (site,) = platform_of(changes).sites
    return next(
        each.body
        for each in render_site(site)
        if each.body["kind"] == "ClusterTrainingRuntime" and each.name.startswith("ranks-")
    )


@dataclass(slots=True)
class Job:
    """A job with its pods.

    Args:
        pods: by name, the launcher last.
    """

    pods: dict[str, Pod]

    @property
    def launcher(self) -> Pod:
        """The pod that runs the job's command."""
        return self.pods[f"{_NAME}-launcher-0-0"]

    @property
    def nodes(self) -> list[Pod]:
        """The pods that run sshd."""
        return [pod for pod in self.pods.values() if pod is not self.launcher]

    @property
    def log(self) -> str:
        """Output of all pods."""
        return "".join(f"--- {name}\n{pod.log}" for name, pod in self.pods.items())

    def start(self, command: Sequence[str]) -> None:
        """Start the nodes, and the launcher when they are ready."""
        for pod in self.nodes:
            pod.start()
        for pod in self.nodes:
            assert waited(partial(pod.probe, "readinessProbe"), _PATIENCE), self.log
        self.launcher.start(command)

    def run(self, command: Sequence[str]) -> str:
        """Run a command to its successful end and return the launcher's output."""
        self.start(command)
        assert waited(lambda: self.launcher.code is not None, _PATIENCE), self.log
        assert self.launcher.code == 0, self.log
        return self.launcher.log

    def delete(self) -> dict[str, float]:
        """Delete all pods at once, as an eviction does; return the seconds of each by name."""
        with ThreadPoolExecutor(len(self.pods)) as pool:
            return dict(zip(self.pods, pool.map(Pod.delete, self.pods.values()), strict=True))

    def written(self, name: str) -> list[Path]:
        """Return the files in `/tmp` of all pods whose name matches a pattern."""
        folders = [pod.written / "tmp" for pod in self.pods.values()]
        return [path for folder in folders for path in sorted(folder.glob(name))]

    def kill(self) -> None:
        """Kill every pod at once."""
        for pod in self.pods.values():
            pod.kill()


def make_job(
    network: Network, image: Image, body: Mapping[str, Any], nodes: int, folder: Path
) -> Job:
    """Return a job that has not started.

    Args:
        network: network of its pods.
        image: image of its containers.
        body: the runtime.
        nodes: number of nodes, a launcher with ranks included.
        folder: folder for its files.
    """
    templates = {
        job["name"]: job["template"]["spec"]["template"]["spec"] for job in replicated(body)
    }
    workers = nodes - 1 if _has_ranks(body) else nodes
    names = {f"{_NAME}-node-0-{i}": templates["node"] for i in range(workers)}
    names[f"{_NAME}-launcher-0-0"] = templates["launcher"]
    pods = {
        name: Pod(network, image, template, name, folder / name) for name, template in names.items()
    }
    for pod in pods.values():
        pod.create()
    _prepare(Job(pods), body, folder)
    return Job(pods)


def _has_ranks(body: Mapping[str, Any]) -> bool:
    """Return whether the launcher of a runtime's jobs has ranks."""
    as_node: bool = body["spec"]["mlPolicy"]["mpi"]["runLauncherAsNode"]
    return as_node


def _prepare(job: Job, body: Mapping[str, Any], folder: Path) -> None:
    """Write what Trainer's MPI plugin writes (pkg/runtime/framework/plugins/mpi/mpi.go@v2.3.0)."""
    policy = body["spec"]["mlPolicy"]["mpi"]
    slots = policy["numProcPerNode"]
    keys, hostfile = folder / "keys", folder / "mpi"
    _write_keys(job, keys)
    hostfile.mkdir()
    # In the order of the replicated jobs, a launcher with ranks last.
    pods = job.pods.values() if _has_ranks(body) else job.nodes
    lines = [f"{pod.name}.{_NAME} slots={slots}\n" for pod in pods]
    (hostfile / "hostfile").write_text("".join(lines), "utf-8")
    for name, pod in job.pods.items():
        (file := pod.folder / "hosts").write_text("".join(hosts(job, name)), "utf-8")
        pod.mounts |= {policy["sshAuthMountPath"]: keys, "/etc/hosts": file}
    job.launcher.mounts["/etc/mpi"] = hostfile
    job.launcher.environment |= {
        "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
        "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
        "OMPI_MCA_orte_set_default_slots": str(slots),
        "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
        # No runtime has it: the ranks of all nodes share the few cores of this machine, and each
        # would keep one busy.
        "OMPI_MCA_mpi_yield_when_idle": "1",
    }


def _write_keys(job: Job, keys: Path) -> None:
    """Write the key pair of a job, readable for the group of its volumes."""
    keys.mkdir()
    group = job.launcher.template["securityContext"].get("fsGroup", 1000680000)
    subprocess.run(
        ["ssh-keygen", "-q", "-tecdsa", "-b521", "-N", "", "-f", keys / "id_rsa"], check=True
    )
    (keys / "authorized_keys").write_bytes((keys / "id_rsa.pub").read_bytes())
    for file in keys.iterdir():
        os.chown(file, 0, group)
        file.chmod(0o640)


def hosts(job: Job, name: str) -> Iterator[str]:
    """Yield the lines of a pod's `/etc/hosts`; only its own has its short name."""
    yield "127.0.0.1 localhost\n"
    for other, pod in job.pods.items():
        short = f" {name}" if other == name else ""
        yield f"{pod.address} {other}.{_NAME}{short}\n"


def replicated(body: Mapping[str, Any]) -> Sequence[Template]:
    jobs: Sequence[Template] = body["spec"]["template"]["spec"]["replicatedJobs"]
    return jobs
