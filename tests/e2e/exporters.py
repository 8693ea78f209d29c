"""The exporters as processes: what a kernel or a GPU would show them is in files of the test."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.engines import KUBE_STATE_METRICS, NODE_EXPORTER, engine
from tests.e2e.stage import Scene
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.nodes import nodes
from trainyard_rehearsal.control_plane.processes import LOOPBACK, Processes, free_ports

HOST = os.uname().nodename
"""Node exporter's name of its host, and so the name of the node that it is about."""

DCGM_EXPORTER = "dcgm-exporter"

_RECORDED = Path(__file__).parent / "expositions" / f"{DCGM_EXPORTER}.prom"
_ACTIVE, _DOWN = "4: ACTIVE", "1: DOWN"
_LABELS = "--metric-labels-allowlist=nodes=[*]"
_RESOURCES = "--resources=jobs,nodes,pods,resourcequotas"


@dataclass(frozen=True, slots=True)
class Port:
    """A port of this host as the kernel shows it, in a folder of the test.

    Layout: prometheus/procfs:sysfs/class_infiniband.go@v0.21.1.
    """

    folder: Path

    def write(
        self, *, up: bool = True, gigabits: int = 400, downed: int = 0, symbol_errors: int = 0
    ) -> None:
        """Write the state of the port."""
        files = {
            "link_layer": "InfiniBand",
            "state": _ACTIVE if up else _DOWN,
            "phys_state": "5: LinkUp" if up else "3: Disabled",
            "rate": f"{gigabits} Gb/sec (4X NDR)",
            "counters/link_downed": str(downed),
            "counters/symbol_error": str(symbol_errors),
        }
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content}\n", "utf-8")


def port(folder: Path, device: str) -> Port:
    """Return port 1 of a device of this host, active and without errors."""
    home = folder / "sys" / "class" / "infiniband" / device
    found = Port(home / "ports" / "1")
    found.write()
    for name, content in {"board_id": "MT_0000000838", "fw_ver": "28.39", "hca_type": ""}.items():
        (home / name).write_text(f"{content}\n", "utf-8")
    return found


@dataclass(frozen=True, slots=True)
class Gpu:
    """The exposition of a GPU, which a file server shows instead of DCGM exporter."""

    folder: Path

    def write(self, pod: str = "", **values: int) -> None:
        """Write the exposition, with other values of some metrics, and of another pod."""
        text = _RECORDED.read_text("utf-8")
        if pod:
            text = text.replace('pod="llm-node-0-0"', f'pod="{pod}"')
        for metric, value in values.items():
            text = re.sub(rf"(?m)^({metric}{{.*}}) .*$", rf"\g<1> {value}", text)
        self.folder.mkdir(parents=True, exist_ok=True)
        # Renamed, so that no scrape reads half of it.
        (self.folder / "new").write_text(text, "utf-8")
        (self.folder / "new").replace(self.folder / "metrics")


def node(scene: Scene) -> Body:
    """Return this host as a further node of the cluster's first pool."""
    body = next(nodes(scene.site))
    labels = {**body["metadata"]["labels"], "kubernetes.io/hostname": HOST}
    return {**body, "metadata": {**body["metadata"], "name": HOST, "labels": labels}}


def start(scene: Scene, processes: Processes, folder: Path) -> dict[str, int]:
    """Start the exporters, with files of a folder; return their ports.

    Raises:
        ToolError: one can't be started.
    """
    Gpu(folder / "gpu").write()
    (folder / "sys").mkdir(exist_ok=True)
    gpu, cluster, own, host = free_ports(4)
    served = ("-m", "http.server", str(gpu), "--bind", LOOPBACK, "--directory", str(folder / "gpu"))
    processes.start_as(DCGM_EXPORTER, [sys.executable, *served], {})
    arguments = [
        *("--kubeconfig", str(scene.lab.kubeconfig), _RESOURCES, _LABELS),
        *(f"--host={LOOPBACK}", f"--port={cluster}"),
        *(f"--telemetry-host={LOOPBACK}", f"--telemetry-port={own}"),
    ]
    processes.start(engine(KUBE_STATE_METRICS), arguments)
    arguments = [
        *(f"--path.sysfs={folder / 'sys'}", f"--web.listen-address={LOOPBACK}:{host}"),
        *("--collector.disable-defaults", "--collector.infiniband", "--collector.uname"),
    ]
    processes.start(engine(NODE_EXPORTER), arguments)
    return {DCGM_EXPORTER: gpu, KUBE_STATE_METRICS: cluster, NODE_EXPORTER: host}
