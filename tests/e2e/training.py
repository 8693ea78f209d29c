"""A program of `examples/training` as a job: its TrainJob's command in the pods of its runtime."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import REPOSITORY
from tests.e2e.image import Image
from tests.e2e.network import Network
from tests.e2e.pods import Pod, Template, waited
from tests.e2e.ranks import RANKS_PER_NODE, Job, hosts, make_job, replicated, runtime
from trainyard.yaml_io.manifests import parse_manifests

EXAMPLES = REPOSITORY / "examples" / "training"
NODES = 2
PATIENCE = 400.0
"""Seconds that a run may take; other tests use the machine too."""

_TORCHRUN = {"launcher": "torchrun", "libraries": {"torch": "2.6"}, "ranks": None}
_OPENMPI = {"libraries": {"openmpi": "4.1"}}


def torch_template() -> Template:
    """Return the pods of a runtime with torchrun."""
    (node,) = replicated(runtime("kubernetes-1.36", _TORCHRUN))
    template: Template = node["template"]["spec"]["template"]["spec"]
    return template


def torch_pods(network: Network, image: Image, template: Template, folder: Path) -> list[Pod]:
    """Return the created pods of a job without MPI, with the variables that Trainer gives them."""
    names = [f"job-node-0-{i}" for i in range(NODES)]
    pods = {name: Pod(network, image, template, name, folder / name) for name in names}
    for pod in pods.values():
        pod.create()
    for i, (name, pod) in enumerate(pods.items()):
        (pod.folder / "hosts").write_text("".join(hosts(Job(pods), name)), "utf-8")
        pod.mounts["/etc/hosts"] = pod.folder / "hosts"
        # As Trainer sets them (pkg/runtime/framework/plugins/torch/torch.go@v2.3.0).
        pod.environment |= {
            "PET_NNODES": str(NODES),
            "PET_NPROC_PER_NODE": str(RANKS_PER_NODE),
            "PET_NODE_RANK": str(i),
            "PET_MASTER_ADDR": f"{names[0]}.job",
            "PET_MASTER_PORT": "29400",
        }
    return list(pods.values())


@dataclass(frozen=True, slots=True)
class Example:
    """A program, the image that can run it here, and the mount of its team.

    Args:
        name: its folder.
        mount: folder that all its runs share, as `/mnt/scratch`.
        folder: folder for files of the runs.
    """

    name: str
    image: Image
    mount: Path
    folder: Path

    @property
    def trainer(self) -> Mapping[str, Any]:
        """The `spec.trainer` of its TrainJob."""
        (job,) = parse_manifests((EXAMPLES / self.name / "trainjob.yaml").read_text("utf-8"))
        found: Mapping[str, Any] = job["spec"]["trainer"]
        return found

    def run(self, network: Network, number: int, *options: str) -> Run:
        """Return its started job; options are added to its command."""
        folder = self.folder / str(number)
        folder.mkdir()
        arguments = [*self.trainer["args"], *options]
        if "command" in self.trainer:
            return self._start_mpi(network, folder, arguments)
        return self._start_torchrun(network, folder, arguments)

    def _start_mpi(self, network: Network, folder: Path, arguments: Sequence[str]) -> Run:
        job = make_job(network, self.image, runtime("kubernetes-1.36", _OPENMPI), NODES, folder)
        self._mount(job.pods.values())
        # Here Open MPI is in the place of Intel MPI and of its wrapper.
        job.start(["mpirun", *arguments])
        return Run(list(job.pods.values()), job.launcher)

    def _start_torchrun(self, network: Network, folder: Path, arguments: Sequence[str]) -> Run:
        template = torch_template()
        self._make_inputs(Pod(network, self.image, template, "job-inputs", folder / "inputs"))
        pods = torch_pods(network, self.image, template, folder)
        self._mount(pods)
        (container,) = template["containers"]
        for pod in pods:
            pod.start([*container["command"], *arguments])
        return Run(pods, pods[0])

    def _make_inputs(self, pod: Pod) -> None:
        """Write what the runtime's initializers would fetch, once."""
        if (EXAMPLES / self.name / "inputs.py").exists() and not any(self.workspace.iterdir()):
            pod.create()
            self._mount([pod])
            pod.start(["python3", "/opt/training/inputs.py"])
            assert waited(lambda: pod.code == 0, PATIENCE), pod.log

    @property
    def workspace(self) -> Path:
        """The folder that ranks share with the runtime's steps."""
        folder = self.folder / "workspace"
        folder.mkdir(exist_ok=True)
        folder.chmod(0o2777)
        return folder

    def _mount(self, pods: Any) -> None:
        """Give pods the program where its image has it, and the team's mount."""
        program = self.folder / "program"
        if not program.exists():
            program.mkdir()
            for file in (EXAMPLES / "job.py", *(EXAMPLES / self.name).glob("*.py")):
                shutil.copy(file, program)
        for pod in pods:
            pod.mounts |= {
                "/opt/training": program,
                "/mnt/scratch": self.mount,
                "/workspace": self.workspace,
            }


@dataclass(frozen=True, slots=True)
class Run:
    """A started job.

    Args:
        pods: all its pods.
        main: the pod that has the output of rank 0, and whose end is the job's.
    """

    pods: list[Pod]
    main: Pod

    @property
    def log(self) -> str:
        """Output of all pods."""
        return "".join(f"--- {pod.name}\n{pod.log}" for pod in self.pods)

    def end(self) -> int | None:
        """Wait for the end, and return the exit code of the first pod."""
        waited(lambda: self.main.code is not None, PATIENCE)
        return self.main.code

    def evict(self, line: str) -> list[int | None]:
        """Delete all pods when the log has a line; return their exit codes."""
        assert waited(lambda: line in self.log or self.main.code is not None, PATIENCE), self.log
        with ThreadPoolExecutor(len(self.pods)) as pool:
            list(pool.map(Pod.delete, self.pods))
        return [pod.code for pod in self.pods]

    def found(self, pattern: str) -> list[str]:
        """Return what a pattern matches in the log, in any order of the ranks."""
        return re.findall(pattern, self.log)

    def kill(self) -> None:
        """End what still runs."""
        for pod in self.pods:
            pod.kill()
