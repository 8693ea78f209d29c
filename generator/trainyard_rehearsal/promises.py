"""What each line of a rehearsal's table tries, and what its failure means on a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Promise(NamedTuple):
    """One line of the table.

    Args:
        counts: what the number counts, and what is done with each.
        failure: what a failure means on a cluster with this tree.
    """

    counts: str
    failure: str


APPLIED: Final[Mapping[str, Promise]] = {
    "kinds known": Promise(
        "Kinds of the tree that the API server has.",
        "An operator or its version is missing, so Argo CD can't sync the objects of that kind.",
    ),
    "objects accepted": Promise(
        "Objects, applied as Argo CD applies them. A warning is a failure.",
        "The sync of that folder fails.",
    ),
    "second apply changes nothing": Promise(
        "Objects, applied again.",
        "Argo CD changes the object in each sync, or shows it as OutOfSync.",
    ),
    "server-side diff is empty": Promise(
        "Objects in `kubectl diff --server-side` with Argo CD's field manager.",
        "Argo CD shows the object as OutOfSync.",
    ),
    "cluster queues active": Promise(
        "ClusterQueues of active teams with the condition `Active`.",
        "Kueue admits no job of the queue. The message names what it refers to and lacks.",
    ),
    "local queues active": Promise(
        "LocalQueues of active teams with the condition `Active`.",
        "Jobs of the namespace wait permanently.",
    ),
    "permissions match the roles": Promise(
        "Rights (verb, resource, subject, namespace) that the API server reports.",
        "Somebody may do more, or less, than the role permits.",
    ),
    "requests match the roles": Promise(
        "Requests of each subject, as dry runs with admission.",
        "A right does not work, or works for somebody without it.",
    ),
    "hostile objects refused": Promise(
        "ConfigMaps and claims of members that would misdirect a controller.",
        "A member can reach what belongs to another team or to the platform.",
    ),
    "members' own objects accepted": Promise(
        "Harmless objects of members.",
        "A policy stops normal work.",
    ),
    "forged ranks refused": Promise(
        "Pods, Jobs and Services that look like those of controllers, written by an account that "
        "has OpenShift AI's rights of pipelines in a team's namespace. With the rights of other "
        "operators' kinds: networks, bindings, NodeFeatures and an Argo CD.",
        "Such an account takes nodes without quota or another team's network, or stops a sync.",
    ),
    "operators' objects accepted": Promise(
        "What controllers create for jobs, and operators for pipelines, in a team's namespace.",
        "A policy stops jobs or pipelines.",
    ),
    "platform's controllers let through": Promise(
        "What controllers of the platform write in namespaces of teams, such as snapshots, "
        "certificates, workbenches and pipelines: with the account and the verbs of each, which do "
        "not run here.",
        "A policy stops such a controller, so that for example no backup is taken.",
    ),
    "tenants' wishes refused to controllers": Promise(
        "What operators with rights in every namespace copy from tenants' objects: ranks, open "
        "network policies, keys of Argo CD.",
        "A tenant gets by an operator what the policies refuse to the tenant.",
    ),
    "pool use without a team refused": Promise(
        "Pods of a namespace without a team that try to get nodes of a pool, and its admin's "
        "bindings and NodeFeatures.",
        "Somebody without quota occupies GPU nodes.",
    ),
    "other pods accepted": Promise(
        "Pods of a namespace without a team that leave the pools alone.",
        "A policy stops pods that have nothing to do with teams.",
    ),
    "platform's data refused to others": Promise(
        "ExternalSecrets and claims in a namespace without a team that name the platform's secret "
        "stores, or the storage classes of adopted volumes.",
        "The admin of any project reads keys of teams, or is given a volume with a team's data.",
    ),
    "others' own data let through": Promise(
        "Such objects with another store or class.",
        "A policy stops users who have nothing to do with teams.",
    ),
    "false team namespaces refused": Promise(
        "Namespaces with a team's name or label that a user creates, and changes of a team's.",
        "A user gets a namespace that Kueue and the policies take for a team's, or loosens one.",
    ),
    "other namespaces accepted": Promise(
        "Other namespaces that a user creates, and what the delivery changes in a team's.",
        "A policy stops users who have nothing to do with teams.",
    ),
    "taken names refused": Promise(
        "Jobs, ConfigMaps and claims of members with names of the tree's objects, now or later, or "
        "of other controllers'.",
        "A job replaces the platform's NetworkPolicy, or a member's object stops every later sync.",
    ),
    "network policies kept": Promise(
        "Changes of the tree's NetworkPolicies by somebody who may write them, and by OpenShift "
        "AI's Trainer, which the rehearsal plays.",
        "A team's isolation goes, and nobody sees it.",
    ),
    "policies of jobs written": Promise(
        "Jobs whose NetworkPolicy OpenShift AI's Trainer, as the rehearsal plays it, must write, "
        "and older jobs with the name of one of the tree's. Other releases have no such Trainer.",
        "The ranks of a job can't reach each other, or a job has replaced its team's isolation.",
    ),
    "sample jobs run": Promise(
        "Sample jobs, run to their end as a member of the team.",
        "Jobs of that runtime and namespace don't start, run elsewhere than the profile says, or "
        "are counted wrong.",
    ),
    "pages' commands run": Promise(
        "Blocks for the shell on the pages of teams (`samples/<team>/README.md`), run in their "
        "order by a member of the team with the real kubectl; on OpenShift it is called `oc`. "
        "Containers run no program and have a log of one line.",
        "A person who follows the page gets no job, no log, or no reason why it waits.",
    ),
    "pages' Python runs": Promise(
        "Blocks of Python on these pages, run in one session by a member of the team with the "
        "Kubeflow SDK that the page names.",
        "The SDK can't list or read the runtimes, or a member can't submit, watch or delete a job "
        "with it. One runtime that the SDK can't read hides all of them.",
    ),
    "deleting a JobSet alone refused": Promise(
        "Attempts to delete the JobSet of a finished job without its TrainJob.",
        "Trainer makes the JobSet of a failed job again, Trainer 2.1 that of any finished job.",
    ),
    "only finished jobs are deleted": Promise(
        "Finished, running and waiting jobs, with the script of the clean-up CronJob.",
        "The clean-up deletes jobs that run, or keeps those that ended.",
    ),
    "largest jobs admitted": Promise(
        "Namespaces with their runtimes, each with the largest job that the profile permits.",
        "`largestJob` promises a job that never starts.",
    ),
    "one node more refused": Promise(
        "The same with one node more.",
        "A job beyond `largestJob` is accepted, or refused with a message that names no limit.",
    ),
    "quota enforced without policy": Promise(
        "Namespaces with their runtimes, each with a job beyond the whole quota, while the policy "
        "on `largestJob` is off. Not runtimes of one MPI pod: Trainer refuses more pods of these.",
        "A job beyond the quota starts, or Kueue gives no reason why it waits.",
    ),
    "own quotas filled": Promise(
        "Flavors of all queues, filled at the same time.",
        "Two teams can't use at the same time what each of them owns.",
    ),
    "borrowed quotas filled": Promise(
        "Flavors of queues, filled with all that they may borrow.",
        "A team can't use all that it may borrow.",
    ),
    "job over quota waits": Promise(
        "Full queues that get one job more.",
        "The job starts beyond the quota, shows no reason, or does not start later.",
    ),
    "job without nodes shows why": Promise(
        "Pools whose nodes are cordoned.",
        "A user can't see why the job waits.",
    ),
    "higher priority preempts": Promise(
        "Queues full of jobs of the lowest priority that get one of the highest.",
        "An urgent job waits for jobs of a lower priority, or evicted jobs don't return.",
    ),
    "job fits between others": Promise(
        "Queues in which every second small job has ended.",
        "A large job gets no nodes although enough are free, and does not report why.",
    ),
    "owner reclaims lent nodes": Promise(
        "Pairs of a borrower and the owner of its nodes.",
        "A team does not get its own nodes back.",
    ),
    "lending limit holds": Promise(
        "Pairs in which only `lend` stops the borrower's next job.",
        "A team loses nodes that it does not lend.",
    ),
    "jobs of a full cluster complete": Promise(
        "Jobs that together request twice what each tried team owns and may borrow, and what each "
        "other team owns. A runtime whose jobs don't start again after an eviction is left out.",
        "A job waits without a reason or permanently, or a queue exceeds its quota.",
    ),
    "policies without a warning": Promise(
        "Admission policies that the API server's type checker has checked.",
        "An expression does not fit the kind that it is for, and may fail for valid requests.",
    ),
    "hostile jobs refused": Promise(
        "Jobs that exceed a limit, occupy a node permanently, hang, or reach another tenant.",
        "A member can submit such a job.",
    ),
    "hostile changes refused": Promise(
        "Such changes of a job that waits, and of one that runs.",
        "A member can change a job so that it escapes quota or policies.",
    ),
    "jobs without limits refused": Promise(
        "Jobs in a namespace whose limits are missing.",
        "Jobs of any size start while the tree is applied in part.",
    ),
    "harmless requests accepted": Promise(
        "Jobs and changes with the same fields and permitted values.",
        "A policy stops normal work.",
    ),
}
"""Lines of the control plane to which the tree is applied, in their order."""

DELIVERED: Final[Mapping[str, Promise]] = {
    "files equal the committed ones": Promise(
        "Files of the tree, generated with the address of the rehearsal's repository.",
        "The committed tree is not the tree that was tried.",
    ),
    "applications synced and healthy": Promise(
        "Applications of Argo CD, from an empty cluster.",
        "Argo CD can't bring this tree to a new cluster.",
    ),
    "refresh changes nothing": Promise(
        "Objects, after a hard refresh.",
        "Argo CD changes objects although Git is the same.",
    ),
    "drift healed": Promise(
        "Objects that are changed by hand.",
        "A manual change remains, such as an open network or a role for a stranger.",
    ),
    "degraded queues reported": Promise(
        "ClusterQueues whose flavor is removed in Git.",
        "A queue that admits nothing counts as healthy.",
    ),
    "objects of a lost folder kept": Promise(
        "Objects of a team whose folder is removed from Git.",
        "A wrong merge deletes a team's namespace and data.",
    ),
    "one change renders one folder": Promise(
        "A change in one team's folder.",
        "Argo CD builds all folders for each commit and gets slow.",
    ),
    "running jobs undisturbed": Promise(
        "Jobs that run during the checks above.",
        "A sync or a correction restarts or changes jobs.",
    ),
    "retirement completed": Promise(
        "Objects of a team that is retired as the how-to describes.",
        "Something of the team stays on the cluster, or goes before the approval.",
    ),
    "changes delivered by Argo CD": Promise(
        "Changes that the rehearsal makes to a copy of the profiles: grow a quota, change a role, "
        "retire a team, add a team.",
        "Such a merge does not arrive, or disturbs jobs of other teams. If the message says that "
        "the rehearsal's own edit has errors, the tree is not at fault: report it.",
    ),
}
"""Lines of the control plane to which Argo CD delivers the tree, in their order."""

UPGRADED: Final[Mapping[str, Promise]] = {
    "jobs run and wait before": Promise(
        "Jobs of every team with a queue, under the former tree and controllers: some run, one "
        "waits.",
        "The former tree starts no jobs, so the upgrade was tried without any.",
    ),
    "steps as planned": Promise(
        "One line for each step of `trainyard upgrade`, in its order: what is upgraded or merged, "
        "and each job that is there.",
        "A job ends, starts or disappears at a step at which the plan says otherwise.",
    ),
    "hostile jobs refused between": Promise(
        "After each step, a plain job and hostile ones of each namespace, in every form in which "
        "any Trainer lets a job change its pods.",
        "While controllers and tree are of two releases, a member can submit such a job.",
    ),
    "jobs of the upgrade end": Promise(
        "Jobs that ran or waited when the queues opened, run to their end.",
        "A job that users left or submitted during the upgrade is lost.",
    ),
    "objects as planned": Promise(
        "Objects of both trees, by their uids before the first step and after the last.",
        "An object that the plan keeps was deleted or made again, or one that goes is still there.",
    ),
}
"""Lines of an upgrade beside those of an applied tree, in their order."""
