"""Look at the group and kind of every object."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._components import Brought, brought, once

_REASONS = {
    "Application ApplicationSet AppProject": "Argo CD would deliver whatever it names, where it "
    "says",
    "CronJob DaemonSet Deployment Job JobSet MPIJob Notebook Pod PyTorchJob RayCluster RayJob "
    "ReplicaSet StatefulSet TrainJob Workload": "jobs are submitted, not synced",
    "AdmissionCheck APIServer ClusterExternalSecret ClusterQueue ClusterRole ClusterRoleBinding "
    "ClusterSecretStore ClusterTrainingRuntime Cohort CustomResourceDefinition KubeletConfig Kueue "
    "MachineConfig MachineConfigPool MutatingWebhookConfiguration Namespace PersistentVolume "
    "PriorityClass ResourceFlavor SecurityContextConstraints StorageClass Topology "
    "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration "
    "WorkloadPriorityClass": "it is cluster-wide, whatever namespace it says",
    "IPPool MultiNetworkPolicy NetworkAttachmentDefinition SriovIBNetwork SriovNetwork "
    "SriovNetworkNodePolicy SriovNetworkPoolConfig": "it chooses any partition, VLAN or address",
    "LimitRange ResourceQuota": "the namespace has Trainyard's, and one that counts what Kueue "
    "counts halves gangs",
    "LocalQueue NetworkPolicy Role RoleBinding ServiceAccount": "isolation is made of it",
    "PersistentVolumeClaim": "the team's profile asks for it, under `storage`",
    "SealedSecret Secret": "Git is no place for secrets, encoded or not",
    "SecretStore": "the cluster's profile names the stores",
    "TrainingRuntime": "only ClusterTrainingRuntimes are admitted, and those are made from profiles",
}


_WHY_NOT = {kind: reason for kinds, reason in _REASONS.items() for kind in kinds.split()}


RULE = Rule(
    id="delivery/component-of-forbidden-kind",
    severity=Severity.ERROR,
    summary="A component holds only what no profile can say: the kinds that the release lists.",
    why="""
        It is applied with the platform's rights, and an AppProject can't restrict content. Policies
        and roles add up: one more NetworkPolicy or RoleBinding opens the team. A job in Git is made
        again whenever somebody deletes it, and one with `suspend: true` is fought over: generation
        15 in 75 s, the pods killed and made again (seen with Argo CD 3.5.7 and Kueue 0.19.2). What
        is cluster-wide stops the whole unit: `resource :Namespace is not permitted in project
        <project>` (seen with Argo CD 3.5.7).
    """,
    fix="""
        Say it in the team's or the cluster's profile, or submit it as a user; secrets come out of a
        secret store.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    forbidden = (each for each in brought(platform) if not each.served)
    yield from once(
        RULE.at(each.at / "kind", f"{each.display}: {_why_not(each)}") for each in forbidden
    )


def _why_not(each: Brought) -> str:
    if each.kind.endswith("List"):
        return "in a list could stand anything"
    permitted = " and ".join(
        f"{kind}s" for kind in sorted(each.site.cluster.release.component_kinds)
    )
    return _WHY_NOT.get(each.kind, f"a component may hold {permitted}")


CHECK = Check(RULE, find)
