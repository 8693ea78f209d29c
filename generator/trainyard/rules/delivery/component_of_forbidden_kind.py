"""Find objects of components whose group and kind the release does not permit."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._components import ComponentObject, component_objects, distinct

_REASONS = {
    "Application ApplicationSet AppProject": "Argo CD would deliver everything that it names, "
    "to any place",
    "CronJob DaemonSet Deployment Job JobSet MPIJob Notebook Pod PyTorchJob RayCluster RayJob "
    "ReplicaSet StatefulSet TrainJob Workload": "jobs are submitted, not synced",
    "AdmissionCheck APIServer ClusterExternalSecret ClusterQueue ClusterRole ClusterRoleBinding "
    "ClusterSecretStore ClusterTrainingRuntime Cohort CustomResourceDefinition KubeletConfig Kueue "
    "MachineConfig MachineConfigPool MutatingWebhookConfiguration Namespace PersistentVolume "
    "PriorityClass ResourceFlavor SecurityContextConstraints StorageClass Topology "
    "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration "
    "WorkloadPriorityClass": "it is cluster-scoped, even if it has a namespace",
    "IPPool MultiNetworkPolicy NetworkAttachmentDefinition SriovIBNetwork SriovNetwork "
    "SriovNetworkNodePolicy SriovNetworkPoolConfig": "it can use any partition, VLAN or address",
    "LimitRange ResourceQuota": "the namespace has Trainyard's, and another that limits what "
    "Kueue counts lets only some pods of a job start",
    "LocalQueue NetworkPolicy Role RoleBinding ServiceAccount": "isolation objects are "
    "generated from profiles",
    "PersistentVolumeClaim": "request it under `storage` in the team's profile",
    "SealedSecret Secret": "secrets must not be in Git, encoded or not",
    "SecretStore": "stores are declared in the cluster's profile",
    "TrainingRuntime": "only ClusterTrainingRuntimes are admitted, and those are generated from "
    "profiles",
}


_WHY_NOT = {kind: reason for kinds, reason in _REASONS.items() for kind in kinds.split()}


RULE = Rule(
    id="delivery/component-of-forbidden-kind",
    severity=Severity.ERROR,
    summary="A component contains only the kinds that its release permits for components.",
    why="""
        One more NetworkPolicy or RoleBinding opens the team, because policies and roles add up.
        Components are applied with the platform's rights, and an AppProject cannot restrict their
        content. A job in Git is created again whenever someone deletes it, and with `suspend: true`
        Argo CD and Kueue overwrite each other's changes to it: generation 15 in 75 s, the pods
        killed and created again (seen with Argo CD 3.5.7 and Kueue 0.19.2). A cluster-scoped object
        stops the whole sync unit: `resource :Namespace is not permitted in project <project>` (seen
        with Argo CD 3.5.7).
    """,
    fix="""
        Express it in the team's or the cluster's profile, or submit it as a user. Take secrets from
        a secret store, with an ExternalSecret.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    yield from distinct(_findings(platform))


def _findings(platform: Platform) -> Iterator[Diagnostic]:
    for handwritten in component_objects(platform):
        if not handwritten.served:
            yield RULE.at(
                handwritten.at / "kind",
                f"{handwritten.display}: {_why_not(handwritten)}",
            )


def _why_not(each: ComponentObject) -> str:
    """Return why a component may not contain an object, or which kinds it may contain."""
    if each.kind.endswith("List"):
        return "a list can contain objects of any kind"
    kinds = sorted(each.site.cluster.release.component_kinds)
    permitted = " and ".join(f"{kind}s" for kind in kinds)
    return _WHY_NOT.get(each.kind, f"a component may contain {permitted}")


CHECK = Check(RULE, find)
