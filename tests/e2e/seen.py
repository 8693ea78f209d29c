"""The scenario of each rule whose consequence a control plane shows, and the other rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.e2e import access, capacity, delivery, gitops, scheduling, volumes
from tests.e2e.setup import BLIND, FAIR, GITOPS, NEW, OLD, PAIR, Setup
from tests.e2e.stage import Stage

FAMILIES = ("access", "capacity", "delivery", "isolation", "release", "runtime", "scheduling")


@dataclass(frozen=True, slots=True)
class Seen:
    """The scenario of a rule.

    Args:
        scenario: acts as a user of the bad tree; fails unless the rule's consequence happens.
        setup: what its control plane is started with.
    """

    scenario: Callable[[Stage], None]
    setup: Setup = NEW


SEEN: dict[str, Seen] = {
    "access/debugger-expired": Seen(access.debugger_expired),
    "access/group-in-two-roles": Seen(access.group_in_two_roles),
    "access/group-in-two-teams": Seen(access.group_in_two_teams),
    "access/kind-in-a-name": Seen(access.kind_in_a_name),
    "access/minted-token": Seen(access.minted_token),
    "access/nobody-may-submit": Seen(access.nobody_may_submit),
    "access/own-runtimes-without-admin": Seen(access.own_runtimes_without_admin),
    "access/shadowed-account": Seen(access.shadowed_account),
    "access/shared-account": Seen(access.shared_account),
    "access/system-subject": Seen(access.system_subject),
    "access/team-group-runs-platform": Seen(access.team_group_runs_platform),
    "capacity/borrow-exceeds-lenders": Seen(capacity.borrow_exceeds_lenders),
    "capacity/idle-nodes": Seen(capacity.idle_nodes),
    "capacity/job-exceeds-quota": Seen(capacity.job_exceeds_quota),
    "capacity/job-larger-than-pool": Seen(capacity.job_larger_than_pool),
    "capacity/job-larger-than-runtime-cap": Seen(capacity.job_larger_than_runtime_cap),
    "capacity/maintenance-exceeds-reserve": Seen(capacity.maintenance_exceeds_reserve),
    "capacity/no-reserve": Seen(capacity.no_reserve),
    "capacity/no-room-for-initializer": Seen(capacity.no_room_for_initializer),
    "capacity/oversubscribed": Seen(capacity.oversubscribed),
    "capacity/quota-without-runtime": Seen(capacity.quota_without_runtime),
    "capacity/share-without-a-place": Seen(capacity.share_without_a_place),
    "capacity/shares-beside-whole-nodes": Seen(capacity.shares_beside_whole_nodes),
    "capacity/smallest-job-does-not-fit": Seen(capacity.smallest_job_does_not_fit),
    "capacity/system-share-exceeds-node": Seen(capacity.system_share_exceeds_node),
    "delivery/broken-component": Seen(gitops.broken_component, GITOPS),
    "delivery/component-in-foreign-namespace": Seen(gitops.component_in_foreign_namespace, GITOPS),
    "delivery/component-object-refused": Seen(gitops.component_object_refused, GITOPS),
    "delivery/component-of-forbidden-kind": Seen(gitops.component_of_forbidden_kind, GITOPS),
    "delivery/foreign-file": Seen(gitops.foreign_file, GITOPS),
    "delivery/foreign-metadata-key": Seen(gitops.foreign_metadata_key, GITOPS),
    "delivery/kind-not-permitted": Seen(gitops.kind_not_permitted, GITOPS),
    "delivery/name-of-a-controller": Seen(gitops.name_of_a_controller, GITOPS),
    "delivery/namespace-not-permitted": Seen(gitops.namespace_not_permitted, GITOPS),
    "delivery/profile-vanished": Seen(delivery.profile_vanished),
    "delivery/secret-in-git": Seen(gitops.secret_in_git, GITOPS),
    "delivery/server-of-two-clusters": Seen(delivery.server_of_two_clusters),
    "delivery/tree-is-stale": Seen(gitops.tree_is_stale, GITOPS),
    "delivery/unit-does-not-build": Seen(gitops.unit_does_not_build, GITOPS),
    "delivery/unit-vanished": Seen(delivery.unit_vanished),
    "delivery/unlisted-component": Seen(gitops.unlisted_component, GITOPS),
    "isolation/adopting": Seen(access.adopting),
    "isolation/claimable-adopted-class": Seen(volumes.claimable_adopted_class),
    "isolation/not-enforced": Seen(access.not_enforced),
    "isolation/open-egress": Seen(gitops.open_egress, GITOPS),
    "isolation/pool-not-dedicated": Seen(access.pool_not_dedicated),
    "isolation/team-as-system-namespace": Seen(access.team_as_system_namespace),
    "release/invalid-manifest": Seen(delivery.invalid_manifest, OLD),
    "release/known-bad-pair": Seen(delivery.known_bad_pair, PAIR),
    "release/unserved-version": Seen(gitops.unserved_version, GITOPS),
    "runtime/deprecated-runtime": Seen(delivery.deprecated_runtime),
    "runtime/gpu-in-resource-name": Seen(delivery.gpu_in_resource_name),
    "runtime/newer-version-deprecated": Seen(delivery.newer_version_deprecated),
    "runtime/none-for-pool": Seen(capacity.quota_without_runtime),
    "runtime/older-version-without-end": Seen(delivery.older_version_without_end),
    "runtime/runtime-without-hardware": Seen(delivery.runtime_without_hardware),
    "runtime/unused-runtime": Seen(delivery.unused_runtime),
    "runtime/version-differs-from-file": Seen(delivery.version_differs_from_file),
    "runtime/version-given-twice": Seen(delivery.version_given_twice),
    "runtime/volume-without-claim": Seen(delivery.volume_without_claim),
    "scheduling/borrow-without-cohort": Seen(scheduling.borrow_without_cohort),
    "scheduling/cohort-cycle": Seen(scheduling.cohort_cycle),
    "scheduling/default-queue-without-nodes": Seen(scheduling.default_queue_without_nodes),
    "scheduling/equal-preference": Seen(scheduling.equal_preference),
    "scheduling/equal-priorities": Seen(scheduling.equal_priorities),
    "scheduling/fair-sharing-in-a-cohort-tree": Seen(
        scheduling.fair_sharing_in_a_cohort_tree, FAIR
    ),
    "scheduling/hostname-as-level": Seen(scheduling.hostname_as_level),
    "scheduling/job-on-borrowed-nodes": Seen(scheduling.job_on_borrowed_nodes),
    "scheduling/lend-more-than-owned": Seen(scheduling.lend_more_than_owned),
    "scheduling/lend-without-cohort": Seen(scheduling.lend_without_cohort),
    "scheduling/made-up-topology-label": Seen(scheduling.made_up_topology_label),
    "scheduling/mixed-topology": Seen(scheduling.mixed_topology),
    "scheduling/no-priorities": Seen(scheduling.no_priorities),
    "scheduling/no-return-after-steps": Seen(scheduling.no_return_after_steps, OLD),
    "scheduling/queue-stopped-in-part": Seen(scheduling.queue_stopped_in_part),
    "scheduling/queue-without-trainjob": Seen(scheduling.queue_without_trainjob, BLIND),
    "scheduling/too-many-resources-in-queue": Seen(scheduling.too_many_resources_in_queue, OLD),
    "scheduling/top-priority-for-all": Seen(scheduling.top_priority_for_all),
    "scheduling/uneven-flavor-labels": Seen(scheduling.uneven_flavor_labels),
    "scheduling/weight-without-effect": Seen(scheduling.weight_without_effect),
}

_KUBELET = "It happens in a container, and a rehearsal has no kubelet."
_NETWORK = "It is about packets, and a rehearsal has no pod network."
_PROMISE = "It is a statement for auditors; nothing on the cluster refuses it."

NOT_SHOWABLE = {
    "access/unaudited-debugger": _PROMISE,
    "delivery/secret-not-owned": "No External Secrets Operator runs in a rehearsal.",
    "capacity/job-larger-than-nvlink-domain": "It shows as "
    "`capacity/job-larger-than-runtime-cap` does.",
    "capacity/maintenance-exceeds-pool": "It is about nodes that do not exist.",
    "capacity/maintenance-exceeds-quota": "No tree can be made of it.",
    "capacity/maintenance-overdue": "Nothing on the cluster reads the day.",
    "capacity/maintenance-takes-too-much": "It shows as `capacity/idle-nodes` does.",
    "capacity/node-maintained-twice": "It shows in a later change, which removes one of the two.",
    "capacity/quota-defined-twice": "No tree can be made of it.",
    "capacity/quota-expired": "Nothing on the cluster reads the day.",
    "capacity/runtime-lost-on-a-cluster": "It shows as `capacity/smallest-job-does-not-fit` does, "
    "on one of two clusters.",
    "capacity/shared-memory-exceeds-node": _KUBELET,
    "capacity/then-not-smaller": "Nothing on the cluster reads the day.",
    "capacity/unknown-currency": "No controller reads prices.",
    "capacity/uneven-share": "The speed of two pods on the same cores needs a real node.",
    "delivery/clear-text-address": "It needs an attacker between Argo CD and a server.",
    "delivery/objects-lost": "It is found between files, before a cluster is asked.",
    "delivery/placeholder-left": "It would look up names that can't be registered.",
    "delivery/submodule": "The rehearsal's Git server has one repository.",
    "delivery/wrong-tree-path": "It compares folders. A rehearsal sees the same words when a "
    "team's folder is gone.",
    "isolation/fabric-without-borders": "It is about RDMA, and a rehearsal has no NIC.",
    "isolation/kind-of-the-platform": "No operator of such a kind runs in a rehearsal.",
    "isolation/adopting-under-a-regulation": "It shows as `isolation/adopting` does.",
    "isolation/adoption-ended": "Nothing on the cluster reads the day.",
    "isolation/audit-not-declared": _PROMISE,
    "isolation/logs-not-kept": _PROMISE,
    "isolation/bucket-of-two-teams": "It happens in an object store.",
    "isolation/bucket-without-egress": _NETWORK,
    "isolation/clear-text-endpoint": _NETWORK,
    "isolation/egress-reaches-a-tenant": _NETWORK,
    "isolation/egress-reaches-nodes": _NETWORK,
    "isolation/egress-reaches-platform": _NETWORK,
    "isolation/folder-around-another-team": "It needs a kubelet and an NFS server.",
    "isolation/folder-of-another-team": "It needs a kubelet and an NFS server.",
    "isolation/link-local-egress": _NETWORK,
    "isolation/not-fips": _PROMISE,
    "isolation/platform-in-a-tenant": _NETWORK,
    "isolation/secret-of-another-team": "It needs External Secrets and a secret store.",
    "isolation/two-ranges-of-one-folder": "It needs a file server.",
    "isolation/uids-shared": "It needs a file server, or SELinux on a node.",
    "isolation/uids-without-ranges": _KUBELET,
    "isolation/unencrypted-storage": _PROMISE,
    "isolation/unencrypted-transit": _NETWORK,
    "isolation/unstated-transit": _PROMISE,
    "release/unknown-component": "The name stays in the profile and never reaches the cluster.",
    "release/changed-release": "Nothing of it reaches a cluster: no tree is generated.",
    "release/unusable-release": "Nothing of it reaches a cluster: no tree is generated.",
    "release/not-rehearsed": "What such versions do together is unknown.",
    "release/untested-version": "The behaviour of such a version is unknown.",
    "runtime/cuda-too-old": "It needs a GPU.",
    "runtime/fabric-without-rails": "It needs NICs, and ranks that search for them.",
    "runtime/image-without-digest": "It needs a registry, and a kubelet that pulls.",
    "runtime/launcher-version-unknown": _KUBELET,
    "runtime/wrong-architecture": _KUBELET,
    "runtime/no-place-for-launcher": _KUBELET,
    "runtime/ranks-exceed-node": _KUBELET,
    "runtime/launcher-pod-of-torchrun": "Nothing happens: jobs just have no such pod.",
    "runtime/ranks-of-torchrun": "Trainer ignores the field; the rule quotes its source.",
    "runtime/threads-exceed-limit": _KUBELET,
    "runtime/unstated-cuda": "It needs a GPU.",
    "runtime/unsupported-mpi": _KUBELET,
    "scheduling/too-many-frameworks": "The release's schema refuses such an object.",
    "scheduling/too-many-pools-in-queue": "As scheduling/too-many-resources-in-queue: one list "
    "contains the other.",
    "scheduling/empty-cohort": "A cohort without queues has no effect that can be seen.",
    "scheduling/selector-of-the-operator": "Red Hat's operator does not run in a rehearsal.",
    "scheduling/topology-stated-twice": "No tree can be made of it.",
    "scheduling/unused-topology": "Nothing on the cluster reads such a topology.",
}
