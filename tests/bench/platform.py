"""Profiles of a large platform: many teams spread over clusters of 64 nodes."""

from __future__ import annotations

from ipaddress import IPv4Network
from pathlib import Path

CLUSTER = """\
release: openshift-ai-3.5
pools:
  dgx-h100: {nodes: 64, reserve: 2, fabric: ib}
fabrics:
  ib: {link: infiniband, partitions: 0x0100-0x017f, addresses: 10.0.0.0/8, block: 19, levels: [ml.example.com/leaf]}
cohorts: {research: {}}
priorities: {production: 1000, batch: 500}
storage:
  home: {nfs: {server: nfs.example.com, path: /export/home}}
  checkpoints: {s3: {endpoint: "https://s3.example.com", secretStore: vault, path: ml/teams}}
pullSecrets:
  registry-pull: {secretStore: vault, path: ml/registry}
egress:
  object-store: {to: [203.0.113.0/28], ports: [443]}
networks: {pods: 172.16.0.0/14, services: 172.30.0.0/16, machines: 192.0.2.0/24}
roles: {operator: [ml-platform], auditor: [security-audit]}
external:
  ClusterSecretStore/vault: security team
  Partitions/ib: fabric team
  NodeLabel/ml.example.com/leaf: fabric team
"""
TEAM = """\
contact: {team}@example.com
groups: {{admin: [{team}-leads], user: [{team}], viewer: [{team}-guests]}}
serviceAccounts: {{ci-runner: {{role: user}}}}
runtimes: [openmpi-cuda]
cohort: research
quota:
  {cluster}: {{dgx-h100: {{nodes: 1, borrow: 3}}}}
largestJob: {{nodes: 4}}
storage: {{home: 2Ti, checkpoints: {team}-checkpoints}}
"""


def write_platform(root: Path, repository: Path, teams: int, clusters: int) -> None:
    """Write the profiles of a platform; settings, hardware and runtime are this repository's own."""
    for folder in ("clusters", "hardware", "runtimes", "teams"):
        (root / folder).mkdir(parents=True)
    for name in ("trainyard.yaml", "hardware/dgx-h100.yaml", "runtimes/openmpi-cuda.yaml"):
        (root / name).write_bytes((repository / "profiles" / name).read_bytes())
    names = [f"cluster-{number}" for number in range(clusters)]
    blocks = list(IPv4Network("10.0.0.0/8").subnets(new_prefix=19))
    allocations: dict[str, list[str]] = {name: [] for name in names}
    for name in names:
        (root / "clusters" / f"{name}.yaml").write_text(CLUSTER)
    for number in range(teams):
        team, cluster, slot = f"team-{number:04}", names[number % clusters], number // clusters
        (root / "teams" / f"{team}.yaml").write_text(TEAM.format(team=team, cluster=cluster))
        held = f'    {team}: {{partition: "0x{0x0101 + slot:04x}", addresses: {blocks[slot]}}}'
        allocations[cluster].append(held)
    lines = (f"{name}:\n  ib:\n" + "\n".join(held) + "\n" for name, held in allocations.items())
    (root / "allocations.yaml").write_text("".join(lines))
