"""Text of `change/runtime-edited-in-place`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/runtime-edited-in-place",
    severity=Severity.ERROR,
    summary="""
        A delivered ClusterTrainingRuntime keeps its `spec`: a changed one has a new version in its
        name.
    """,
    why="""
        If containers differ (image, variables, resources), running jobs are stopped, or their quota
        is counted wrong. Kueue 0.16.2 with Trainer 2.1.0: event `Deleted not matching Workload`,
        and the pods keep running with no Workload: their quota is given to others while their nodes
        are used, and a revert does not repair it. Kueue 0.19.2 with Trainer 2.3.0: the job is
        suspended and counted again, while its pods are as before (both seen with other resources;
        kubernetes-sigs/kueue:pkg/util/equality/podset.go@v0.19.2 compares whole containers).
        Another edit holds for new jobs only, so that two jobs of one version differ.
    """,
    fix="""
        Raise the runtime's `version`. If only its own profile changed, keep the old one beside it
        as `NAME-vN.yaml` with `deprecated`. If its nodes, the cluster or Trainyard changed, remove
        the old one, which would change too. To keep the name, remove it from every team's
        `runtimes`, merge, let its jobs end, and list it again.
    """,
)
