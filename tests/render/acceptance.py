"""The acceptance tests' scripts with programs that print what the real ones print."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.render.folder import script

_MPIRUN = r"""#!/bin/bash
# Starts each rank in turn or at once, as mpirun does: -np limits them, ppr starts one on a host.
slots=$SLOTS each=$SLOTS np=$((HOSTS * SLOTS))
while [[ $1 == -* ]]; do
  case $1 in
    -np) np=$2 ;;
    --map-by) each=1 ;;
  esac
  shift 2
done
[[ $np -ge $((HOSTS * each)) || $each != 1 ]] || each=1
rank=0
for ((host = 0; host < HOSTS; host++)); do
  for ((local = 0; local < each && rank < np; local++, rank++)); do
    [[ " ${ABSENT:-} " != *" $rank "* ]] || continue
    HOSTNAME=job-node-0-$host OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_LOCAL_RANK=$local "$@" &
  done
done
wait
"""

_HOST = "job-node-0-%d"


def mac(host: int, number: int) -> str:
    """Return the address of a rail's port."""
    return f"02:00:00:00:{host:02x}:{number:02x}"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a test ended.

    Args:
        rows: of the table, without its head.
    """

    code: int
    out: str
    log: str

    @property
    def rows(self) -> list[list[str]]:
        lines = self.out.splitlines()
        assert lines[0].split() == ["what", "where", "measured", "threshold", "verdict"]
        return [re.split(r" {2,}", line.strip()) for line in lines[1:]]

    def verdicts(self, what: str) -> list[str]:
        """Return the verdicts of the rows about something."""
        return [row[-1] for row in self.rows if row[0].startswith(what)]


@dataclass(slots=True)
class Stage:
    """A job of some hosts, whose programs are scripts of a test."""

    folder: Path
    hosts: int = 2
    slots: int = 2
    nodes: Sequence[str] = ()
    environment: dict[str, str] = field(default_factory=dict)

    def tool(self, name: str, body: str) -> None:
        """Write a program."""
        (programs := self.folder / "bin").mkdir(exist_ok=True)
        (file := programs / name).write_text(f"#!/bin/bash\n{body}\n", "utf-8")
        file.chmod(0o755)

    def rail(self, number: int, device: str, link: str = "InfiniBand", cpus: str = "0") -> None:
        """Add a rail to each host: its interface, its RDMA device, and the CPUs beside it."""
        for host in range(self.hosts):
            classes = self.folder / f"{_HOST % host}/class"
            interface, card = classes / f"net/net{number + 1}", classes / f"infiniband/{device}"
            (interface / f"device/infiniband/{device}").mkdir(parents=True)
            (interface / "address").write_text(f"{mac(host, number)}\n")
            for folder in ("device", "ports/1/gid_attrs/types", "ports/1/gids"):
                (card / folder).mkdir(parents=True)
            (card / "device/local_cpulist").write_text(f"{cpus}\n")
            (card / "ports/1/link_layer").write_text(f"{link}\n")
            gids = {"0": ("IB/RoCE v1", "fe80:0000:0000:0000:0000:0000:0000:0001")}
            gids["3"] = ("RoCE v2", f"0000:0000:0000:0000:0000:ffff:7f{host:02x}:{number:02x}01")
            for index, (kind, address) in gids.items():
                (card / "ports/1/gid_attrs/types" / index).write_text(f"{kind}\n")
                (card / "ports/1/gids" / index).write_text(f"{address}\n")

    def neighbours(self, host: int, answers: Mapping[tuple[int, int], str]) -> None:
        """Write the neighbour table of a host: the MAC that answered for a host's rail."""
        lines = [
            f"127.{other}.{number}.1  0x1  0x2  {found}  *  net{number + 1}\n"
            for (other, number), found in answers.items()
        ]
        head = "IP address       HW type     Flags       HW address            Mask     Device\n"
        (self.folder / (_HOST % host)).mkdir(exist_ok=True)
        (self.folder / (_HOST % host) / "arp").write_text("".join([head, *lines]))

    def counter(self, host: int, device: str, name: str, value: int) -> None:
        """Write a counter of a device."""
        folder = self.folder / f"{_HOST % host}/class/infiniband/{device}/ports/1/hw_counters"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"{value}\n")

    def run(self, test: str, **settings: str) -> Ended:
        """Run the script of a test to its end."""
        self.tool("mpirun", _MPIRUN.removeprefix("#!/bin/bash\n"))
        names = [_HOST % number for number in range(self.hosts)]
        hostfile = "".join(f"{name}.job slots={self.slots}\n" for name in names)
        (self.folder / "hostfile").write_text(hostfile)
        (boots := self.folder / "boots").mkdir(exist_ok=True)
        for name, node in zip(names, self.nodes or names, strict=True):
            (boots / name).write_text(f"{node}\n")
        told = [f"{name}={value}" for name, value in {"mpirun": "mpirun", **settings}.items()]
        done = subprocess.run(
            ["bash", "-c", self._script(test), f"test-{test}", *told],
            env=self._environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def _script(self, test: str) -> str:
        text = script(test)
        places = {
            "/etc/mpi/hostfile": f"{self.folder}/hostfile",
            "/proc/sys/kernel/random/boot_id": f"{self.folder}/boots/$HOSTNAME",
            "/sys/class": f"{self.folder}/$HOSTNAME/class",
            "/sys/module": f"{self.folder}/module",
            "/proc/net/arp": f"{self.folder}/$HOSTNAME/arp",
            "/dev/nvidia": f"{self.folder}/nvidia",
            # Real programs and a real network need the second.
            "sleep 1": "sleep 0.1",
        }
        for place, ours in places.items():
            text = text.replace(place, ours)
        return text

    def _environment(self) -> Mapping[str, str]:
        counts = {"HOSTS": str(self.hosts), "SLOTS": str(self.slots)}
        own = {"HOSTNAME": "job-node-0-0", "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        # In a pod, what a script leaves in the temporary folder goes with the pod.
        own["TMPDIR"] = str(self.folder)
        return {**os.environ, **own, **counts, **self.environment}
