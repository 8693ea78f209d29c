"""Reactions of Kueue to flavors, topologies and priorities, and to its own configuration."""

from __future__ import annotations

from trainyard.change.impact import reach
from trainyard.change.impact.reaction import Effect, Reaction, quiet
from trainyard.change.impact.reactions.conditions import REFUSED, SEEN, SHARED, appears, becomes

_FLAVOR = (
    Reaction(
        kind="ResourceFlavor",
        change="recreated",
        effect=Effect.RECREATES,
        cause="{field} of ResourceFlavor `{name}` changes",
        consequence=f"{REFUSED} Kueue keeps the old one until no queue lists it.",
        source=SEEN,
    ),
    *quiet(
        "ResourceFlavor",
        SEEN,
        created="Nothing runs on it yet.",
        changed="Running jobs stay on their nodes. Jobs that start later get the new labels and "
        "tolerations.",
        deleted="A flavor in use works on and stays until the last queue drops it. Meanwhile it "
        "can't be created again.",
    ),
    Reaction(
        kind="Topology",
        change="recreated",
        effect=Effect.RECREATES,
        cause="levels of Topology `{name}` change",
        consequence=f"{REFUSED} Kueue keeps the old one until no flavor names it.",
        source=SEEN,
    ),
    *quiet(
        "Topology",
        SEEN,
        created="Nothing runs on it yet.",
        changed="Running jobs stay on their nodes.",
        deleted="A topology in use works on and stays until the last flavor drops it.",
    ),
)

_PRIORITY = (
    Reaction(
        kind="WorkloadPriorityClass",
        change="changed",
        fields="value",
        effect=Effect.RECLAIMS,
        cause="value of priority `{name}` {change}",
        consequence="Kueue gives running and waiting jobs the new value, one after the other. A "
        "waiting job evicts running jobs of its queue that are below it then: those of a priority "
        "that it passes, and those of its own that still have the old value.",
        source="kubernetes-sigs/kueue:pkg/controller/core/workloadpriorityclass_controller.go"
        "@v0.19.2",
        reach=reach.priority,
    ),
    *quiet(
        "WorkloadPriorityClass",
        SEEN,
        created="No job has it yet.",
        changed="No job reads it.",
        deleted="Running and waiting jobs keep their value. A new job that names it gets no "
        "Workload and never starts.",
    ),
)

_KUEUE = (
    Reaction(
        kind="Kueue",
        change="changed",
        fields="spec.config.preemption",
        when=becomes("FairSharing"),
        condition="becomes `FairSharing`",
        effect=Effect.RECLAIMS,
        cause="borrowed nodes are shared by weight",
        consequence="The operator restarts Kueue. " + SHARED,
        source="openshift/kueue-operator:pkg/operator/target_config_reconciler.go@dc3b65774c45",
        reach=reach.all_borrowers,
    ),
    *quiet(
        "Kueue",
        "openshift/kueue-operator:pkg/operator/target_config_reconciler.go@dc3b65774c45",
        created="The operator installs Kueue.",
        changed="The operator restarts Kueue. Running jobs stay.",
        deleted="The operator removes Kueue's configuration, webhooks and roles. Running jobs "
        "stay; no job starts.",
    ),
    Reaction(
        kind="Configuration",
        change="changed",
        fields="fairSharing",
        when=appears,
        condition="is new",
        effect=Effect.RECLAIMS,
        cause="borrowed nodes are shared by weight",
        consequence="Nothing happens until Kueue's owner loads the file and restarts Kueue. "
        + SHARED,
        source=SEEN,
        reach=reach.all_borrowers,
    ),
    *quiet(
        "Configuration",
        "kubernetes-sigs/kueue:cmd/kueue/main.go@v0.19.2",
        created="Nothing happens until Kueue's owner loads the file and restarts Kueue.",
        changed="Nothing happens until Kueue's owner loads the file and restarts Kueue. Running "
        "jobs stay.",
        deleted="Kueue keeps the configuration that it started with.",
    ),
)

REACTIONS = (*_FLAVOR, *_PRIORITY, *_KUEUE)
