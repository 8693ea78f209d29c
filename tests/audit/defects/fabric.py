"""Defects that the audits of fabric must find."""

from __future__ import annotations

from tests.audit import fabric
from tests.audit.defects.defect import LAB, POOL, PORT, VLAN, Defect

DEFECTS = (
    Defect(fabric.operators_find_their_objects, POOL, ("metadata", "namespace"), "team-nlp", LAB),
    Defect(
        fabric.operators_find_their_objects,
        PORT,
        ("metadata", "namespace"),
        "nvidia-network-operator",
    ),
    Defect(
        fabric.rails_follow_the_hardware,
        PORT,
        ("spec", "nicSelector", "rootDevices"),
        ["0000:29:00.0"],
    ),
    Defect(fabric.rails_follow_the_hardware, PORT, ("spec", "linkType"), "eth"),
    Defect(fabric.rails_follow_the_hardware, PORT, ("spec", "numVfs"), 16),
    Defect(fabric.vlans_are_enforced, VLAN, ("spec", "spoofChk"), "off", LAB),
    Defect(fabric.vlans_are_enforced, VLAN, ("spec", "trust"), "on", LAB),
    Defect(fabric.vlans_are_enforced, VLAN, ("spec", "vlan"), 0, LAB),
    Defect(fabric.vlans_are_enforced, VLAN, ("spec", "metaPlugins"), None, LAB),
    Defect(fabric.vlans_are_enforced, VLAN, ("spec", "metaPlugins"), '{"type":"rdma"}', LAB),
    Defect(
        fabric.vlans_are_enforced,
        "sriovnetworkpoolconfig-dgx-h100.yaml",
        ("spec", "rdmaMode"),
        "shared",
    ),
    Defect(fabric.every_function_gets_an_address, POOL, ("spec", "perNodeBlockSize"), 7, LAB),
    Defect(fabric.every_function_gets_an_address, POOL, ("spec", "subnet"), "10.72.0.0/27", LAB),
    Defect(fabric.every_function_gets_an_address, POOL, ("metadata", "name"), "nlp-roce", LAB),
    Defect(fabric.every_function_gets_an_address, POOL, (), cluster=LAB),
)
