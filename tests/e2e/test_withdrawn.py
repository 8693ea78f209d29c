"""A role that a merge withdraws is gone, whatever a tenant writes."""

from __future__ import annotations

import pytest

from tests.e2e.git import delivered
from tests.e2e.setup import GITOPS
from tests.e2e.stage import Stage
from trainyard_rehearsal.checks import account_objects as objects
from trainyard_rehearsal.checks.variants import with_change

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [GITOPS], indirect=True, ids=[GITOPS.name]),
]

_RBAC = "rbac.authorization.k8s.io/v1"
_WITHOUT_VIEWERS = {"teams/nlp.yaml": {"groups": {"viewer": None}}}


def test_pod_that_names_a_role_as_its_owner_does_not_keep_it(stage: Stage) -> None:
    """In the foreground, Argo CD's default, the binding would stay until the pod has gone."""
    with delivered(stage) as git:
        place = (_RBAC, "RoleBinding", "team-nlp", "viewer")
        (space,) = next(each for each in git.site.tenants if each.name == "nlp").spaces
        uid = stage.api.get(_RBAC, "RoleBinding", "viewer", "team-nlp")["metadata"]["uid"]
        owner = objects.owners(_RBAC, "RoleBinding", name="viewer", uid=uid)
        owner["ownerReferences"][0] |= {"blockOwnerDeletion": True, "controller": False}
        held = {"metadata": {**owner, "finalizers": ["example.com/held"]}}
        pod = with_change(objects.pod(space, "holder"), held)
        stage.api.apply(pod)
        try:
            assert not git.delivery.wait_until_synced(git.commit(_WITHOUT_VIEWERS))
            assert stage.is_gone(*place)
        finally:
            stage.api.patch(pod, {"metadata": {"finalizers": None}})
            stage.delete("v1", "Pod", "team-nlp", "holder")
