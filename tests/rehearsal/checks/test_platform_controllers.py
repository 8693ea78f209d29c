"""The table of controllers whose work the policies must not stop."""

from __future__ import annotations

import re
from itertools import chain

import pytest

from tests.rules.cases import platform_of
from trainyard.model.release import Release
from trainyard.profiles.read import releases
from trainyard_rehearsal.checks.platform_controllers import (
    PlatformController,
    platform_controllers,
)


def _release(name: str) -> Release:
    return platform_of({"clusters/prod-east.yaml": {"release": name}}).sites[0].cluster.release


ROWS = {
    each.controller: each
    for each in chain.from_iterable(platform_controllers(_release(name)) for name in releases())
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_row_has_a_source_and_an_account(row: PlatformController) -> None:
    """The source is a file of a repository; the account is one that the API server knows."""
    assert re.match(r"[\w-]+/[\w-]+:\S+\Z", row.source)
    assert re.match(r"system:(kube-scheduler|serviceaccount:[\w-]+:[\w-]+)\Z", row.account)
    assert row.requests


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_account_has_the_rights_for_its_requests(row: PlatformController) -> None:
    """Else RBAC would refuse them, and no policy be asked; Kubernetes' own accounts have theirs."""
    of_kubernetes = row.account.startswith(("system:kube-", "system:serviceaccount:kube-system:"))
    assert bool(row.rules) != of_kubernetes
    for request in row.requests if row.rules else ():
        body = request["object"]
        group = body["apiVersion"].rpartition("/")[0]
        plural = re.sub("y$", "ie", body["kind"].lower()) + "s"
        assert any(_permits(rule, group, plural, request["verb"]) for rule in row.rules), request


def _permits(rule: dict[str, list[str]], group: str, plural: str, verb: str) -> bool:
    wanted = {"apiGroups": group, "resources": plural, "verbs": verb}
    return all({value, "*"} & {*rule[field]} for field, value in wanted.items())


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_update_changes_what_is_there(row: PlatformController) -> None:
    """The claim and the objects of Kubernetes and of the tree are there; others are prepared."""
    there = {"admitted-namespaces", "default", "kube-root-ca.crt", "trainer", ""}
    there |= {body["metadata"]["name"] for body in row.existing}
    for request in row.requests:
        if request["verb"] != "create":
            assert (
                request["change"]
                or "as it is" in request["does"]
                or "as they are" in request["does"]
            )
            assert request["object"].get("metadata", {}).get("name", "") in there


def test_openshift_has_more_of_them() -> None:
    """Storage and Kubernetes are on both."""
    plain, openshift = (
        {each.controller for each in platform_controllers(_release(name))}
        for name in ("kubernetes-1.36", "openshift-ai-3.5")
    )
    assert "CSI snapshot controller of OpenShift" in openshift - plain
    assert plain < openshift
