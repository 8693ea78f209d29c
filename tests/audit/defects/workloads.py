"""Defects that the audits of workloads must find."""

from __future__ import annotations

from tests.audit import workloads
from tests.audit.defects.defect import CONTAINER, LAB, POD, REPLICATED, RUNTIME, Defect

_ONE_POD = "intel-mpi-one-v1-cpu-epyc-shared-48core"
_DEFAULTS = "teams/medical/limitrange-defaults.yaml"

DEFECTS = (
    Defect(
        workloads.no_secret_is_in_git, "configmap-admitted-namespaces.yaml", ("kind",), "Secret"
    ),
    Defect(
        workloads.no_secret_is_in_git,
        "configmap-admitted-namespaces.yaml",
        ("data", "key"),
        "AKIA0123456789ABCDEF",
    ),
    Defect(
        workloads.no_secret_is_in_git,
        "configmap-admitted-namespaces.yaml",
        ("data", "key"),
        "aB3" * 14,
    ),
    Defect(
        workloads.jobs_are_not_suspended_by_hand,
        "samples/nlp/deepspeed.yaml",
        ("spec", "suspend"),
        True,
    ),
    Defect(
        workloads.containers_are_guaranteed,
        RUNTIME,
        (*CONTAINER, "resources", "limits", "memory"),
        "1953Gi",
    ),
    Defect(workloads.containers_are_guaranteed, RUNTIME, (*CONTAINER, "resources")),
    Defect(
        workloads.containers_are_confined,
        RUNTIME,
        (*CONTAINER, "securityContext", "capabilities"),
    ),
    Defect(
        workloads.containers_are_confined,
        RUNTIME,
        (*CONTAINER, "image"),
        "registry.example.com/ml/x:latest",
    ),
    Defect(workloads.no_ids_and_no_host, RUNTIME, (*POD, "securityContext", "runAsUser"), 1000),
    Defect(workloads.no_ids_and_no_host, RUNTIME, (*POD, "hostNetwork"), True),
    Defect(workloads.pods_have_no_token, RUNTIME, (*POD, "automountServiceAccountToken")),
    Defect(
        workloads.pods_have_no_token,
        "teams/nlp/serviceaccount-trainer.yaml",
        ("automountServiceAccountToken",),
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer,
        RUNTIME,
        ("spec", "mlPolicy", "numNodes"),
        2,
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer,
        RUNTIME,
        ("spec", "mlPolicy", "mpi", "runLauncherAsNode"),
        False,
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer,
        "configmap-trainjob-limits-vision.yaml",
        ("data", "launcherPod.horovod-v2-dgx-h100"),
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer,
        RUNTIME,
        (*REPLICATED, 0, "name"),
        "worker",
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer,
        RUNTIME,
        (*REPLICATED, 1, "dependsOn", 0, "status"),
        "Complete",
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer,
        RUNTIME,
        (*REPLICATED, 1, "template", "metadata"),
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer, RUNTIME, (*CONTAINER, "readinessProbe")
    ),
    Defect(workloads.mpi_runtimes_have_the_form_of_trainer, RUNTIME, (*CONTAINER, "name"), "main"),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer,
        RUNTIME,
        (*REPLICATED, 0, "template", "metadata"),
        {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer,
        "configmap-trainjob-limits-biology.yaml",
        ("data", f"maxNodes.{_ONE_POD}"),
        "2",
        LAB,
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer,
        "configmap-trainjob-limits-nlp.yaml",
        ("data", "minNodes.deepspeed-v1-dgx-h100"),
        "1",
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer,
        f"clustertrainingruntime-{_ONE_POD}.yaml",
        (*REPLICATED, 0, "dependsOn"),
        [{"name": "node", "status": "Ready"}],
        LAB,
    ),
    Defect(
        workloads.mpi_runtimes_have_the_form_of_trainer,
        f"clustertrainingruntime-{_ONE_POD}.yaml",
        (*REPLICATED, 0, "name"),
        "node",
        LAB,
    ),
    Defect(workloads.mpi_runtimes_have_the_form_of_trainer, RUNTIME, (*REPLICATED, 0)),
    Defect(workloads.kubelet_replaces_nothing, RUNTIME, (*CONTAINER, "command", 2), "kill $$"),
    Defect(workloads.kubelet_replaces_nothing, RUNTIME, (*CONTAINER, "command", 2), "echo $(HOME)"),
    Defect(
        workloads.every_namespace_has_defaults,
        _DEFAULTS,
        ("spec", "limits", 0, "max"),
        {"cpu": "8"},
        LAB,
    ),
    Defect(
        workloads.every_namespace_has_defaults,
        _DEFAULTS,
        ("metadata", "namespace"),
        "team-speech",
        LAB,
    ),
    Defect(
        workloads.every_namespace_has_defaults,
        "teams/speech/resourcequota-object-counts.yaml",
        ("spec", "hard", "requests.cpu"),
        "8",
        LAB,
    ),
)
