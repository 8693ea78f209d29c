"""Defects that the audits of capacity must find."""

from __future__ import annotations

from tests.audit import capacity
from tests.audit.defects.defect import CONTAINER, LAB, QUEUE, RESOURCES, RUNTIME, Defect

DEFECTS = (
    Defect(capacity.quantities_are_canonical, QUEUE, (*RESOURCES, 0, "nominalQuota"), "1680000m"),
    Defect(capacity.quantities_are_canonical, QUEUE, (*RESOURCES, 0, "nominalQuota"), "1000"),
    Defect(capacity.quantities_are_canonical, QUEUE, (*RESOURCES, 0, "nominalQuota"), 8),
    Defect(capacity.quota_follows_the_profiles, QUEUE, (*RESOURCES, 0, "nominalQuota"), "1679"),
    Defect(capacity.quota_follows_the_profiles, QUEUE, (*RESOURCES, 4)),
    Defect(
        capacity.quota_follows_the_profiles,
        "clusterqueue-biology-cpu.yaml",
        (*RESOURCES, 3, "nominalQuota"),
        "77",
        LAB,
    ),
    Defect(capacity.quota_fits_the_nodes, QUEUE, (*RESOURCES, 3, "nominalQuota"), "65"),
    Defect(
        capacity.a_whole_node_pod_fits_a_node,
        RUNTIME,
        (*CONTAINER, "resources", "requests", "cpu"),
        "211",
    ),
    Defect(
        capacity.small_launchers_fit_beside_the_pods_of_every_runtime,
        RUNTIME,
        (*CONTAINER, "resources", "requests", "cpu"),
        "209",
    ),
    Defect(capacity.lending_and_borrowing_are_bounded, QUEUE, (*RESOURCES, 0, "borrowingLimit")),
    Defect(
        capacity.lending_and_borrowing_are_bounded, QUEUE, (*RESOURCES, 0, "lendingLimit"), "1681"
    ),
)
