"""The rights of roles, and the page that documents them."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

from trainyard_rehearsal.checks.roles import rights, tried_rights

_PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "isolation.md"
_ROLES = (
    *("admin", "auditor", "catalog viewer", "clean-up", "debugger", "operator", "runtimes"),
    *("user", "viewer"),
)
_FOR_A_TIME = ("mpijob operator", "mpijob user", "mpijob viewer")


def test_isolation_page_lists_the_rights_of_every_role() -> None:
    rows = re.findall(
        r"^\| ([a-z, -]+) \| ([a-z, ]+) \| (`.*`) \|$",
        _PAGE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    listed = {
        cell
        for roles, verbs, names in rows
        for cell in product(roles.split(", "), verbs.split(", "), re.findall(r"`([^`]+)`", names))
    }
    every = (*_ROLES, *_FOR_A_TIME)
    assert listed == {
        (role, verb, f"{name}.{group}" if group == "metrics.k8s.io" else name)
        for role in every
        for verb, (group, name) in rights(role)
    }


def test_no_role_names_networks_where_there_is_no_fabric() -> None:
    """A cluster of CPU nodes has none of these kinds."""
    groups = {group for role in _ROLES for _, (group, _) in rights(role, fabrics=False)}

    assert {"trainer.kubeflow.org", "loki.grafana.com"} <= groups
    assert not groups & {"k8s.cni.cncf.io", "sriovnetwork.openshift.io"}


def test_no_role_names_the_log_store_where_none_is_stated() -> None:
    """Its group is asked about only by the log store of OpenShift."""
    groups = {group for role in _ROLES for _, (group, _) in rights(role, logs=False)}

    assert {"trainer.kubeflow.org", "k8s.cni.cncf.io"} <= groups
    assert "loki.grafana.com" not in groups


def test_no_role_names_the_metrics_of_pods_where_openshift_does_not_ask() -> None:
    """On OpenShift the roles of a team's members have them, and no other role."""
    having = {role for role in _ROLES if ("get", ("metrics.k8s.io", "pods")) in rights(role)}
    groups = {group for role in _ROLES for _, (group, _) in rights(role, metrics=False)}

    assert having == {"admin", "user", "viewer"}
    assert "metrics.k8s.io" not in groups
    assert {"loki.grafana.com", "k8s.cni.cncf.io"} <= groups


def test_every_right_of_a_role_is_tried() -> None:
    """Those of MPIJobs are tried on a cluster whose API server lists them."""
    assert not {each for role in _ROLES for each in rights(role)} - tried_rights()
