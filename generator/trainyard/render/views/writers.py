"""Who writes objects on a cluster, as admission policies ask for it (CEL).

The API server fills in who sends a request. The sender fills in all else: owners, labels, names.
"""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.model import member_kinds, names
from trainyard.model.cluster import Cluster
from trainyard.model.kubernetes import CONTROLLERS
from trainyard.model.trusted import ACCOUNT, daemon_namespaces, trusted_namespaces
from trainyard.render.cel import is_one_of, starts_with, text, text_list

_ACCOUNTS = "system:serviceaccounts:"
"""Group of the accounts of a namespace, before its name."""

_POD_NETWORKS = ("openshift-ovn-kubernetes", "ovn-kubernetes")
"""Of OVN-Kubernetes (openshift/cluster-network-operator:bindata/network/ovn-kubernetes)."""

_MANAGER = "system:kube-controller-manager"
"""User of all of Kubernetes' controllers where they have no accounts of their own."""

_CLOUD = "eks:"
"""Begin of the users of EKS' own controllers: its access entries give it to nobody else
(docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html)."""

_DEPUTY = "system:serviceaccount:openshift-infra:template-instance-controller"
"""It creates what a user's TemplateInstance says, with rights of its own in every namespace
(openshift/openshift-controller-manager:
pkg/template/controller/templateinstance_controller.go@39b423e)."""

_PIPELINES = "system:serviceaccount:openshift-operators:openshift-pipelines-operator"
"""It gives each namespace an account and its roles, and ends at the first that it is refused
(tektoncd/operator:pkg/reconciler/openshift/tektonconfig/rbac.go)."""

_REQUESTER = "openshift.io/requester"
"""Annotation of a namespace that a user requested as a project, and is admin of."""


@dataclass(frozen=True, slots=True)
class Writers:
    """Who writes objects on a cluster."""

    cluster: Cluster

    @property
    def daemon_namespaces(self) -> list[str]:
        """Namespaces whose pods may use any node; one that ends with ``*`` is a prefix."""
        return daemon_namespaces(self.cluster)

    @property
    def is_daemon(self) -> str:
        """CEL: the pod is in such a namespace, which nobody requested, and its creator may do so.

        Controllers of Kubernetes create the pods of DaemonSets, operators some of their own.
        """
        named = is_one_of("request.namespace", self.daemon_namespaces)
        parts = [named, f"({self.is_daemon_account} || {self._is_manager})"]
        if self.cluster.release.has_projects:
            annotations = "namespaceObject.metadata.?annotations.orValue({})"
            parts.append(f"{annotations}[?{text(_REQUESTER)}].orValue('') == ''")
        return " && ".join(parts)

    @property
    def names_trusted(self) -> str:
        """CEL: the namespace has the name of one of them."""
        return is_one_of("object.metadata.name", trusted_namespaces(self.cluster))

    @property
    def is_daemon_account(self) -> str:
        """CEL: the request comes from an account of such a namespace."""
        groups = (f"{_ACCOUNTS}{name}" for name in self.daemon_namespaces)
        return f"request.userInfo.groups.exists(group, {is_one_of('group', groups)})"

    @property
    def is_pod_network(self) -> str:
        """CEL: the request comes from OVN-Kubernetes, which gives pods their addresses."""
        groups = (*(f"{_ACCOUNTS}{name}" for name in _POD_NETWORKS), "system:ovn-nodes")
        return f"request.userInfo.groups.exists(group, {is_one_of('group', groups)})"

    @property
    def _is_manager(self) -> str:
        return f"request.userInfo.username == {text(_MANAGER)}"

    @property
    def is_administrator(self) -> str:
        """CEL: who asks may change the admission policy over NetworkPolicies itself.

        Of accounts only that of Argo CD: other operators have every right too, such as Velero or
        HNC, and make what anybody's object says.
        """
        group = "authorizer.group('admissionregistration.k8s.io')"
        policy = (
            f"resource('validatingadmissionpolicies').name({text(names.TEAM_NETWORK_POLICIES)})"
        )
        argocd = f"{ACCOUNT}{self.cluster.argocd_account}"
        delivers = f"request.userInfo.username == {text(argocd)}"
        return f"(!{self.is_account} || {delivers}) && {group}.{policy}.check('update').allowed()"

    @property
    def is_account(self) -> str:
        """CEL: the request comes from a service account."""
        return f"request.userInfo.username.startsWith({text(ACCOUNT)})"

    @property
    def is_kept_off_nodes(self) -> str:
        """CEL: who asks may not take the taint away from nodes, or does so as an operator.

        Operators make pods as anybody's object says, Argo CD too. KubeVirt's may change nodes
        (kubevirt/kubevirt:pkg/virt-operator/resource/generate/rbac/controller.go@7faed6a).
        """
        return f"!{self.may_change_nodes} || {self.is_account}"

    @property
    def may_change_nodes(self) -> str:
        """CEL: who asks may take the taint away from nodes, and drain them."""
        return "authorizer.group('').resource('nodes').check('patch').allowed()"

    @property
    def binds_own_accounts(self) -> str:
        """CEL: a RoleBinding gives its role to accounts of its namespace, or to daemons.

        OpenShift lets all accounts of a project pull its images, those of jobs too.
        """
        account = f"each.kind == 'ServiceAccount' && each.name != {text(names.JOB_ACCOUNT)}"
        own = "each.?namespace.orValue('') == request.namespace"
        of_daemon = is_one_of("each.?namespace.orValue('')", self.daemon_namespaces)
        group = (
            f"each.kind == 'Group' && each.name == {text(_ACCOUNTS)} + request.namespace && "
            "object.?roleRef.?kind.orValue('') == 'ClusterRole' && "
            "object.?roleRef.?name.orValue('') == 'system:image-puller'"
        )
        named = f"({account} && ({own} || {of_daemon})) || ({group})"
        return f"object.?subjects.orValue([]).all(each, {named})"

    @property
    def is_kubernetes(self) -> str:
        """CEL: the request comes from a controller of Kubernetes."""
        named = "|".join(CONTROLLERS)
        users = f"^({_MANAGER}|{ACCOUNT}kube-system:({named}))$"
        return f"request.userInfo.username.matches({text(users)})"

    @property
    def gives_accounts(self) -> str:
        """CEL: OpenShift, or its Pipelines, gives a namespace its accounts and their roles."""
        if not self.cluster.release.has_projects:
            return "false"
        of_openshift = f"{text(f'{_ACCOUNTS}openshift-infra')} in request.userInfo.groups"
        return f"{of_openshift} || request.userInfo.username == {text(_PIPELINES)}"

    @property
    def is_not_kubernetes(self) -> str:
        """CEL: it does not: these finish and remove what others made, as in a deleted namespace."""
        return f"!{self.is_kubernetes}"

    @property
    def is_not_kubernetes_or_claims(self) -> str:
        """CEL: or it makes a claim, which a template of anybody's describes."""
        claims = "request.resource.resource == 'persistentvolumeclaims'"
        return f"{self.is_not_kubernetes} || ({claims} && request.operation == 'CREATE')"

    @property
    def is_not_kubernetes_or_of_claims(self) -> str:
        """CEL: or it changes such a claim too."""
        claims = "request.resource.resource == 'persistentvolumeclaims'"
        return f"{self.is_not_kubernetes} || {claims}"

    @property
    def is_member(self) -> str:
        """CEL: a person or an account of a team's namespace, and no operator of the platform."""
        user = "request.userInfo.username"
        named = (f"{ACCOUNT}{each}:" for each in self.cluster.named_namespaces)
        of_team = starts_with(user, [f"{ACCOUNT}{names.TEAM_PREFIX}", *named])
        of_platform = f"{user}.startsWith('system:') || {user}.startsWith({text(_CLOUD)})"
        return f"{of_team} || !({of_platform}){self.or_deputy}"

    @property
    def is_kind_of_members(self) -> str:
        """CEL: the object is of a kind that such a person or account may write."""
        cluster, group = self.cluster, "request.resource.group"
        groups = member_kinds.groups(has_projects=cluster.release.has_projects)
        kinds = member_kinds.kinds(cluster.member_kinds)
        kind = f"(request.resource.resource + '.' + {group})"
        return f"{group} in {text_list(groups)} || {kind} in {text_list(kinds)}"

    @property
    def is_kind_on_nodes(self) -> str:
        """CEL: the object is of a kind whose operator acts on what is others', wherever it is."""
        kind = "(request.resource.resource + '.' + request.resource.group)"
        pairs = member_kinds.BEYOND_NAMESPACE.items()
        fields = ", ".join(f"{text(name)}: {text(field)}" for name, field in pairs)
        asked = "field == '' || variables.spec[?field].orValue(false) != false"
        beyond = f"[{{{fields}}}[?{kind}]].exists(each, each.hasValue() && [each.value()]"
        on_nodes = f"request.resource.group in {text_list(member_kinds.ON_NODES)}"
        return f"{on_nodes} || {beyond}.exists(field, {asked}))"

    @property
    def may_write_there(self) -> str:
        """CEL: who asks may create such an object outside of every project, as an operator may."""
        own = text(self.cluster.system_namespace)
        kind = "authorizer.group(request.resource.group).resource(request.resource.resource)"
        return f"{kind}.namespace({own}).check('create').allowed()"

    @property
    def or_deputy(self) -> str:
        """CEL to add to a condition: or OpenShift does for a user what the user says."""
        if not self.cluster.release.has_projects:
            return ""
        return f" || request.userInfo.username == {text(_DEPUTY)}"

    @property
    def is_job_controller(self) -> str:
        """CEL: Kubernetes creates the pod for a Job."""
        makers = text_list((names.JOB_CONTROLLER, _MANAGER))
        return (
            f"request.userInfo.username in {makers} && "
            "object.metadata.?ownerReferences.orValue([]).exists(owner, owner.kind == 'Job' && "
            "owner.apiVersion == 'batch/v1' && owner.?controller.orValue(false))"
        )

    @property
    def is_named_as_rank(self) -> str:
        """CEL: the pod has a name that JobSet gives to ranks."""
        return f"object.metadata.?name.orValue('').matches({text(names.RANK_POD)})"

    @property
    def is_shell_of_rank(self) -> str:
        """CEL: the command is for a pod of such a name."""
        return f"request.name.matches({text(names.RANK_POD)})"

    @property
    def is_trainer(self) -> str:
        """CEL: who asks is Trainer."""
        return self._writes_status("trainer.kubeflow.org", "trainjobs")

    @property
    def is_jobset(self) -> str:
        """CEL: who asks is JobSet."""
        return self._writes_status("jobset.x-k8s.io", "jobsets")

    @property
    def is_mpi_operator(self) -> str:
        """CEL: who asks is the MPI operator."""
        return self._writes_status("kubeflow.org", "mpijobs")

    @property
    def is_external_secrets(self) -> str:
        """CEL: who asks is the operator of External Secrets."""
        return self._writes_status("external-secrets.io", "externalsecrets")

    @property
    def is_scheduler(self) -> str:
        """CEL: who asks binds pods outside of every team's namespace."""
        own = text(self.cluster.system_namespace)
        pods = f"authorizer.group('').resource('pods').subresource('binding').namespace({own})"
        return f"{pods}.check('create').allowed()"

    def _writes_status(self, group: str, resource: str) -> str:
        """Return whether who asks writes the status of a kind outside of every team's namespace.

        That is what makes a controller, wherever it is installed. A Role in a team's namespace can
        give a status too: OpenShift AI's gives pipelines all of ``kubeflow.org``.
        """
        own = text(self.cluster.system_namespace)
        asked = f"authorizer.group({text(group)}).resource({text(resource)})"
        return f"{asked}.subresource('status').namespace({own}).check('update').allowed()"
