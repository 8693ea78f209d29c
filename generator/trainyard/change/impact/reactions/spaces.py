"""Reactions to namespaces, storage, secrets, roles and network policies."""

from __future__ import annotations

from functools import partial

from trainyard.change.impact import reach
from trainyard.change.impact.reaction import Effect, Reaction, quiet
from trainyard.change.impact.reactions.conditions import REFUSED, of_mpi_jobs

_CORE = "kubernetes/kubernetes:pkg/controller"
_NAMESPACES = f"{_CORE}/namespace/deletion/namespaced_resources_deleter.go@v1.36.3"
_PROTECTED = f"{_CORE}/volume/pvcprotection/pvc_protection_controller.go@v1.36.3"
_VOLUMES = f"{_CORE}/volume/persistentvolume/pv_controller.go@v1.36.3"
_ROLES = "kubernetes/kubernetes:plugin/pkg/auth/authorizer/rbac/rbac.go@v1.36.3"

_NAMESPACE = (
    Reaction(
        kind="Namespace",
        change="deleted",
        effect=Effect.DELETES,
        cause="namespace `{name}` is deleted",
        consequence="Everything in it is deleted: jobs, claims, and data whose class deletes it.",
        source=_NAMESPACES,
        reach=reach.team,
        lost="data",
    ),
    *quiet(
        "Namespace",
        "seen with Kueue 0.19.2",
        created="Nothing runs in it yet.",
        changed="Running jobs stay. Kueue and the admission policies judge new ones by its new "
        "labels.",
    ),
)

_STORAGE = (
    Reaction(
        kind="PersistentVolumeClaim",
        change="deleted",
        effect=Effect.DELETES,
        cause="claim `{name}` is deleted",
        consequence="The claim goes when the last pod with it has ended. Its data goes too, unless "
        "the volume is retained.",
        source=_PROTECTED,
        reach=reach.named,
        lost="data",
    ),
    Reaction(
        kind="PersistentVolumeClaim",
        change="recreated",
        effect=Effect.DELETES,
        lost="data",
        cause="{field} of claims for `{storage}` changes",
        consequence=f"{REFUSED} Its data goes with it, unless the volume is retained.",
        source="seen with Kubernetes 1.36",
        reach=reach.named,
    ),
    *quiet(
        "PersistentVolumeClaim",
        _PROTECTED,
        created="No pod has it yet.",
        changed="Running pods keep the volume. A larger claim grows where its class allows it.",
    ),
    Reaction(
        kind="PersistentVolume",
        change="recreated",
        effect=Effect.RECREATES,
        cause="{field} of volumes for `{storage}` changes",
        consequence=f"{REFUSED} It goes only after its claim: delete both once no pod mounts it. "
        "The files stay on the server.",
        source=_VOLUMES,
        reach=reach.named,
    ),
    *quiet(
        "PersistentVolume",
        _VOLUMES,
        created="No pod has it yet.",
        changed="Running pods keep their mounts; new pods get the new options.",
        deleted="The volume goes when its claim has gone. Its files stay on the server (Retain).",
    ),
    *quiet(
        "ExternalSecret",
        "external-secrets/external-secrets:pkg/controllers/externalsecret/"
        "externalsecret_controller.go@v1.3.2",
        created="The Secret is written; new pods can use it.",
        changed="The Secret is written again. A running pod sees new files, and keeps its "
        "environment.",
        deleted="The Secret goes with it. Running pods keep what they have; new pods that need it "
        "do not start.",
    ),
)

_NEXT_REQUEST = "It holds for the next request. Running jobs stay."
_recreated = partial(
    Reaction,
    change="recreated",
    effect=Effect.RECREATES,
    cause="{field} of {kind} `{name}` changes",
    consequence=f"{REFUSED} Running jobs stay.",
    source="kubernetes/kubernetes:pkg/apis/rbac/validation/validation.go@v1.36.3",
    reach=reach.named,
)
_ACCESS = (
    _recreated(kind="RoleBinding"),
    _recreated(kind="ClusterRoleBinding"),
    *quiet("ClusterRole", _ROLES, every=_NEXT_REQUEST),
    *quiet("ClusterRoleBinding", _ROLES, every=_NEXT_REQUEST),
    *quiet("RoleBinding", _ROLES, every=_NEXT_REQUEST),
    *quiet(
        "ServiceAccount",
        "kubernetes/kubernetes:plugin/pkg/admission/serviceaccount/admission.go@v1.36.3",
        created="New pods can run as it.",
        changed="It holds for new pods.",
        deleted="Running pods stay. New pods that name it are refused.",
    ),
    Reaction(
        kind="NetworkPolicy",
        change="deleted",
        when=of_mpi_jobs,
        condition="is that of MPIJobs",
        effect=Effect.DELETES,
        cause="`mpiJobs` of team {team} is removed",
        consequence="Ranks of an MPIJob that still runs lose each other, and it fails.",
        source="kubernetes/kubernetes:pkg/apis/networking/types.go@v1.36.3",
        reach=reach.named,
        lost="running MPIJobs",
    ),
    *quiet(
        "NetworkPolicy",
        "kubernetes/kubernetes:pkg/apis/networking/types.go@v1.36.3",
        created="It holds for running pods at once: they lose what no policy allows. None is "
        "stopped.",
        changed="It holds for running pods at once: they lose what no policy allows. None is "
        "stopped.",
        deleted="It holds for running pods at once. None is stopped.",
    ),
)

REACTIONS = (*_NAMESPACE, *_STORAGE, *_ACCESS)
