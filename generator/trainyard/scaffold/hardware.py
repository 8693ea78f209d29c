"""Write the profile of a new hardware type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.scaffold.measured import facts, gpus_of, ports_of
from trainyard.scaffold.nodes import Measured
from trainyard.scaffold.ports import port_lines, read_ports
from trainyard.scaffold.template import filled

_UNKNOWN = {
    "cpu": "{sockets: 2, cores: 64, threads: 128} # placeholder: the processors of one node",
    "numaNodes": "2 # placeholder: the NUMA nodes of one node",
    "memory": "1Ti # placeholder: the memory of one node",
    "ephemeralStorage": "1788Gi # placeholder: the file system of kubelet on one node",
    "pods": "110 # placeholder: kubelet's maxPods on one node",
    "taint": "ml.example.com/cpu # placeholder: the taint of these nodes, a key of your own domain",
    "nics": "[] # placeholder: a port beside each GPU with role rail; without any, jobs use TCP",
}
"""Example values of the fields that a preset may leave to the site."""


def hardware_profile(preset: str, fields: Mapping[str, Any]) -> bytes:
    """Return a profile that extends a preset; what the preset leaves to the site is a placeholder.

    Args:
        preset: its name.
        fields: of the preset.
    """
    given = {*fields, *(() if "gpu" in fields else ("nics",))}
    unknown = (f"{field}: {example}" for field, example in _UNKNOWN.items() if field not in given)
    values = {
        "preset": preset,
        "unknown": "\n".join(unknown),
        "cpu": fields["system"]["cpu"],
        "memory": fields["system"]["memory"],
    }
    return filled("hardware.yaml", values)


def measured_profile(found: Measured) -> bytes:
    """Return a profile of what nodes say of themselves; what they don't is a placeholder.

    Raises:
        TreeError: the nodes are of several types, or a value is none.
    """
    lines = [fact.line for fact in facts(found)]
    gpus = gpus_of(found)
    if ports := read_ports(found.first, ports_of(found)):
        lines += port_lines(found.first, ports, gpus)
    elif gpus:
        lines.append(f"nics: {_UNKNOWN['nics']}")
    return filled("measured.yaml", {"lines": "\n".join(lines)})
