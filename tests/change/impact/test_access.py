"""Who gains and loses what, from bindings, roles and namespaces."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.change.impact.platforms import LEDGER, NLP, sides, tree, two
from tests.rules.cases import changed
from trainyard.change.impact.access import (
    BoundRole,
    NamespaceChange,
    Rename,
    access_changes,
    namespace_changes,
    rename_changes,
    role_changes,
)
from trainyard.change.impact.remaining import on_cluster
from trainyard.change.objects import Sides

RBAC = "rbac.authorization.k8s.io"


def binding(role: str, namespace: str, *subjects: dict[str, str]) -> dict[str, Any]:
    metadata = {"name": role} | ({"namespace": namespace} if namespace else {})
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"kind": "ClusterRole", "name": role},
        "subjects": list(subjects),
    }


def group(name: str) -> dict[str, str]:
    return {"apiGroup": RBAC, "kind": "Group", "name": name}


def test_group_and_account_of_a_team() -> None:
    """Each subject has one line, with the role and where it counts."""
    after = {
        "groups": {"user": ["nlp", "guests"], "viewer": ["auditors"]},
        "serviceAccounts": {"ci-runner": {"role": "admin"}},
    }
    change = sides({}, {NLP: after})
    here = ("team-nlp",)
    catalog = BoundRole("trainyard-catalog-viewer", ())

    assert [(each.subject, each.gained, each.lost) for each in access_changes(change)] == [
        ("group auditors", (catalog, BoundRole("trainyard-team-viewer", here)), ()),
        ("group guests", (catalog, BoundRole("trainyard-team-user", here)), ()),
        ("group nlp-guests", (), (catalog, BoundRole("trainyard-team-viewer", here))),
        (
            "service account team-nlp/ci-runner",
            (BoundRole("trainyard-team-admin", here),),
            (BoundRole("trainyard-team-user", here),),
        ),
    ]
    assert role_changes(change) == ()
    assert namespace_changes(change) == ()


def test_namespace_that_is_added_has_its_team() -> None:
    """A further space is a namespace, and its groups have roles there."""
    change = sides({}, {NLP: {"spaces": {"interactive": {}}}})

    assert namespace_changes(change) == (
        NamespaceChange("team-nlp-interactive", "nlp", added=True),
    )
    (added, *_) = [each for each in access_changes(change) if each.subject == "group nlp"]
    assert added.gained == (BoundRole("trainyard-team-user", ("team-nlp-interactive",)),)
    back = replace(change, before=change.after, after=change.before)
    assert [each.added for each in namespace_changes(back)] == [False]


def test_role_in_many_namespaces_is_one_role() -> None:
    spaces = [f"team-{i}" for i in range(5)]
    after = tree(*(binding("view", space, group("staff")) for space in spaces))
    (change,) = access_changes(two({}, after))

    assert change.gained == (BoundRole("view", tuple(spaces)),)


def test_role_in_the_whole_cluster_is_not_one_in_a_namespace() -> None:
    """A binding that moves from a namespace to the cluster is a gain and a loss."""
    before = tree(binding("view", "team-x", group("staff")))
    after = tree(binding("view", "", group("staff")))
    (change,) = access_changes(two(before, after))

    assert change.gained == (BoundRole("view", ()),)
    assert change.lost == (BoundRole("view", ("team-x",)),)


SUBJECTS = st.sets(st.sampled_from(["a", "b", "c"]), max_size=3)


@given(SUBJECTS, SUBJECTS, st.booleans())
def test_gains_and_losses_turn_one_side_into_the_other(
    before: set[str], after: set[str], split: bool
) -> None:
    """Two bindings with the same role are as good as one with all subjects."""
    old = tree(binding("view", "team-x", *map(group, sorted(before))))
    first = binding("view", "team-x", *map(group, sorted(after)))
    second = {**first, "metadata": {"name": "again", "namespace": "team-x"}}
    changes = access_changes(two(old, tree(first, second) if split else tree(first)))

    assert {each.subject for each in changes if each.gained} == {
        f"group {name}" for name in after - before
    }
    assert {each.subject for each in changes if each.lost} == {
        f"group {name}" for name in before - after
    }


def test_role_that_permits_more_names_those_who_have_it() -> None:
    """Whoever gets the role in the same change has it as a gain of its own."""

    def role(*verbs: str) -> dict[str, Any]:
        rule = {"apiGroups": [""], "resources": ["pods"], "verbs": list(verbs)}
        return {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "view"},
            "rules": [rule],
        }

    before = tree(role("get", "watch"), binding("view", "team-x", group("a")))
    after = tree(role("get", "delete"), binding("view", "team-x", group("a"), group("b")))
    (change,) = role_changes(two(before, after))

    assert (change.role, change.subjects) == ("view", ("group a",))
    assert (change.gained, change.lost) == (("delete pods",), ("watch pods",))


def test_objects_of_the_wrong_shape_hold_nothing() -> None:
    """A committed file may have been edited by hand."""
    broken = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "x", "namespace": "team-x"},
        "roleRef": "admin",
        "subjects": ["a", None],
    }

    assert access_changes(two(tree(broken), {})) == ()


def test_roles_that_are_left_behind_are_not_lost() -> None:
    """A retired team keeps its namespace until somebody deletes its Application."""
    change = on_cluster(sides({}, {NLP: {"state": "retired"}}))

    assert namespace_changes(change) == ()
    assert {role.role for each in access_changes(change) for role in each.lost} == {
        "trainyard-catalog-viewer"
    }


def renamed(groups: dict[str, Any]) -> Sides:
    """Return the change that renames nlp to language, with other groups."""
    plain: dict[str, Any] = {"storage": {}}
    team = changed({NLP: plain}).teams["nlp"].value
    new = {**team, "renamedFrom": "nlp", "folder": "nlp", "groups": groups}
    line = changed({}).allocations.value["prod-east"]["ib"]["nlp"]
    ledger = {"prod-east": {"ib": {"nlp": None, "language": line}}}
    change = sides({NLP: plain}, {NLP: None, "teams/language.yaml": new, LEDGER: ledger})
    return on_cluster(replace(change, renamed={"nlp": "language"}))


def test_rename_shows_only_groups_that_are_new_or_gone() -> None:
    """Roles are compared under the new name; the old namespace with its roles is left behind."""
    change = renamed({"admin": ["nlp-leads"], "user": ["nlp", "evil"]})
    catalog, here = BoundRole("trainyard-catalog-viewer", ()), ("team-language",)

    assert [(each.subject, each.gained, each.lost) for each in access_changes(change)] == [
        ("group evil", (catalog, BoundRole("trainyard-team-user", here)), ()),
        ("group nlp-guests", (), (catalog, BoundRole("trainyard-team-viewer", here))),
    ]
    kept = ("group nlp", "group nlp-leads", "service account team-language/ci-runner")
    assert rename_changes(change) == (Rename("nlp", "language", "nlp", kept),)


def test_rename_changes_no_name_of_a_group_or_user() -> None:
    """They may have the form of an account: Keycloak's groups are paths, and others have spaces."""
    people = {"viewer": ["team-nlp/guests", "ML team-nlp/guests"], "user": ["User:team-nlp/alice"]}
    change = renamed(people)
    gained = {each.subject for each in access_changes(change) if each.gained}

    assert gained == {
        "group ML team-nlp/guests",
        "group team-nlp/guests",
        "user team-nlp/alice",
    }


def test_rename_alone_changes_no_access() -> None:
    same = renamed(changed({}).teams["nlp"].value["groups"])

    assert access_changes(same) == ()
    assert rename_changes(replace(same, renamed={})) == ()
