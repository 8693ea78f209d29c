"""What nobody at a site can set up, because a provider operates that part of the cluster."""

from __future__ import annotations

API_SERVER_FLAGS, KUBELET_FILES, MACHINE_CONFIGS = (
    "api-server-flags",
    "kubelet-files",
    "machine-configs",
)

NEEDED_BY = {
    "audit-policy": API_SERVER_FLAGS,
    "node-files": KUBELET_FILES,
    "machine-config": MACHINE_CONFIGS,
}
"""Feature of a release -> what it needs. Managed control planes (EKS, AKS, GKE, OKE) take no flags
and their nodes no files; OpenShift with hosted control planes has no MachineConfigPools."""
