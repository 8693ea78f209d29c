"""Put answers in place of the choices of drafts, as somebody does by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from trainyard.yaml_io.choices import MARK

NETWORKS = "networks: {pods: 10.244.0.0/16, services: 10.96.0.0/12, machines: 198.51.100.0/24}"
USUAL = {
    "runtimes": "runtimes: [torchrun]",
    "contact": "contact: ml@corp.internal",
    "networks": NETWORKS,
    "server": "server: https://site.corp.internal:6443",
    "sharing": "",
    "frameworks": "",
    "monitoring": "",
    "roles": "",
    "cpu": "cpu: {sockets: 2, cores: 112, threads: 224}",
    "systemNamespaces": "systemNamespaces: [monitoring]",
    "numaNodes": "numaNodes: 2",
    "nics": "",
    # A claim stays as it is: pods are on it.
    "storage": "",
    "queues: site": "queues: site",
    "until": 'until: "2099-03-31"',
    "reason": "reason: teams move one after the other",
}
"""Answers that any site can give, by the beginning of the choice; empty deletes the comment."""


def decide(root: Path, answers: Mapping[str, str]) -> list[str]:
    """Replace each choice by its answer; return those without one."""
    left = []
    for path in sorted(root.glob("*/*.yaml")):
        lines = []
        for line in path.read_text("utf-8").splitlines():
            indent, mark, text = line.partition(MARK)
            if not mark or indent.strip():
                lines.append(line)
                continue
            known = [answer for key, answer in answers.items() if text.startswith(key)]
            left += [] if known else [text]
            lines += [f"{indent}{part}" for answer in known[:1] for part in answer.splitlines()]
        path.write_text("\n".join([*lines, ""]), "utf-8")
    return left


def write_runtime(root: Path) -> None:
    """Write a runtime for all drafted hardware, with the name that answers give."""
    hardware = ", ".join(sorted(path.stem for path in (root / "hardware").glob("*.yaml")))
    (root / "runtimes").mkdir()
    (root / "runtimes/torchrun.yaml").write_text(
        "launcher: torchrun\n"
        f"hardware: [{hardware}]\n"
        f"image: registry.corp.internal/ml/torch@sha256:{'1' * 64}\n"
        'libraries: {torch: "2.6.0", cuda: "12.6", nccl: "2.23.4"}\n'
        "maxNodes: 8\n",
        "utf-8",
    )
