"""Delivery of the tree by Argo CD."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from tests.audit.tree import Document, Tree, strings

_OPTIONS = "argocd.argoproj.io/sync-options"
UNLISTED = {"node-files", "operators", "samples"}
"""Folders that no unit syncs, with those in them, such as each team's samples."""
_WAVE = "argocd.argoproj.io/sync-wave"
_SKIP_DRY_RUN = "SkipDryRunOnMissingResource=true"


def no_prune_needs_confirmation(tree: Tree) -> Iterator[str]:
    """``Prune=confirm`` freezes the whole unit."""
    for document in (*tree.documents, *tree.kustomizations):
        texts = (text.lower().replace(" ", "") for _, text in strings(document.body))
        if any("prune=confirm" in text for text in texts):
            yield f"{document.path}: Prune=confirm"


def state_is_kept(tree: Tree) -> Iterator[str]:
    for document in tree.of("Namespace", "PersistentVolume", "PersistentVolumeClaim"):
        if set(document.annotation(_OPTIONS).split(",")) != {"Prune=false", "Delete=confirm"}:
            yield f"{document.path}: {document.annotation(_OPTIONS) or 'no options'}"


_LAST_KINDS = {
    "ClusterQueue",
    "GrafanaDashboard",
    "PodMonitor",
    "PrometheusRule",
    "ServiceMonitor",
}


def cluster_queues_are_in_the_last_wave(tree: Tree) -> Iterator[str]:
    """With what watches them: no object waits for a queue, or for the operator of a Prometheus."""
    platform = [each for each in tree.documents if each.unit == "platform"]
    last = max(map(_wave, platform))
    for document in platform:
        if (_wave(document) == last) != (document.kind in _LAST_KINDS):
            yield f"{document.path}: wave {_wave(document)} of {last}"


def _wave(document: Document) -> int:
    return int(document.annotation(_WAVE) or 0)


def operators_are_synced_before_their_kinds(tree: Tree) -> Iterator[str]:
    """The Kueue operator creates Kueue's kinds after its own object, so Argo CD must wait."""
    for kueue in tree.of("Kueue"):
        for each in _of_kueue(tree):
            if _wave(each) <= _wave(kueue):
                yield f"{each.path}: not after {kueue.path}"
        for application in tree.of("Application"):
            skips = _SKIP_DRY_RUN in application.spec["syncPolicy"]["syncOptions"]
            if application.name.endswith("-platform") and not skips:
                yield f"{application.path}: refused while a kind of Kueue is missing"


def _of_kueue(tree: Tree) -> Iterator[Document]:
    """Yield the objects of Kueue's own kinds in the platform's unit."""
    for each in tree.documents:
        if each.unit == "platform" and each.group_kind[0] == "kueue.x-k8s.io":
            yield each


_OF_NODES = {
    "KubeletConfig",
    "MachineConfig",
    "MachineConfigPool",
    "SriovNetworkNodePolicy",
    "SriovNetworkPoolConfig",
}


def node_objects_are_synced_by_hand(tree: Tree) -> Iterator[str]:
    """Objects that drain and reboot nodes are in their own unit, without prune and automation."""
    for document in tree.documents:
        if (document.kind in _OF_NODES) != (document.unit == "nodes"):
            yield f"{document.path}: {document.kind} in {document.unit}"
        if document.unit == "nodes" and document.annotation(_OPTIONS) != "Prune=false,Delete=false":
            yield f"{document.path}: may be pruned"
    for application in tree.of("Application"):
        if application.name.endswith("-nodes") == ("automated" in application.spec["syncPolicy"]):
            yield f"{application.path}: automation of the nodes' unit only must be off"


def application_sets_keep_their_applications(tree: Tree) -> Iterator[str]:
    for document in tree.of("ApplicationSet"):
        spec = document.spec
        if spec["syncPolicy"].get("applicationsSync") != "create-update":
            yield f"{document.path}: may delete applications"
        preserved = spec.get("preservedFields", {}).get("annotations", ())
        if "argocd.argoproj.io/deletion-approved" not in preserved:
            yield f"{document.path}: drops the approval of a deletion"
        if not spec.get("goTemplate") or spec.get("goTemplateOptions") != ["missingkey=error"]:
            yield f"{document.path}: renders missing keys as empty"


def projects_are_narrow(tree: Tree) -> Iterator[str]:
    for project in tree.of("AppProject"):
        finalizers = project.body["metadata"].get("finalizers", ())
        if "resources-finalizer.argocd.argoproj.io" not in finalizers:
            yield f"{project.path}: no finalizer"
        for where, text in strings(project.spec):
            if "*" in text:
                yield f"{project.path}: wildcard at {where}"
        if team := tree.team_of(project):
            yield from _beyond_team(project, tree.namespaces(team))


def _beyond_team(project: Document, own: list[str]) -> Iterator[str]:
    """Yield what a team's project permits beyond the team's own namespaces."""
    namespaces = [each["namespace"] for each in project.spec["destinations"]]
    if namespaces != own:
        yield f"{project.path}: writes into {namespaces}"
    kinds = [{"group": "", "kind": "Namespace", "name": name} for name in own]
    if project.spec["clusterResourceWhitelist"] != kinds:
        yield f"{project.path}: cluster-wide kinds"


def applications_stay_in_their_projects(tree: Tree) -> Iterator[str]:
    projects = {each.name: each.spec for each in tree.of("AppProject")}
    for application in tree.of("Application"):
        project = projects.get(application.spec["project"], {})
        yield from _outside(application.path, application.spec, project)
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


_OPTIONAL_KINDS = {
    ("", "ConfigMap"),
    ("", "PersistentVolume"),
    ("", "PersistentVolumeClaim"),
    ("", "ServiceAccount"),
    ("batch", "CronJob"),
    ("external-secrets.io", "ExternalSecret"),
    ("grafana.integreatly.org", "GrafanaDashboard"),
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition"),
    ("kueue.x-k8s.io", "Cohort"),
    ("kueue.x-k8s.io", "Topology"),
    ("kueue.x-k8s.io", "WorkloadPriorityClass"),
    ("monitoring.coreos.com", "PodMonitor"),
    ("monitoring.coreos.com", "PrometheusRule"),
    ("monitoring.coreos.com", "ServiceMonitor"),
    ("nv-ipam.nvidia.com", "IPPool"),
    ("sriovnetwork.openshift.io", "SriovNetwork"),
    ("sriovnetwork.openshift.io", "SriovNetworkNodePolicy"),
    ("sriovnetwork.openshift.io", "SriovNetworkPoolConfig"),
}
"""Kinds whose last object may be deleted.

They stay permitted, since Argo CD deletes objects of permitted kinds only.
"""


def projects_list_the_kinds_of_their_unit(tree: Tree) -> Iterator[str]:
    """A missing kind would stop the sync; a kind that the unit never has is not permitted."""
    for project in tree.of("AppProject"):
        team = tree.team_of(project)
        unit = f"teams/{team}" if team else project.name.rpartition("-")[2]
        listed = _kinds(project.spec, "namespaceResourceWhitelist") | _kinds(
            project.spec, "clusterResourceWhitelist"
        )
        kinds = {each.group_kind for each in tree.documents if each.unit == unit}
        if wrong := (kinds - listed) | (listed - kinds - _OPTIONAL_KINDS):
            yield f"{project.path}: not the unit's kinds: {sorted(wrong)}"


def _kinds(spec: dict[str, Any], field: str) -> set[tuple[str, str]]:
    return {(each["group"], each["kind"]) for each in spec.get(field, ())}


def every_object_is_listed(tree: Tree) -> Iterator[str]:
    """A kustomization lists each file of its folder, in order; samples are in none.

    A unit ``samples/nlp`` would have Argo CD submit a team's jobs.
    """
    listed = {each.unit: each.body.get("resources", []) for each in tree.kustomizations}
    files: dict[str, list[str]] = {unit: [] for unit in listed}
    for document in tree.documents:
        files.setdefault(document.unit, []).append(document.path.rpartition("/")[2])
    for unit, names in sorted(files.items()):
        wanted = sorted(names) if _is_synced(unit) else []
        found = listed.get(unit, [])
        if found != wanted:
            yield f"{unit}: lists {sorted(set(found) ^ set(wanted)) or 'in another order'}"


def _is_synced(unit: str) -> bool:
    return unit.partition("/")[0] not in UNLISTED


def argo_cd_may_write_every_kind(tree: Tree) -> Iterator[str]:
    """Its account has every verb on every kind of the platform's and the teams' units."""
    writable = _writable(tree)
    for document in tree.documents:
        group, kind = document.group_kind
        synced = document.unit != "argocd" and _is_synced(document.unit)
        if synced and (group, _resource(kind)) not in writable:
            yield f"{document.path}: Argo CD may not write {kind}"


def _writable(tree: Tree) -> set[tuple[str, str]]:
    """Return the group and resource of each kind on which Argo CD has every verb."""
    verbs = {"create", "delete", "get", "list", "patch", "update", "watch"}
    roles = [each.body for each in tree.of("ClusterRole") if each.unit == "argocd"]
    found: set[tuple[str, str]] = set()
    for rule in (rule for role in roles for rule in role["rules"]):
        if verbs <= set(rule["verbs"]):
            found.update(product(rule["apiGroups"], rule["resources"]))
    return found


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
    no_prune_needs_confirmation,
    state_is_kept,
    cluster_queues_are_in_the_last_wave,
    node_objects_are_synced_by_hand,
    operators_are_synced_before_their_kinds,
    application_sets_keep_their_applications,
    projects_are_narrow,
    applications_stay_in_their_projects,
    projects_list_the_kinds_of_their_unit,
    every_object_is_listed,
)
