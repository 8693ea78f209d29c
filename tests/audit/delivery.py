"""What Argo CD will do with the tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.audit.tree import Tree, strings

_OPTIONS = "argocd.argoproj.io/sync-options"
UNLISTED = {"node-files", "operators", "samples"}
_WAVE = "argocd.argoproj.io/sync-wave"


def nothing_waits_to_be_pruned(tree: Tree) -> Iterator[str]:
    """``Prune=confirm`` freezes the whole unit."""
    for document in (*tree.documents, *tree.kustomizations):
        if any(
            "prune=confirm" in text.lower().replace(" ", "") for _, text in strings(document.body)
        ):
            yield f"{document.path}: Prune=confirm"


def state_is_kept(tree: Tree) -> Iterator[str]:
    for document in tree.of("Namespace", "PersistentVolume", "PersistentVolumeClaim"):
        if set(document.annotation(_OPTIONS).split(",")) != {"Prune=false", "Delete=confirm"}:
            yield f"{document.path}: {document.annotation(_OPTIONS) or 'no options'}"


def cluster_queues_come_last_and_alone(tree: Tree) -> Iterator[str]:
    waves = [
        (int(each.annotation(_WAVE) or 0), each)
        for each in tree.documents
        if each.unit == "platform"
    ]
    last = max(wave for wave, _ in waves)
    for wave, document in waves:
        if (wave == last) != (document.kind == "ClusterQueue"):
            yield f"{document.path}: wave {wave} of {last}"


def operators_objects_come_before_the_kinds_that_they_bring(tree: Tree) -> Iterator[str]:
    """The Kueue operator creates Kueue's kinds when it sees its own object: until then Argo CD must
    not miss them."""
    waves = {
        each.path: int(each.annotation(_WAVE) or 0)
        for each in tree.documents
        if each.unit == "platform"
    }
    for kueue in tree.of("Kueue"):
        for each in tree.documents:
            if (
                each.path in waves
                and each.group_kind[0] == "kueue.x-k8s.io"
                and waves[each.path] <= waves[kueue.path]
            ):
                yield f"{each.path}: not after {kueue.path}"
        for application in tree.of("Application"):
            options = application.spec["syncPolicy"]["syncOptions"]
            if (
                application.name.endswith("-platform")
                and "SkipDryRunOnMissingResource=true" not in options
            ):
                yield f"{application.path}: refused while a kind of Kueue is missing"


_OF_NODES = {
    "KubeletConfig",
    "MachineConfig",
    "MachineConfigPool",
    "SriovNetworkNodePolicy",
    "SriovNetworkPoolConfig",
}


def nodes_are_set_up_by_hand_and_apart(tree: Tree) -> Iterator[str]:
    """What drains and reboots nodes is in a unit of its own, never pruned, and synced when somebody
    says so."""
    for document in tree.documents:
        if (document.kind in _OF_NODES) != (document.unit == "nodes"):
            yield f"{document.path}: {document.kind} in {document.unit}"
        if document.unit == "nodes" and document.annotation(_OPTIONS) != "Prune=false,Delete=false":
            yield f"{document.path}: may be pruned"
    for application in tree.of("Application"):
        if application.name.endswith("-nodes") == ("automated" in application.spec["syncPolicy"]):
            yield f"{application.path}: synced by the wrong side"


def application_sets_keep_their_applications(tree: Tree) -> Iterator[str]:
    for document in tree.of("ApplicationSet"):
        spec = document.spec
        if spec["syncPolicy"].get("applicationsSync") != "create-update":
            yield f"{document.path}: may delete applications"
        if "argocd.argoproj.io/deletion-approved" not in spec.get("preservedFields", {}).get(
            "annotations", ()
        ):
            yield f"{document.path}: drops the approval of a deletion"
        if not spec.get("goTemplate") or spec.get("goTemplateOptions") != ["missingkey=error"]:
            yield f"{document.path}: renders what is missing as nothing"


def projects_are_narrow(tree: Tree) -> Iterator[str]:
    for project in tree.of("AppProject"):
        if "resources-finalizer.argocd.argoproj.io" not in project.body["metadata"].get(
            "finalizers", ()
        ):
            yield f"{project.path}: no finalizer"
        for where, text in strings(project.spec):
            if "*" in text:
                yield f"{project.path}: wildcard at {where}"
        if team := tree.team_of(project):
            namespaces = [each["namespace"] for each in project.spec["destinations"]]
            if namespaces != tree.namespaces(team):
                yield f"{project.path}: writes into {namespaces}"
            own = [
                {"group": "", "kind": "Namespace", "name": name} for name in tree.namespaces(team)
            ]
            if project.spec["clusterResourceWhitelist"] != own:
                yield f"{project.path}: cluster-wide kinds"


def applications_stay_in_their_projects(tree: Tree) -> Iterator[str]:
    projects = {each.name: each.spec for each in tree.of("AppProject")}
    for application in tree.of("Application"):
        yield from _outside(
            application.path, application.spec, projects.get(application.spec["project"], {})
        )
    for generated in tree.of("ApplicationSet"):
        for team in tree.teams:
            spec = generated.spec["template"]["spec"]
            namespace = spec["destination"]["namespace"].replace("{{.path.basename}}", team)
            project = projects.get(spec["project"].replace("{{.path.basename}}", team), {})
            filled = {**spec, "destination": {**spec["destination"], "namespace": namespace}}
            yield from _outside(f"{generated.path} for {team}", filled, project)


def _outside(path: str, spec: dict[str, Any], project: dict[str, Any]) -> Iterator[str]:
    if spec["source"]["repoURL"] not in project.get("sourceRepos", ()):
        yield f"{path}: repository not in its project"
    if spec["destination"] not in project.get("destinations", ()):
        yield f"{path}: destination not in its project"
    if not spec["source"]["targetRevision"].startswith("refs/heads/"):
        yield f"{path}: a tag may win over the branch"
    if "ServerSideApply=true" not in spec["syncPolicy"]["syncOptions"]:
        yield f"{path}: applies on the client's side"


_COME_AND_GO = {
    ("", "ConfigMap"),
    ("", "PersistentVolume"),
    ("", "PersistentVolumeClaim"),
    ("", "ServiceAccount"),
    ("batch", "CronJob"),
    ("external-secrets.io", "ExternalSecret"),
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition"),
    ("kueue.x-k8s.io", "Cohort"),
    ("kueue.x-k8s.io", "Topology"),
    ("kueue.x-k8s.io", "WorkloadPriorityClass"),
    ("nv-ipam.nvidia.com", "IPPool"),
    ("sriovnetwork.openshift.io", "SriovNetwork"),
    ("sriovnetwork.openshift.io", "SriovNetworkNodePolicy"),
    ("sriovnetwork.openshift.io", "SriovNetworkPoolConfig"),
}
"""Kinds whose last object may leave: permitted before and after, or Argo CD would not take it
away."""


def projects_list_the_kinds_of_their_unit(tree: Tree) -> Iterator[str]:
    """Neither is a kind missing that the sync would be refused for, nor is one listed that no unit
    can have."""
    for project in tree.of("AppProject"):
        team = tree.team_of(project)
        unit = f"teams/{team}" if team else project.name.rpartition("-")[2]
        listed = _kinds(project.spec, "namespaceResourceWhitelist") | _kinds(
            project.spec, "clusterResourceWhitelist"
        )
        kinds = {each.group_kind for each in tree.documents if each.unit == unit}
        if wrong := (kinds - listed) | (listed - kinds - _COME_AND_GO):
            yield f"{project.path}: not the unit's kinds: {sorted(wrong)}"


def _kinds(spec: dict[str, Any], field: str) -> set[tuple[str, str]]:
    return {(each["group"], each["kind"]) for each in spec.get(field, ())}


def every_object_is_listed(tree: Tree) -> Iterator[str]:
    """A kustomization lists each file beside it, in order, and no sample is in any."""
    units = {each.unit: each.body for each in tree.kustomizations}
    for unit in sorted({each.unit for each in tree.documents} | set(units)):
        listed = units.get(unit, {}).get("resources", [])
        there = sorted(each.path.rpartition("/")[2] for each in tree.documents if each.unit == unit)
        if unit not in UNLISTED and listed != there:
            yield f"{unit}: lists {sorted(set(listed) ^ set(there)) or 'in another order'}"
        if unit in UNLISTED and listed:
            yield "samples would be synced"


def argo_cd_may_write_every_kind(tree: Tree) -> Iterator[str]:
    """Its account holds every verb on every kind of the platform's and the teams' units."""
    rules = [
        rule
        for each in tree.of("ClusterRole")
        if each.unit == "argocd"
        for rule in each.body["rules"]
    ]
    verbs = {"create", "delete", "get", "list", "patch", "update", "watch"}
    whole = [rule for rule in rules if verbs <= set(rule["verbs"])]
    held = {
        (group, name) for rule in whole for group in rule["apiGroups"] for name in rule["resources"]
    }
    for document in tree.documents:
        group, kind = document.group_kind
        if document.unit not in {"argocd", *UNLISTED} and (group, _resource(kind)) not in held:
            yield f"{document.path}: Argo CD may not write {kind}"


def _resource(kind: str) -> str:
    irregular = {
        "NetworkAttachmentDefinition": "network-attachment-definitions",
        "NetworkPolicy": "networkpolicies",
        "SriovNetworkNodePolicy": "sriovnetworknodepolicies",
        "Topology": "topologies",
        "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
        "WorkloadPriorityClass": "workloadpriorityclasses",
    }
    return irregular.get(kind, f"{kind.lower()}s")


AUDITS = (
    argo_cd_may_write_every_kind,
    nothing_waits_to_be_pruned,
    state_is_kept,
    cluster_queues_come_last_and_alone,
    nodes_are_set_up_by_hand_and_apart,
    operators_objects_come_before_the_kinds_that_they_bring,
    application_sets_keep_their_applications,
    projects_are_narrow,
    applications_stay_in_their_projects,
    projects_list_the_kinds_of_their_unit,
    every_object_is_listed,
)
