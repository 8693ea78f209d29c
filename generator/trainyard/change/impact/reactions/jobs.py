"""Reactions of Trainer, of what cleans up after jobs, and of what judges and limits them."""

from __future__ import annotations

from functools import partial

from trainyard.change.impact import reach
from trainyard.change.impact.reaction import Effect, Reaction, quiet
from trainyard.change.impact.reactions.conditions import is_lowered, keeps_edited_jobs, teams_stay

_SERVER = "kubernetes/kubernetes:staging/src/k8s.io/apiserver/pkg/admission/plugin"
_POLICIES = f"{_SERVER}/policy/validating/plugin.go@v1.36.3"
_BOTH = "seen with Kueue 0.16.2 and 0.19.2"
_COMPARED = (
    "As soon as something about a running job changes, Kueue compares its image, variables and "
    "resources with the runtime's."
)
_NEW_ONLY = "It judges requests from then on. Running jobs stay."
_ALLOWED = "What it refused is admitted from then on. Running jobs stay."

_changed = partial(Reaction, kind="ClusterTrainingRuntime", change="changed")
_RUNTIME = (
    _changed(
        fields="spec*ontainers",
        when=keeps_edited_jobs,
        condition="with Kueue 0.16",
        effect=Effect.UNCOUNTS,
        cause="containers of runtime `{name}` are edited in place",
        consequence=f"{_COMPARED} If they differ, its pods run on, and their quota is given to "
        "others.",
        source="seen with Kueue 0.16.2",
        reach=reach.runtime,
    ),
    _changed(
        fields="spec*ontainers",
        effect=Effect.EVICTS,
        cause="containers of runtime `{name}` are edited in place",
        consequence=f"{_COMPARED} If they differ, it restarts the job as it was.",
        source="seen with Kueue 0.19.2",
        reach=reach.runtime,
    ),
    _changed(
        fields="spec",
        consequence="Running jobs stay: of their pods Kueue compares only the containers.",
        source="kubernetes-sigs/kueue:pkg/util/equality/podset.go@v0.19.2",
    ),
    *quiet(
        "ClusterTrainingRuntime",
        _BOTH,
        created="No job has it yet.",
        changed="Running jobs stay.",
        deleted="Running jobs stay. A new one is refused: `specified clusterTrainingRuntime must "
        "be created before the TrainJob is created`.",
    ),
)

_judges = partial(quiet, source=_POLICIES, created=_NEW_ONLY, changed=_NEW_ONLY, deleted=_ALLOWED)
_JUDGED = (
    *_judges("ValidatingAdmissionPolicy"),
    *_judges("ValidatingAdmissionPolicyBinding"),
    Reaction(
        kind="ConfigMap",
        change="changed",
        fields="data.mpiJobsUntil",
        consequence="After this day new MPIJobs are refused. Running and waiting ones stay.",
        source=_POLICIES,
    ),
    *quiet(
        "ConfigMap",
        _POLICIES,
        created="Policies that read it judge by it from then on.",
        changed="Policies that read it judge new requests by it. A running pod sees the new "
        "files, and keeps its environment.",
        deleted="A binding without its parameters denies every request, also of controllers. "
        "Running jobs stay.",
    ),
    *quiet(
        "ResourceQuota",
        f"{_SERVER}/resourcequota/admission.go@v1.36.3",
        created="It counts new objects. Running jobs stay.",
        changed="It counts new objects. Running jobs stay, also beyond a lowered number.",
        deleted="New objects are no longer counted.",
    ),
    *quiet(
        "LimitRange",
        "kubernetes/kubernetes:plugin/pkg/admission/limitranger/admission.go@v1.36.3",
        created="New pods get its defaults. Running pods stay.",
        changed="New pods get its defaults. Running pods stay.",
        deleted="New pods get no defaults.",
    ),
)

_CLEANING = "kubernetes/kubernetes:pkg/controller/cronjob/cronjob_controllerv2.go@v1.36.3"


_cleans = partial(
    Reaction,
    kind="CronJob",
    effect=Effect.DELETES,
    cause="TrainJobs that finished more than {keep} ago go, with their pods and logs",
    consequence="The next run, within the hour, deletes them, and a revert brings none back. "
    "Running jobs stay, and so does data on volumes.",
    source=_CLEANING,
    reach=reach.kept_namespaces,
    lost="finished jobs",
)
_KEEP = "spec*.env[KEEP_SECONDS].value"

_CLEANUP = (
    _cleans(change="created", when=teams_stay, condition="finds namespaces of teams"),
    _cleans(change="changed", fields=_KEEP, when=is_lowered, condition="is lowered"),
    *quiet(
        "CronJob",
        _CLEANING,
        created="There are no jobs yet.",
        changed="Its next run follows it. Running TrainJobs stay.",
        deleted="Finished TrainJobs stay until somebody deletes them.",
    ),
)

_AROUND = quiet(
    "TrainJob", "seen with Argo CD 3.5.7", every="It is a file to copy. Nothing syncs it."
)

REACTIONS = (*_RUNTIME, *_JUDGED, *_CLEANUP, *_AROUND)
