"""Defects that the audits of placement must find."""

from __future__ import annotations

from tests.audit import placement
from tests.audit.defects.defect import (
    FLAVOR,
    LAB,
    NETWORK,
    PORT,
    QUEUE,
    REPLICATED,
    RESOURCES,
    RUNTIME,
    VLAN,
    Defect,
)

_GROUPED = "clustertrainingruntime-openmpi-cuda-v3-xe9680-h200-nlp.yaml"
_NODE = (*REPLICATED, 0, "template", "spec", "template", "metadata", "annotations")
_KUEUE = "kueue.x-k8s.io/%s"
_JOB, _TEST = "samples/nlp/deepspeed.yaml", "samples/nlp/test-ranks.yaml"
_ZSH = "/bin/zsh"

DEFECTS = (
    Defect(placement.the_largest_job_fits_its_queue, QUEUE, (*RESOURCES, 3, "nominalQuota"), "63"),
    Defect(placement.the_largest_job_fits_its_queue, QUEUE, (*RESOURCES, 4)),
    Defect(placement.queues_cover_what_they_list, QUEUE, (*RESOURCES, 4)),
    Defect(placement.queues_cover_what_they_list, QUEUE, (*FLAVOR, "name"), "other"),
    Defect(
        placement.pods_attach_to_networks_of_their_namespace,
        NETWORK,
        ("metadata", "name"),
        "ib-rail-9",
    ),
    Defect(
        placement.pods_attach_to_networks_of_their_namespace,
        NETWORK,
        ("metadata", "annotations"),
        {},
    ),
    Defect(placement.pods_attach_to_networks_of_their_namespace, VLAN, (), cluster=LAB),
    Defect(
        placement.functions_exist_where_pods_run,
        "sriovnetworknodepolicy-xe9680-h200-rail-7.yaml",
        (),
        cluster=LAB,
    ),
    Defect(
        placement.pods_attach_to_networks_of_their_namespace,
        VLAN,
        ("spec", "networkNamespace"),
        "team-speech",
        LAB,
    ),
    Defect(
        placement.pods_attach_to_networks_of_their_namespace,
        "clustertrainingruntime-openmpi-cuda-v3-xe9680-h200-nlp.yaml",
        (*REPLICATED, 1, "template", "spec", "template", "metadata", "annotations"),
        {},
        LAB,
    ),
    Defect(placement.functions_exist_where_pods_run, PORT, ("spec", "resourceName"), "ib_rail_9"),
    Defect(
        placement.functions_exist_where_pods_run,
        PORT,
        ("spec", "nodeSelector"),
        {"other": "node"},
    ),
    Defect(placement.functions_exist_where_pods_run, PORT, ("spec", "isRdma"), False),
    Defect(
        placement.flavors_select_their_nodes,
        "resourceflavor-cpu-phi.yaml",
        ("spec", "tolerations"),
        [],
        LAB,
    ),
    Defect(
        placement.flavors_select_their_nodes,
        "resourceflavor-cpu-phi.yaml",
        ("spec", "nodeLabels"),
        {},
        LAB,
    ),
    Defect(
        placement.flavors_select_their_nodes,
        "resourceflavor-dgx-h100.yaml",
        ("spec", "topologyName"),
        "other",
    ),
    Defect(placement.flavors_select_their_nodes, "topology-ib.yaml", ("spec", "levels", 0)),
    Defect(
        placement.pods_are_grouped_by_topology,
        _GROUPED,
        (*_NODE, _KUEUE % "podset-group-name"),
        "other",
        LAB,
    ),
    Defect(
        placement.pods_are_grouped_by_topology,
        _GROUPED,
        (*_NODE, _KUEUE % "pod-index-offset"),
        "0",
        LAB,
    ),
    Defect(
        placement.pods_are_grouped_by_topology,
        _GROUPED,
        (*_NODE, _KUEUE % "podset-preferred-topology"),
        "rack",
        LAB,
    ),
    Defect(
        placement.pods_are_grouped_by_topology,
        RUNTIME,
        (*_NODE, _KUEUE % "podset-group-name"),
        "job",
    ),
    Defect(
        placement.pods_are_grouped_by_topology,
        "clustertrainingruntime-openmpi-one-v1-xe9680-h200-shared-2gpu-robotics.yaml",
        (*_NODE, _KUEUE % "podset-group-name"),
        "job",
        LAB,
    ),
    Defect(
        placement.jobs_without_a_label_have_a_queue,
        "teams/nlp/localqueue-default.yaml",
        ("spec", "clusterQueue"),
        "vision-gpu",
    ),
    Defect(placement.jobs_without_a_label_have_a_queue, "teams/nlp/localqueue-default.yaml", ()),
    Defect(
        placement.jobs_without_a_label_have_a_queue,
        "platform/configmap-trainjob-limits-nlp.yaml",
        ("data", "defaultQueue"),
        "",
    ),
    Defect(placement.sample_jobs_can_be_submitted, _JOB, ("spec", "trainer", "numNodes"), 1),
    Defect(
        placement.sample_jobs_can_be_submitted,
        _JOB,
        ("spec", "runtimeRef", "name"),
        "grpo-v2-dgx-h100",
    ),
    Defect(
        placement.sample_jobs_can_be_submitted,
        _JOB,
        ("metadata", "labels", _KUEUE % "queue-name"),
        "cpu",
    ),
    Defect(
        placement.sample_jobs_can_be_submitted,
        _JOB,
        ("spec", "trainer", "command"),
        ["/opt/trainyard/mpirun"],
    ),
    Defect(placement.sample_jobs_can_be_submitted, _TEST, ("spec", "trainer", "command"), [_ZSH]),
    Defect(
        placement.sample_jobs_can_be_submitted,
        _TEST,
        ("spec", "trainer", "args"),
        ["mpirun=/opt/trainyard/mpirun"],
    ),
    Defect(placement.sample_jobs_can_be_submitted, _TEST, ("metadata", "namespace"), "team-vision"),
)
