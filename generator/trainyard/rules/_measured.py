"""How a site measures what its servers are ordered with."""

from __future__ import annotations

from collections.abc import Mapping

MEASURED: Mapping[str, str] = {
    "cpu": (
        "Give `{sockets, cores, threads}` of the whole node: `lscpu` shows Socket(s), Core(s) per "
        "socket times these, and CPU(s)."
    ),
    "numaNodes": "Give what `lscpu` on such a node shows as NUMA node(s).",
    "memory": "Give what `dmidecode --type memory` on such a node adds up to, e.g. `2Ti`.",
    "nics": "Give the ports that `lspci` shows, with the GPUs beside them of `nvidia-smi topo -m`.",
    "ephemeralStorage": (
        "Give the size that `df --block-size=1G /var/lib/kubelet` shows on such a node, as Gi."
    ),
}
"""How the site finds what servers are ordered with, by the field."""
