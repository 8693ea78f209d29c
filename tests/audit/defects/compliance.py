"""Defects that the audits of compliance must find."""

from __future__ import annotations

from tests.audit import compliance
from tests.audit.defects.defect import CONTAINER, FLAVOR, LAB, Defect

_RECORDS = "teams/medical/persistentvolumeclaim-records.yaml"
_FORWARDER = "operators/clusterlogforwarder-trainyard-teams.yaml"
_SCIENCE = "clusterqueue-science-cpu.yaml"
_MEDICAL = "clusterqueue-medical-cpu.yaml"

DEFECTS = (
    Defect(compliance.regulated_nodes_are_dedicated, _SCIENCE, (*FLAVOR, "name"), "cpu-phi", LAB),
    Defect(
        compliance.regulated_nodes_are_dedicated,
        _MEDICAL,
        ("spec", "cohortName"),
        "research",
        LAB,
    ),
    Defect(
        compliance.regulated_data_is_on_encrypted_storage,
        _RECORDS,
        ("spec", "storageClassName"),
        "lustre",
        LAB,
    ),
    Defect(
        compliance.regulated_namespaces_are_logged,
        "audit-policy.yaml",
        ("rules", 1, "namespaces"),
        ["team-speech"],
        LAB,
    ),
    Defect(
        compliance.requests_are_logged_at_their_level,
        "audit-policy.yaml",
        ("rules", 3),
        cluster=LAB,
    ),
    Defect(
        compliance.requests_are_logged_at_their_level,
        "audit-policy.yaml",
        ("rules", 6, "level"),
        "Metadata",
        LAB,
    ),
    Defect(
        compliance.requests_are_logged_at_their_level,
        "audit-policy.yaml",
        ("rules", 7, "userGroups"),
        cluster=LAB,
    ),
    Defect(
        compliance.forwarders_collect_the_teams_only,
        _FORWARDER,
        ("spec", "inputs", 0, "application", "includes", 0, "namespace"),
        "*",
    ),
    Defect(
        compliance.forwarders_collect_the_teams_only,
        _FORWARDER,
        ("spec", "collector", "tolerations", 0, "key"),
        "example.com/other",
    ),
    Defect(compliance.forwarders_collect_the_teams_only, _FORWARDER, ("spec", "filters"), []),
    Defect(
        compliance.regulated_nodes_are_in_fips_mode,
        "clustertrainingruntime-intel-mpi-v1-cpu-epyc-phi.yaml",
        (*CONTAINER, "env"),
        [],
        LAB,
    ),
    Defect(
        compliance.regulated_nodes_are_in_fips_mode,
        "clustertrainingruntime-intel-mpi-one-v1-cpu-epyc.yaml",
        (*CONTAINER, "command", 2),
        "/usr/sbin/sshd -De",
        LAB,
    ),
    Defect(compliance.evidence_is_there, "persistentvolumeclaim-records.yaml", (), cluster=LAB),
    Defect(compliance.regulated_namespaces_are_logged, "audit-policy.yaml", (), cluster=LAB),
)
