"""What people may do now, and no role of a team permits."""

from __future__ import annotations

import pytest

from tests.adoption.own import ROOT, own_site
from tests.adoption.sites import Body, binding, body, flavor, local, node, queue
from tests.adoption.test_own_tree import read
from tests.adoption.test_properties import drafted
from trainyard.adoption.verbs import GIVEN, changes

ALL = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
STAYS = (
    "RoleBinding vision/edit-1 stays with the namespace, and permits it until somebody deletes it"
)


def rule(group: str, resources: list[str], verbs: list[str]) -> Body:
    """Return a rule of a role."""
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


def role(name: str, *rules: Body, namespace: str = "") -> Body:
    """Return a ClusterRole; with a namespace, a Role."""
    kind = "Role" if namespace else "ClusterRole"
    return body("rbac.authorization.k8s.io/v1", kind, name, namespace, rules=list(rules))


EDIT = role(
    "edit",
    rule("", ["configmaps", "secrets", "pods", "pods/exec", "pods/log", "events"], ALL),
    rule("batch", ["jobs"], ALL),
    rule("trainer.kubeflow.org", ["trainjobs"], ALL),
)


def lacks(*more: Body, namespace: str = "vision") -> dict[str, str]:
    """Return what is said of each subject of a team."""
    site = [
        node("n1", labels={"pool": "a"}),
        flavor("a", {"pool": "a"}),
        queue("vision", "", {"a": {"nvidia.com/gpu": "8"}}),
        local(namespace, "jobs", "vision"),
    ]
    remarks = drafted([*site, *more]).remarks
    return {each.part: each.text for each in remarks if " lacks: " in each.text}


@pytest.mark.parametrize("cluster", ["lab", "prod-east"])
@pytest.mark.parametrize("name", GIVEN)
def test_what_a_role_may_change_is_as_in_the_tree(cluster: str, name: str) -> None:
    file = ROOT / f"overlays/{cluster}/platform/clusterrole-trainyard-team-{name}.yaml"
    assert changes(name, read(file)["rules"]) == changes(name, GIVEN[name])


def test_verbs_beyond_the_role_are_listed_once_for_all_subjects_of_a_binding() -> None:
    """No verb of reading, but for Secrets; no subresource that matters to nobody."""
    bound = binding("vision", "edit", "Group:vision", "User:eve")
    found = lacks(EDIT, bound)
    assert found == {
        "Group vision, User eve in team vision": (
            "role user of the team lacks: read and write secrets; write jobs of batch; write "
            f"pods, pods/exec. {STAYS.replace('edit-1', 'edit-2')}"
        )
    }


def test_two_bindings_are_one_subject() -> None:
    """An admin of the tree deletes pods; both roles together are compared."""
    admin = role("admin", rule("", ["pods"], ["delete"]), rule("apps", ["deployments"], ["patch"]))
    bound = [binding("vision", name, "Group:vision") for name in ("edit", "admin")]
    (text,) = lacks(EDIT, admin, *bound).values()
    assert text.startswith("role admin and user of the team lacks: read and write secrets; ")
    assert "; create, patch, update pods; " in text
    assert "patch deployments of apps" in text
    assert "RoleBinding vision/admin-1, RoleBinding vision/edit-1 stays" in text


def test_role_that_is_not_in_the_dump_is_named() -> None:
    assert lacks(binding("vision", "edit", "Group:vision")) == {
        "Group vision in team vision": "role user of the team lacks: what ClusterRole edit "
        f"permits, which is not in the dump. {STAYS}"
    }


def test_role_of_the_namespace_has_all_that_it_permits() -> None:
    own = role("runner", rule("*", ["*"], ["*"]), namespace="vision")
    bound = binding("vision", "runner", "Group:vision", kind="Role")
    other = role("runner", rule("", ["services"], ["create"]), namespace="elsewhere")
    (text,) = lacks(own, other, bound).values()
    assert text.startswith("the team, without a role, lacks: read and write everything. ")


def test_binding_of_a_namespace_that_gets_another_name_does_not_stay() -> None:
    found = lacks(EDIT, binding("Vision_1", "edit", "Group:vision"), namespace="Vision_1")
    (text,) = found.values()
    assert text.endswith("RoleBinding Vision_1/edit-1 does not come along to the new namespace")


@pytest.mark.parametrize(
    "rules",
    [
        [rule("", ["pods", "secrets"], ["list", "watch"]), rule("apps", ["deployments"], ["get"])],
        [rule("trainer.kubeflow.org", ["trainjobs"], ALL), rule("", ["configmaps"], ALL)],
        [rule("apps", ["deployments/scale"], ALL), rule("", ["events", "pods/log"], ALL)],
        [rule("extensions", ["deployments"], ALL)],
        [],
    ],
    ids=["reads", "has them", "does not matter", "not served", "nothing"],
)
def test_who_loses_nothing_is_not_listed(rules: list[Body]) -> None:
    assert lacks(role("edit", *rules), binding("vision", "edit", "Group:vision")) == {}


def test_own_roles_lose_nothing() -> None:
    _, bodies = own_site("lab")
    said = [each for each in drafted(bodies).remarks if " lacks: " in each.text]
    assert [each for each in said if "role user of" in each.text] == []
