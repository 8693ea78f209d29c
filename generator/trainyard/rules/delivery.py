"""Hand-written components: they reach a team's namespace with the rights of the platform."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.reach import mapping
from trainyard.rules._check import Check
from trainyard.rules._components import Brought, brought, once

_REASONS = {
    "Application ApplicationSet AppProject": "Argo CD would deliver whatever it names, where it says",
    "CronJob DaemonSet Deployment Job JobSet MPIJob Notebook Pod PyTorchJob RayCluster RayJob ReplicaSet StatefulSet"
    " TrainJob Workload": "jobs are submitted, not synced",
    "AdmissionCheck APIServer ClusterExternalSecret ClusterQueue ClusterRole ClusterRoleBinding ClusterSecretStore"
    " ClusterTrainingRuntime Cohort CustomResourceDefinition KubeletConfig Kueue MachineConfig MachineConfigPool"
    " MutatingWebhookConfiguration Namespace PersistentVolume PriorityClass ResourceFlavor SecurityContextConstraints"
    " StorageClass Topology ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration"
    " WorkloadPriorityClass": "it is cluster-wide, whatever namespace it says",
    "IPPool MultiNetworkPolicy NetworkAttachmentDefinition SriovIBNetwork SriovNetwork SriovNetworkNodePolicy"
    " SriovNetworkPoolConfig": "it chooses any partition, VLAN or address",
    "LimitRange ResourceQuota": "the namespace has Trainyard's, and one that counts what Kueue counts halves gangs",
    "LocalQueue NetworkPolicy Role RoleBinding ServiceAccount": "isolation is made of it",
    "PersistentVolumeClaim": "the team's profile asks for it, under `storage`",
    "SealedSecret Secret": "Git is no place for secrets, encoded or not",
    "SecretStore": "the cluster's profile names the stores",
    "TrainingRuntime": "only ClusterTrainingRuntimes are admitted, and those are made from profiles",
}
_WHY_NOT = {kind: reason for kinds, reason in _REASONS.items() for kind in kinds.split()}

KEYS = frozenset(
    {
        *(f"app.kubernetes.io/{name}" for name in ("component", "name", "part-of", "version")),
        "opendatahub.io/dashboard",
        "openshift.io/description",
        "openshift.io/display-name",
    }
)
"""Labels and annotations that tell people something and steer no controller of ours."""
_OWNERS = {
    "*-mpi-hostfile": "Trainer",
    "*-runtime-snapshot": "Trainer",
    "kube-root-ca.crt": "Kubernetes",
    "openshift-service-ca.crt": "OpenShift",
}
"""Who makes a ConfigMap, by a pattern of its name."""

_OF_SECRET = ("spec", "target", "template", "metadata")

COMPONENT_IN_FOREIGN_NAMESPACE = Rule(
    id="delivery/component-in-foreign-namespace",
    severity=Severity.ERROR,
    summary="A component's objects stand in the namespace of the team that lists it.",
    why=(
        "The team's AppProject permits its own namespace only, and Argo CD refuses the whole unit, what is right in it"
        " too: `namespace <namespace> is not permitted in project '<project>'` (seen with Argo CD 3.5.7)."
    ),
    fix="Set `metadata.namespace` to the team's; what is not in a namespace does not belong to a team.",
)
COMPONENT_OF_FORBIDDEN_KIND = Rule(
    id="delivery/component-of-forbidden-kind",
    severity=Severity.ERROR,
    summary="A component holds only what no profile can say: the kinds that the release lists.",
    why=(
        "It is applied with the platform's rights, and an AppProject can't restrict content. Policies and roles add up:"
        " one more NetworkPolicy or RoleBinding opens the team. A job in Git is made again whenever somebody deletes"
        " it, and one with `suspend: true` is fought over: generation 15 in 75 s, the pods killed and made again (seen"
        " with Argo CD 3.5.7 and Kueue 0.19.2). What is cluster-wide stops the whole unit: `resource :Namespace is not"
        " permitted in project <project>` (seen with Argo CD 3.5.7)."
    ),
    fix="Say it in the team's or the cluster's profile, or submit it as a user; secrets come out of a secret store.",
)
FOREIGN_METADATA_KEY = Rule(
    id="delivery/foreign-metadata-key",
    severity=Severity.ERROR,
    summary="A component's objects carry no label, annotation or finalizer that steers a controller, or pretends to.",
    why=(
        "One `argocd.argoproj.io/sync-options: Prune=confirm` freezes the team's whole unit once the object goes:"
        " `waiting for pruning confirmation of /ConfigMap/<name>`, and nothing newer is applied (seen with Argo CD"
        " 3.5.7). A made-up key does nothing and looks like a promise."
    ),
    fix="Leave it out, or take a key below the settings' `domain`; say placement, storage and regulation in profiles.",
)
SECRET_OF_ANOTHER = Rule(
    id="delivery/secret-of-another",
    severity=Severity.ERROR,
    summary="A component's ExternalSecret writes a Secret of its own.",
    why=(
        "With `Merge` it writes keys into a Secret that somebody else made, such as the team's pull secret or the token"
        " of an account. With `Orphan` or `None` the Secret stays, or is never there, when the component goes."
    ),
    fix="Leave `creationPolicy` out, and give `target` a name that no other Secret has.",
)
NAME_OF_A_CONTROLLER = Rule(
    id="delivery/name-of-a-controller",
    severity=Severity.ERROR,
    summary="A component's ConfigMap has no name that a controller uses for its own.",
    why=(
        "Trainer builds pods from `<job>-runtime-snapshot`, so admission refuses it, and the unit is not synced: `are"
        " Trainer's alone` (seen with Argo CD 3.5.7). The other ConfigMaps are written by a controller too: Argo CD and"
        " the controller overwrite each other's data."
    ),
    fix="Give the ConfigMap another name.",
)
UNSERVED_VERSION = Rule(
    id="release/unserved-version",
    severity=Severity.ERROR,
    summary="A component's objects are of the API version that the release serves.",
    why=(
        "Argo CD stops the whole unit: `failed to discover server resources for group version"
        " <version>: the server could not find the requested resource` (seen with Argo CD 3.5.7)."
    ),
    fix="Write the served version, and look up what else changed between the two.",
)
UNLISTED_COMPONENT = Rule(
    id="delivery/unlisted-component",
    severity=Severity.WARNING,
    summary="Some team lists each component.",
    why=(
        "It looks like configuration in review, but is neither delivered (seen with Argo CD 3.5.7: Synced, and nothing"
        " of it there) nor checked against the platform."
    ),
    fix="List it under `components` of a team, or remove its folder.",
)


def component_in_foreign_namespace(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the namespace of each object with those of each team that lists it."""
    yield from once(_in_foreign_namespace(platform))


def _in_foreign_namespace(platform: Platform) -> Iterator[Diagnostic]:
    for each in brought(platform):
        where = each.body["metadata"].get("namespace", "")
        namespaces = [space.namespace for space in each.tenant.spaces]
        if each.served and where not in namespaces:
            stands = f"stands in `{where}`" if where else "says no namespace"
            own = ", ".join(f"`{namespace}`" for namespace in namespaces)
            message = f"{each.told} {stands}; team {each.tenant.name} has {own}"
            yield COMPONENT_IN_FOREIGN_NAMESPACE.at(each.at / "metadata" / "namespace", message)


def component_of_forbidden_kind(platform: Platform) -> Iterator[Diagnostic]:
    """Look at the group and kind of every object."""
    forbidden = (each for each in brought(platform) if not each.served)
    yield from once(
        COMPONENT_OF_FORBIDDEN_KIND.at(each.at / "kind", f"{each.told}: {_why_not(each)}") for each in forbidden
    )


def _why_not(each: Brought) -> str:
    if each.kind.endswith("List"):
        return "in a list could stand anything"
    permitted = " and ".join(f"{kind}s" for kind in sorted(each.site.cluster.release.component_kinds))
    return _WHY_NOT.get(each.kind, f"a component may hold {permitted}")


def foreign_metadata_key(platform: Platform) -> Iterator[Diagnostic]:
    """Look at everything in the metadata of every object that a component may hold."""
    domain = platform.settings.domain
    yield from once(
        FOREIGN_METADATA_KEY.at(each.at.below(path).key(), f"{each.told} has {what}")
        for each in brought(platform)
        if each.served
        for path, what in _foreign(each, domain)
    )


def _foreign(each: Brought, domain: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the path of each key that does not belong there, and what it is.

    An ExternalSecret also says what metadata its Secret gets.
    """
    for path in (("metadata",), _OF_SECRET):
        metadata = mapping(each.body, *path)
        for field in sorted(metadata.keys() - {"annotations", "labels", "name", "namespace"}):
            yield (*path, field), f"`{field}`"
        for field in ("annotation", "label"):
            for key in mapping(metadata, f"{field}s"):
                prefix = key.rpartition("/")[0]
                if key not in KEYS and prefix != domain and not prefix.endswith(f".{domain}"):
                    yield (*path, f"{field}s", key), f"the {field} `{key}`"


def secret_of_another(platform: Platform) -> Iterator[Diagnostic]:
    """Look at who owns the Secret that each ExternalSecret writes."""
    for each in brought(platform, "ExternalSecret"):
        policy = mapping(each.body, "spec", "target").get("creationPolicy", "Owner")
        if each.served and policy != "Owner":
            at = each.at / "spec" / "target" / "creationPolicy"
            yield SECRET_OF_ANOTHER.at(at, f"{each.told} writes with `creationPolicy: {policy}`")


def name_of_a_controller(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the name of every ConfigMap with those that controllers make."""
    yield from once(
        NAME_OF_A_CONTROLLER.at(each.at / "metadata" / "name", f"{each.told} has a name that only {owner} may use")
        for each in brought(platform, "ConfigMap")
        for pattern, owner in _OWNERS.items()
        if each.served and fnmatchcase(each.body["metadata"]["name"], pattern)
    )


def unserved_version(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the version of every object with the release's."""
    yield from once(
        UNSERVED_VERSION.at(
            each.at / "apiVersion",
            f"{each.told} is {each.body['apiVersion']}; {each.site.cluster.release.name} serves {each.served}",
        )
        for each in brought(platform)
        if each.served not in ("", each.body["apiVersion"])
    )


def unlisted_component(platform: Platform) -> Iterator[Diagnostic]:
    """Find components that no team names; one that is retired keeps its own."""
    listed = {name for team in platform.teams for name in team.components}
    for component in platform.components:
        if component.name not in listed:
            yield UNLISTED_COMPONENT.at(component.at, f"no team lists the component `{component.name}`")


CHECKS = (
    Check(COMPONENT_IN_FOREIGN_NAMESPACE, component_in_foreign_namespace),
    Check(COMPONENT_OF_FORBIDDEN_KIND, component_of_forbidden_kind),
    Check(FOREIGN_METADATA_KEY, foreign_metadata_key, every=("trainyard.yaml",)),
    Check(NAME_OF_A_CONTROLLER, name_of_a_controller),
    Check(SECRET_OF_ANOTHER, secret_of_another),
    Check(UNSERVED_VERSION, unserved_version),
    Check(UNLISTED_COMPONENT, unlisted_component, every=("teams/", "components")),
)
