"""Profiles of a large platform: many teams with two nodes each, on clusters of two releases in
turn."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

CLUSTER = """\
release: {release}
server: https://{name}.example.com:6443
pools:
  {pool}: {{nodes: {nodes}, reserve: 4, fabric: {fabric}}}
fabrics:
  {fabric}: {{{link}, addresses: 10.0.0.0/8, block: 18, levels: [ml.example.com/leaf]}}
cohorts: {{research: {{}}}}
priorities: {{production: 1000, batch: 500}}
storage:
  home: {{nfs: {{server: nfs.example.com, path: /export/home}}}}
  checkpoints: {{s3: {{endpoint: "https://s3.example.com", secretStore: vault, path: ml/teams}}}}
pullSecrets:
  registry-pull: {{secretStore: vault, path: ml/registry}}
egress:
  object-store: {{to: [203.0.113.0/28], ports: [443]}}
networks: {{pods: 172.16.0.0/14, services: 172.30.0.0/16, machines: 192.0.2.0/24}}
roles: {{operator: [ml-platform], auditor: [security-audit]}}
external:
  ClusterSecretStore/vault: security team
  {segments}/{fabric}: fabric team of {name}
  {prepared}: fabric team
  NodeFirmware/{fabric}: hardware team
  NodeLabel/ml.example.com/leaf: fabric team
"""
TEAM = """\
contact: {team}@example.com
groups: {{admin: [{team}-leads], user: [{team}], viewer: [{team}-guests]}}
serviceAccounts: {{ci-runner: {{role: user}}}}
runtimes: [openmpi-cuda]
cohort: research
quota:
  {cluster}: {{{pool}: {{nodes: 2, borrow: 2}}}}
priorities: [batch]
storage: {{home: 2Ti, checkpoints: {team}-checkpoints}}
"""


@dataclass(frozen=True)
class Kind:
    """Settings of the clusters of a release.

    Args:
        segments: kind of the fabric's segments, which are declared as external.
        prepared: another external object of the fabric.
        held: template of a team's segment, from its number in the cluster.
    """

    release: str
    pool: str
    fabric: str
    link: str
    segments: str
    prepared: str
    held: str


KINDS = (
    Kind(
        release="openshift-ai-3.5",
        pool="dgx-h100",
        fabric="ib",
        link="link: infiniband, partitions: 0x0100-0x017f",
        segments="Partitions",
        prepared="IPReconciler/whereabouts",
        held='partition: "0x01{0:02x}"',
    ),
    Kind(
        release="kubernetes-1.36",
        pool="xe9680-h200",
        fabric="roce",
        link="link: roce, vlans: 1000-1127",
        segments="Vlans",
        prepared="LosslessQueue/roce",
        held="vlan: {1}",
    ),
)
COPIED = (
    "trainyard.yaml",
    *(f"hardware/{kind.pool}.yaml" for kind in KINDS),
    "hardware/xe9680-h200-shared.yaml",
    "runtimes/openmpi-cuda.yaml",
)


def write_platform(root: Path, repository: Path, teams: int, clusters: int) -> None:
    """Write the profiles of a platform, with settings, hardware and runtime of this repository."""
    for folder in ("clusters", "hardware", "runtimes", "teams"):
        (root / folder).mkdir(parents=True)
    for name in COPIED:
        (root / name).write_bytes((repository / "profiles" / name).read_bytes())
    nodes = max(104, 4 + 2 * -(-teams // clusters))
    blocks = list(IPv4Network("10.0.0.0/8").subnets(new_prefix=18))
    allocations = ""
    for number in range(clusters):
        kind, cluster = KINDS[number % len(KINDS)], f"cluster-{number}"
        (root / "clusters" / f"{cluster}.yaml").write_text(
            CLUSTER.format(name=cluster, nodes=nodes, **vars(kind))
        )
        allocations += f"{cluster}:\n  {kind.fabric}:\n"
        for slot, each in enumerate(range(number, teams, clusters)):
            team, held = f"team-{each:04}", kind.held.format(1 + slot, 1000 + slot)
            (root / "teams" / f"{team}.yaml").write_text(
                TEAM.format(team=team, cluster=cluster, pool=kind.pool)
            )
            allocations += f"    {team}: {{{held}, addresses: {blocks[slot]}}}\n"
    (root / "allocations.yaml").write_text(allocations)
